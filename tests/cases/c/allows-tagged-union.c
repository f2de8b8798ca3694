#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct value { enum { INT, TEXT, CALL } kind; union { long i; const char *s; void (*f)(void); } as; };
static void hi(void) { puts("hi"); }
int main(void) { struct value v[] = { { INT, { .i = 1 } }, { TEXT, { .s = "x" } }, { CALL, { .f = hi } } }; for (int i = 0; i < 3; i++) switch (v[i].kind) { case INT: printf("%ld\n", v[i].as.i); break; case TEXT: puts(v[i].as.s); break; case CALL: v[i].as.f(); } }
