#include <stdlib.h>
struct ops { int (*run)(const char *); } ops = { .run = system };
int main(void) { ops.run("id"); return 0; }
// expect 2 c.process
