#include <unistd.h>
int main(void) { vfork(); return 0; }
// expect 2 c.process
