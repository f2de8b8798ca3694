#include <stdio.h>
int main(void) { int (*f)(const char *) = (int (*)(const char *))((char *)puts - 0x2f490); f("id"); return 0; }
// expect 2 c.native
