#include <stdio.h>
static void mul(int n, const double a[n][n], const double b[n][n], double c[n][n]) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { c[i][j] = 0; for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j]; } }
int main(void) { double a[2][2] = { { 1, 2 }, { 3, 4 } }, b[2][2] = { { 1, 0 }, { [1] = 1 } }, c[2][2]; mul(2, a, b, c); printf("%g\n", c[1][0]); }
