#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) { int c; while ((c = getopt(argc, argv, "ab:")) != -1) switch (c) { case 'a': puts("a"); break; case 'b': puts(optarg); break; default: return 2; } for (; optind < argc; optind++) puts(argv[optind]); }
