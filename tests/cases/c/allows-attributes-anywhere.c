#include <stdio.h>
static char * __attribute__((format(printf, 1, 2)))
show(const char *format, ...);
struct __attribute__((__packed__, aligned(8))) point { int x, y; } __attribute__((unused));
static int add(int a __attribute__((unused)), int b) __attribute__ ((pure, nonnull));
int *__attribute__((may_alias)) p;
int main(void)
{
    switch (add(1, 2)) {
    case 1: __attribute__((fallthrough));
    default: printf("%d\n", 3);
    }
    return 0;
}
