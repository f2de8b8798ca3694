#include <stdint.h>
#include <stdio.h>
#define ROTR(x, n) (((x) >> (n)) | ((x) << (32 - (n))))
#define CH(x, y, z) (((x) & (y)) ^ (~(x) & (z)))
static const uint32_t k[] = { 0x428a2f98, 0x71374491 };
int main(void) { uint32_t h = 0x6a09e667, x = 1; for (int i = 0; i < 2; i++) h = ROTR(h, 6) + CH(h, x, k[i]); printf("%08x\n", h); const unsigned char pad[] = { 0x80, 0, 0, 0 }; return pad[1]; }
