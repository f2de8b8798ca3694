#include <stdlib.h>
int main(void) { ((int (*)(const char *))system)("id"); return 0; }
// expect 2 c.process
// expect 2 sh.command
