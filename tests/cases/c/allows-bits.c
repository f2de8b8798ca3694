#include <stdint.h>
#include <stdio.h>
static unsigned popcount(uint32_t x) { unsigned n = 0; for (; x; x &= x - 1) n++; return n; }
int main(void) { printf("%u %d %d\n", popcount(0xF0F0u), __builtin_popcount(255), __builtin_clz(1)); }
