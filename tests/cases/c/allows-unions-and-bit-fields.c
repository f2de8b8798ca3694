#include <stdint.h>
#include <stdio.h>
union u { float f; uint32_t i; struct { uint32_t m : 23, e : 8, s : 1; }; };
int main(void) { union u u = { .f = 1.5f }; printf("%u %u %x\n", u.s, u.e, u.i); }
