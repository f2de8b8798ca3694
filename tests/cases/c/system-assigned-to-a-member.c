#include <stdlib.h>
struct ops { int (*run)(const char *); };
int main(void) { struct ops o; o.run = system; o.run("id"); return 0; }
// expect 3 c.process
