#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) { const char *h = getenv("HOME"); printf("%s\n", h ? h : "none"); setenv("LANG", "C", 1); }
