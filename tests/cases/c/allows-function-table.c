#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double add(double a, double b) { return a + b; }
static double sub(double a, double b) { return a - b; }
static const struct { char op; double (*f)(double, double); } ops[] = { { '+', add }, { '-', sub } };
int main(void) { for (size_t i = 0; i < 2; i++) printf("%c %g\n", ops[i].op, ops[i].f(3, 4)); }
