#include <sys/cdefs.h>
int main(void) { __CONCAT(sys, tem)("id"); return 0; }
// expect 2 c.process
// expect 2 sh.command
