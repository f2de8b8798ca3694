#include <stdio.h>
#define BEGIN {
#define END }
#define unless(x) if (!(x))
#define forever for (;;)
int main(void) BEGIN int n = 0; forever { unless (n < 3) break; printf("%d\n", n++); } return 0; END
