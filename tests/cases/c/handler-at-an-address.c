#include <signal.h>
int main(void) { void *p = (void *)0x401000; signal(SIGUSR1, p); raise(SIGUSR1); return 0; }
// expect 2 c.native
