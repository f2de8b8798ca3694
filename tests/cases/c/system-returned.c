#include <stdlib.h>
int (*get(void))(const char *) { return system; }
int main(void) { get()("id"); return 0; }
// expect 2 c.process
