#include <unistd.h>
int main(void) { chdir("/etc"); return 0; }
// expect 2 c.open-outside
