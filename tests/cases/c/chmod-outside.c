#include <sys/stat.h>
int main(void) { chmod("/usr/x", 0777); return 0; }
// expect 2 c.open-outside
