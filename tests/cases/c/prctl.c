#include <sys/prctl.h>
int main(void) { prctl(15, "x"); return 0; }
// expect 1 c.process
// expect 2 c.process
