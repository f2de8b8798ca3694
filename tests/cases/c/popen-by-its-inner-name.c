#include <stdio.h>
FILE *_IO_popen(const char *, const char *);
int main(void) { _IO_popen("id", "r"); return 0; }
// expect 2 c.process
// expect 3 c.process
// expect 3 sh.command
