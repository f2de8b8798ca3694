#include <stdlib.h>
int main(void) { ({ system; })("id"); return 0; }
// expect 2 c.process
