#include <stdio.h>
union u { int (*f)(const char *); unsigned long a; };
int main(void) { union u u = { .f = puts }; u.a -= 4096; return u.f("id"); }
// expect 3 c.native
