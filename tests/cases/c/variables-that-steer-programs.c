#include <stdlib.h>
int main(void) { return setenv("PATH", "./bin", 1); }
// expect 2 any.steer
