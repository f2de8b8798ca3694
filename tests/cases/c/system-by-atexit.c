#include <stdlib.h>
int main(void) { atexit((void (*)(void))system); return 0; }
// expect 2 c.process
