#include <stdlib.h>
struct s { int system; };
int main(void) { struct s s = { .system = 1 }; system("id"); (void)s; return 0; }
// expect 3 c.process
// expect 3 sh.command
