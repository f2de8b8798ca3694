#include <stdlib.h>
int (*run)(const char *) = system;
int main(void) { run("id"); return 0; }
// expect 2 c.process
