/* Warnings that a macro turns off around a definition, and hints about loops. */
#include <stdio.h>
#define QUIET(definition) \
    _Pragma("GCC diagnostic push") \
    _Pragma("GCC diagnostic ignored \"-Wunused-function\"") \
    definition \
    _Pragma("GCC diagnostic pop")
QUIET(static void unused(void) {})
int main(void)
{
    int sum = 0;
    _Pragma("GCC unroll 4")
    for (int i = 0; i < 8; i++) sum += i;
    _Pragma("message(\"no fork here\")")
    printf("%d\n", sum);
    return 0;
}
