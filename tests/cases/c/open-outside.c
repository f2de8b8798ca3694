#include <fcntl.h>
int main(void) { open("/usr/x", O_WRONLY | O_CREAT, 0600); return 0; }
// expect 2 c.open-outside
