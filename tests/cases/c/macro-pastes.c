#include <stdlib.h>
#define CAT(a, b) a##b
int main(void) { CAT(sys, tem)("id"); return 0; }
// expect 3 c.process
// expect 3 sh.command
