#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>
static const char *p; static double expr(void);
static double atom(void) { while (isspace((unsigned char)*p)) p++; if (*p == '(') { p++; double v = expr(); p++; return v; } char *e; double v = strtod(p, &e); p = e; return v; }
static double term(void) { double v = atom(); while (*p == '*' || *p == '/') v = *p++ == '*' ? v * atom() : v / atom(); return v; }
static double expr(void) { double v = term(); while (*p == '+' || *p == '-') v = *p++ == '+' ? v + term() : v - term(); return v; }
int main(void) { p = "2*(3+4)"; printf("%g\n", expr()); }
