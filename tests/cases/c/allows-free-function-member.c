#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct box { void *p; void (*release)(void *); int (*compare)(const char *, const char *); };
int main(void) { struct box b = { malloc(3), free, strcmp }; b.release(b.p); return b.compare("a", "a"); }
