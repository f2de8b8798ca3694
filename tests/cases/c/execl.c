#include <unistd.h>
int main(void) { execl("/bin/sh", "sh", "-c", "id", (char *)0); return 0; }
// expect 2 c.process
// expect 2 sh.command
