#include <math.h>
#include <stdio.h>
int main(void) { for (int d = 0; d <= 90; d += 30) printf("%d %.3f %.3f\n", d, sin(d * M_PI / 180), pow(d, 1.0 / 3)); printf("%f %f\n", NAN, INFINITY); }
