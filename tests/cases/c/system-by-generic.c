#include <stdlib.h>
int main(void) { _Generic(1, int: system)("id"); return 0; }
// expect 2 c.process
