#include <stdlib.h>
void f(void) { int (*system)(void) = 0; (void)system; }
int main(void) { system("id"); return 0; }
// expect 3 c.process
// expect 3 sh.command
