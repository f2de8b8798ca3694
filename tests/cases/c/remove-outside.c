#include <stdio.h>
int main(void) { remove("/usr/lib/x"); rename("/usr/a", "b"); return 0; }
// expect 2 c.open-outside
