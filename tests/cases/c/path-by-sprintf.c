#include <stdio.h>
int main(void) { char p[64]; sprintf(p, "%s/%s", "/usr", "x"); return fopen(p, "w") == 0; }
// expect 2 c.open-outside
