#define _LARGEFILE64_SOURCE
#include <fcntl.h>
int main(void) { open64("/usr/x", O_RDWR); return 0; }
// expect 3 c.open-outside
