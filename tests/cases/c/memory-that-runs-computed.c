#include <sys/mman.h>
int main(int n, char **v) { (void)v; mmap(0, 4096, n | 4, 34, -1, 0); }
// expect 2 c.native
