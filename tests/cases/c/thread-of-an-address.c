#include <threads.h>
int main(void) { thrd_t t; void *p = (void *)0x401000; return thrd_create(&t, p, 0); }
// expect 2 c.native
