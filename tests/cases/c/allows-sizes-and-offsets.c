#include <stddef.h>
#include <stdio.h>
struct s { char a; double b; };
int main(void) { printf("%zu %zu %zu\n", sizeof(struct s), offsetof(struct s, b), _Alignof(double)); printf("%p %p\n", (void *)main, (void *)&printf); }
