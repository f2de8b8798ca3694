#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) { for (int i = 1; i < argc; i++) { FILE *f = fopen(argv[i], "rb"); if (!f) { fprintf(stderr, "%s: no\n", argv[i]); continue; } int c; long n = 0; while ((c = getc(f)) != EOF) n += c == '\n'; printf("%ld %s\n", n, argv[i]); fclose(f); } }
