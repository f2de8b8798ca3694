#include <stdio.h>
#ifdef DEBUG
#define LOG(...) fprintf(stderr, __VA_ARGS__)
#else
#define LOG(...)
#endif
#pragma once
#pragma pack(push, 1)
struct s { char a; int b; };
#pragma pack(pop)
struct op { const char *name; int (*run)(int, int); };
static int add(int a, int b) { return a + b; }
static const struct op ops[] = { { "add", add } };
union value { long number; const char *text; void *pointer; };
int main(void) { LOG("x"); return ops[0].run(1, 2) + (int)sizeof(struct s); }
