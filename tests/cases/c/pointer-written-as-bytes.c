#include <string.h>
int main(void) { void (*f)(void); long a = 0x401000; memcpy(&f, &a, sizeof f); f(); return 0; }
// expect 2 c.native
