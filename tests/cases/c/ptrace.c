#include <sys/ptrace.h>
int main(void) { ptrace(PTRACE_TRACEME, 0, 0, 0); return 0; }
// expect 1 c.process
// expect 2 c.native
