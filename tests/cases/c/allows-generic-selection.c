#include <stdio.h>
#define NAME(x) _Generic((x), int: "int", double: "double", char *: "text", default: "other")
_Static_assert(sizeof(int) == 4, "int");
int main(void) { puts(NAME(1)); puts(NAME(1.0)); puts(NAME((char *)0)); }
