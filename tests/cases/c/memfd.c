#define _GNU_SOURCE
#include <sys/mman.h>
int main(void) { memfd_create("x", 0); return 0; }
// expect 3 c.native
