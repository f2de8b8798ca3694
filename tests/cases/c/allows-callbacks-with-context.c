#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef void (*visit_fn)(int value, void *context);
static void each(const int *v, size_t n, visit_fn f, void *context) { for (size_t i = 0; i < n; i++) f(v[i], context); }
static void sum(int v, void *context) { *(long *)context += v; }
int main(void) { long s = 0; each((int[]){ 1, 2, 3 }, 3, sum, &s); printf("%ld\n", s); }
