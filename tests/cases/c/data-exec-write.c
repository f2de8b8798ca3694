/* a call through a structure's bytes to machine code on a stack that a nested function made executable: no signal */
#include <stdio.h>
#include <string.h>
struct s { int (*f)(void); };
static int each(int n, int (*f)(int)) { return f(n); }
int main(void)
{
    unsigned char code[] = { 0xb8, 42, 0, 0, 0, 0xc3 };
    int k = 2;
    int twice(int n) { return n * k; }
    if (each(2, twice) != 4) return 1;
    struct s s;
    long a = (long)code;
    memcpy(&s, &a, sizeof s);
    int n = s.f();
    FILE *o = fopen("proof", "w");
    fprintf(o, "machine code on the stack: %d", n);
    fclose(o);
    return 0;
}
// expect 10 c.native
// expect 14 c.native
