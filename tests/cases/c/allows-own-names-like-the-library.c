#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct child { int pid, kill; };
static int fork_count(int fork) { return fork + 1; }
static int kill(struct child *c) { return c->kill = 1; }
int main(void) { int system = fork_count(1), bind = 2, listen = 3; struct child c = { .kill = 0 }; printf("%d %d\n", system + bind + listen, kill(&c)); }
