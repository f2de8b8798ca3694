#include <stdlib.h>
int main(void) { char *v[2] = { "id", "x" }; qsort(v, 2, 8, (int (*)(const void *, const void *))system); return 0; }
// expect 2 c.process
