#include <signal.h>
int main(void) { kill(1, SIGKILL); return 0; }
// expect 2 c.process
