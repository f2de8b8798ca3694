#include <stdio.h>
#ifndef EOF
int system(const char *s) { return *s; }
#endif
int system(const char *);
int main(void) { system("id"); return 0; }
// expect 3 c.process
// expect 5 c.process
// expect 6 c.process
// expect 6 sh.command
