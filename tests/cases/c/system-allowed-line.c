#include <stdlib.h>
int main(void) { system("ls"); return 0; }
// expect 2 c.process
