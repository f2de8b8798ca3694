#include <stdio.h>
char p[] = { 47, 'u', 's', 'r', '/', 0x78, 0 };
int main(void) { fopen(p, "w"); return 0; }
// expect 3 c.open-outside
