#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef DEBUG
#define TRACE(...) fprintf(stderr, __VA_ARGS__)
#else
#define TRACE(...) ((void)0)
#endif
#if !defined(BUFFER) || BUFFER < 16
#undef BUFFER
#define BUFFER 16
#endif
int main(void) { char b[BUFFER]; TRACE("x %d\n", 1); memset(b, 0, sizeof b); return b[0]; }
