#include <sys/mount.h>
int main(void) { mount("a", "b", "c", 0, 0); return 0; }
// expect 1 c.process
// expect 2 c.process
