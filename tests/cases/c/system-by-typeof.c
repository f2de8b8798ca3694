#include <stdlib.h>
__typeof__(system) *f = system;
int main(void) { f("id"); return 0; }
// expect 2 c.process
