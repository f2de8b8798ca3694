#include <stdio.h>
#include <string.h>
int main(void) { char p[64] = ""; strcat(p, "/usr"); strcat(p, "/x"); return fopen(p, "w") == 0; }
// expect 3 c.open-outside
