#include <stdlib.h>
int main(void) { (0, system)("id"); return 0; }
// expect 2 c.process
