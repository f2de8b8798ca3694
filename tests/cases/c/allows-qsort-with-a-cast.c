#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) { const char *v[] = { "b", "a" }; qsort(v, 2, sizeof *v, (int (*)(const void *, const void *))strcmp); puts(v[0]); }
