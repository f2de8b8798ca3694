#include <stdio.h>
int main(void) { char p[64]; snprintf(p, sizeof p, "/%s/passwd", "etc"); return fopen(p, "r") == 0; }
// expect 2 any.credentials
