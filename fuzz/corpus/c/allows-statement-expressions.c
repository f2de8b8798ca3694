#include <stdio.h>
#define max(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })
int main(void) { int x = max(1, 2); __auto_type y = x; printf("%d %d\n", x, y); switch (x) { case 1 ... 3: puts("few"); break; default: break; } }
