#include <stdlib.h>
int main(void) { setenv("TZ", "UTC", 1); return getenv("PATH") == 0; }
