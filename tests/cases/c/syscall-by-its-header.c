#include <sys/syscall.h>
int main(void) {  return 0; }
// expect 1 c.native
