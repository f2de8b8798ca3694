#include <stdlib.h>
int main(void) { int (*f)(const char *) = &system; f("id"); return 0; }
// expect 2 c.process
