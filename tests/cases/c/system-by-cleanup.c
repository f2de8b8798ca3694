#include <stdlib.h>
int main(void) { __attribute__((cleanup(system))) char c[] = "id"; return 0; }
// expect 2 c.process
