#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) { for (int i = 0; i < argc; i++) printf("%d %s\n", i, argv[i]); return EXIT_SUCCESS; }
