#include <stdlib.h>
int main(void) { { int system = 1; (void)system; } system("id"); return 0; }
// expect 2 c.process
// expect 2 sh.command
