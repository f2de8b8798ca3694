#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int cmp(const void *a, const void *b) { int x = *(const int *)a, y = *(const int *)b; return (x > y) - (x < y); }
int main(void) { int v[] = { 3, 1, 2 }; qsort(v, 3, sizeof(int), cmp); int k = 2, *p = bsearch(&k, v, 3, sizeof(int), cmp); printf("%d\n", *p); }
