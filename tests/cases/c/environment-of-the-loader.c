#include <stdlib.h>
int main(void) { setenv("LD_PRELOAD", "./x.so", 1); return 0; }
// expect 2 any.steer
// expect 2 any.loader
