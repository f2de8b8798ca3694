#include <sys/mman.h>
char b[4096];
int main(void) { int p = 7; mprotect(b, 4096, p); return 0; }
// expect 3 c.native
