#include <fcntl.h>
int main(void) { open("/proc/self/mem", O_RDWR); return 0; }
// expect 2 any.credentials
// expect 2 c.open-outside
