#include <stdlib.h>
int main(void) { void *p = (void *)system; ((int (*)(const char *))p)("id"); return 0; }
// expect 2 c.process
// expect 2 c.native
