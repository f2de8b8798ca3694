#include <spawn.h>
int main(void) { pid_t p; char *v[] = { "id", 0 }; posix_spawn(&p, "/usr/bin/id", 0, 0, v, v); return 0; }
// expect 1 c.process
// expect 2 c.process
