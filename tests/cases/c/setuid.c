#include <unistd.h>
int main(void) { setuid(0); return 0; }
// expect 2 c.process
