#include <stdint.h>
#include <stdio.h>
int main(void) { int v[4] = { 0 }; uintptr_t a = (uintptr_t)v; printf("%d\n", (int)(a % 4)); char *p = (char *)v + 4; *(int *)(void *)p = 7; printf("%d\n", v[1]); void *none = (void *)-1; return none == NULL; }
