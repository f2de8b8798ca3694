#include <sys/mman.h>
int main(void) { mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); return 0; }
// expect 2 c.native
