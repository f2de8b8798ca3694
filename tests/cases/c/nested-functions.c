#include <stdio.h>
static int each(int n, int (*f)(int)) { return f(n); }
int main(void)
{
    int k = 2;
    int twice(int n) { return n * k; }
    for (int i = 0; i < 1; i++) {
        auto int inner(int n);
        int inner(int n) { return n + i; }
        printf("%d\n", each(2, inner));
    }
    return each(2, twice);
}
// expect 6 c.native
// expect 9 c.native
