#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
int main(void) { char *l = NULL; size_t n = 0; ssize_t r; while ((r = getline(&l, &n, stdin)) > 0) fwrite(l, 1, (size_t)r, stdout); free(l); }
