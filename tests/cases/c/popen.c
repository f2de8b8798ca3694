#include <stdio.h>
int main(void) { FILE *f = popen("id", "r"); pclose(f); return 0; }
// expect 2 c.process
// expect 2 sh.command
