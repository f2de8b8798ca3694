#include <stdio.h>
add(a, b)
int a, b;
{
    return a + b;
}
static half(n) int n; { return n / 2; }
greet() { printf("x\n"); }
main(argc, argv)
int argc;
char **argv;
{
    greet();
    printf("%d %d %s\n", add(1, 2), half(4), argv[0]);
    return 0;
}
