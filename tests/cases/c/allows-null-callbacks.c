#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef int (*hook)(int);
static int id(int x) { return x; }
int main(int argc, char **argv) { (void)argv; hook h = argc > 1 ? id : NULL, g = (hook)0; hook list[3] = { id, NULL, g }; int n = 0; for (hook *p = list; *p; p++) n += (*p)(1); return h && h(1) ? n : 0; }
