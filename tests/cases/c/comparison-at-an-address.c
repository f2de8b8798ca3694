#include <stdlib.h>
int main(int c, char **v) { qsort(v, c, 8, (void *)0x401000); return 0; }
// expect 2 c.native
