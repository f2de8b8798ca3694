#include <stdlib.h>
int call(int (*f)(const char *), const char *s) { return f(s); }
int main(void) { call(system, "id"); return 0; }
// expect 3 c.process
