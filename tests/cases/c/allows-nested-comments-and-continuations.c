#include <stdio.h>
#define LONG(a, \
             b) \
    ((a) + \
     (b))
int main(void) { /* one // two */ printf("%d\n", LONG(1, 2)); // three \
 still a comment
return 0; }
