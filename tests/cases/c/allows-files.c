#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) { FILE *f = fopen("out.txt", "w"); if (!f) { perror("out.txt"); return 1; } fprintf(f, "%d\n", 42); fclose(f); f = fopen("out.txt", "r"); char l[99]; while (fgets(l, sizeof l, f)) fputs(l, stdout); fclose(f); remove("out.txt"); }
