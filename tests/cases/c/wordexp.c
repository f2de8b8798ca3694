#include <wordexp.h>
int main(void) { wordexp_t w; wordexp("$(id)", &w, 0); return 0; }
// expect 1 c.process
// expect 2 c.process
// expect 2 sh.command
