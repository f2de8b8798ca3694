#include <stdlib.h>
int f(int (*system)(const char *));
int main(void) { system("id"); return 0; }
// expect 3 c.process
// expect 3 sh.command
