#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) { FILE *f = fopen("/usr/share/dict/words", "r"); char w[99]; if (f && fgets(w, 99, f)) puts(w); return f ? fclose(f) : 0; }
