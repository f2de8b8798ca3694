#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) { enum { N = 100 }; char *c = calloc(N + 1, 1); for (int i = 2; i * i <= N; i++) if (!c[i]) for (int j = i * i; j <= N; j += i) c[j] = 1; for (int i = 2; i <= N; i++) if (!c[i]) printf("%d ", i); free(c); }
