#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
int main(void) { uint64_t x = UINT64_C(1) << 40; bool b = x > INT_MAX; printf("%" PRIu64 " %d %#" PRIx32 "\n", x, b, (uint32_t)x); }
