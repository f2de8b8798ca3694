#include <stdio.h>
int main(void) { fopen("\x2f\165sr/x", "w"); return 0; }
// expect 2 c.open-outside
