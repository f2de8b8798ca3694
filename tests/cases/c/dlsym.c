#include <dlfcn.h>
int main(void) { ((int (*)(const char *))dlsym(0, "system"))("id"); return 0; }
// expect 1 c.native
// expect 2 c.native
