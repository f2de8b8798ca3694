#include <stdlib.h>
int main(void) { ((int (*[])(const char *)){ system })[0]("id"); return 0; }
// expect 2 c.process
