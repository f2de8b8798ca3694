#include <stdint.h>
#include <stdio.h>
int main(void) { uint32_t d[64] = { 1 }; int n = 1; for (uint32_t f = 2; f <= 50; f++) { uint64_t c = 0; for (int i = 0; i < n; i++) { c += (uint64_t)d[i] * f; d[i] = (uint32_t)(c % 1000000000u); c /= 1000000000u; } if (c) d[n++] = (uint32_t)c; } printf("%u", d[n - 1]); while (--n > 0) printf("%09u", d[n - 1]); puts(""); unsigned __int128 w = 1; return (int)(w >> 1); }
