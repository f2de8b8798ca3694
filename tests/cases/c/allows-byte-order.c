#include <arpa/inet.h>
#include <endian.h>
#include <stdint.h>
#include <stdio.h>
int main(void) { uint32_t x = htonl(1); printf("%u %u\n", x, (unsigned)le32toh(x)); }
