#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
int main(void) { assert(1 + 1 == 2); FILE *f = fopen("none", "r"); if (!f) fprintf(stderr, "%s\n", strerror(errno)); return errno == ENOENT ? 0 : 1; }
