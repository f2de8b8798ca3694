#include <unistd.h>
int main(void) { syscall(57); return 0; }
// expect 2 c.native
