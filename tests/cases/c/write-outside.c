#include <stdio.h>
int main(void) { FILE *f = fopen("/usr/lib/x", "w"); (void)f; return 0; }
// expect 2 c.open-outside
