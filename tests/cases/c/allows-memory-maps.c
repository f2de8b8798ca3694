#include <stdio.h>
#include <sys/mman.h>
int main(void) { char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); if (p == MAP_FAILED) return 1; p[0] = 'x'; mprotect(p, 4096, PROT_READ); putchar(p[0]); return munmap(p, 4096); }
