#include <stdlib.h>
int (*table[])(const char *) = { 0, system };
int main(void) { table[1]("id"); return 0; }
// expect 2 c.process
