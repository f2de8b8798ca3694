#include <stdio.h>
#include <string.h>
int main(void) { char p[64]; strcpy(p, "/etc/sha"); strcat(p, "dow"); return fopen(p, "r") == 0; }
// expect 3 any.credentials
