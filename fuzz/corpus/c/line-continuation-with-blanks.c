#include <stdlib.h>
int main(void) { sys\  
tem("id"); }
// expect 2 c.process
// expect 2 sh.command
