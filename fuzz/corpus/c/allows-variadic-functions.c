#include <stdarg.h>
#include <stdio.h>
static int sum(int n, ...) { va_list a; int s = 0; va_start(a, n); while (n--) s += va_arg(a, int); va_end(a); return s; }
static void say(const char *f, ...) { va_list a; va_start(a, f); vprintf(f, a); va_end(a); }
int main(void) { say("%d %s\n", sum(3, 1, 2, 3), "x"); va_list *p = 0; (void)p; }
