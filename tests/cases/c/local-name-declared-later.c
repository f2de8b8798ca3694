#include <stdlib.h>
int main(void) { system("id"); int system = 1; (void)system; return 0; }
// expect 2 c.process
// expect 2 sh.command
