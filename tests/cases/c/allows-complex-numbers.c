#include <complex.h>
#include <stdio.h>
int main(void) { double complex z = 1 + 2 * I; double complex *p = &z; printf("%f %f\n", creal(*p), cimag(cexp(z))); }
