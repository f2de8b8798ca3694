#define _GNU_SOURCE
#include <sched.h>
int f(void *p) { return p != 0; }
char stack[9999];
int main(void) { clone(f, stack + 9000, 0, 0); return 0; }
// expect 5 c.process
