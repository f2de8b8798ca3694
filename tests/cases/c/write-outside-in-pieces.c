#include <stdio.h>
const char *p = "/usr" "/lib/" "x";
int main(void) { fopen(p, "a"); return 0; }
// expect 3 c.open-outside
