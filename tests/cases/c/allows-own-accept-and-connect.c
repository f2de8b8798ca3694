#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int accept(const char *s) { return *s == 'a'; }
static void connect(int a, int b) { printf("%d-%d\n", a, b); }
int main(void) { if (accept("abc")) connect(1, 2); }
