#include <stdio.h>
#include <stdlib.h>
int main(int n, char **v) { (n ? system : puts)("id"); (void)v; }
// expect 3 c.process
