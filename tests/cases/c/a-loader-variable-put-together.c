#include <stdio.h>
#include <stdlib.h>
int main(void) { char n[32]; snprintf(n, sizeof n, "LD_%s", "PRELOAD"); return setenv(n, "./x.so", 1); }
// expect 3 any.loader
// expect 3 any.steer
