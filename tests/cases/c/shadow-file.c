#include <stdio.h>
int main(void) { fopen("/etc/sha" "dow", "r"); return 0; }
// expect 2 any.credentials
