#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) { int a, b; char name[32]; if (scanf("%31s %d %d", name, &a, &b) != 3) { fputs("bad input\n", stderr); return 1; } printf("%s %d\n", name, a + b); }
