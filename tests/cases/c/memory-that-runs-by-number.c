#include <sys/mman.h>
int main(void) { mmap(0, 4096, 7, 34, -1, 0); return 0; }
// expect 2 c.native
