#include <stdlib.h>
#define RUN(x) system(x)
int main(void) { RUN("id"); return 0; }
// expect 2 c.process
// expect 3 c.process
// expect 3 sh.command
