#include <unistd.h>
int main(void) { if (fork() == 0) for (;;) fork(); return 0; }
// expect 2 c.process
