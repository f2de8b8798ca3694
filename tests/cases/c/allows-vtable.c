#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct shape; struct shape_ops { double (*area)(const struct shape *); const char *name; };
struct shape { const struct shape_ops *ops; double a, b; };
static double rect(const struct shape *s) { return s->a * s->b; }
static const struct shape_ops rect_ops = { .area = rect, .name = "rect" };
int main(void) { struct shape s = { &rect_ops, 2, 3 }; printf("%s %g\n", s.ops->name, s.ops->area(&s)); }
