#include <stdio.h>
#define ROOT "/usr"
int main(void) { fopen(ROOT "/x", "w+"); return 0; }
// expect 3 c.open-outside
