#include <unistd.h>
extern char **environ;
int main(void) { environ[0] = "LD_PRELOAD=./x.so"; return 0; }
// expect 3 any.loader
