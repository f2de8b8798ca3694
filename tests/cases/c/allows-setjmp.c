#include <setjmp.h>
#include <stdio.h>
static jmp_buf here;
static void fail(void) { longjmp(here, 3); }
int main(void) { int c = setjmp(here); if (c == 0) fail(); printf("%d\n", c); }
