#include <stdlib.h>
run(c)
char *c;
{
    return system(c);
}
main() { run("id"); }
// expect 5 c.process
// expect 5 sh.command
