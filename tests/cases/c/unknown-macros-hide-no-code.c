#include <stdlib.h>
#include <unistd.h>
LAB_TEST(a, b)
{
    EACH(x, list) { system("id"); }
    OTHER_EACH(x, list)
        execl("/bin/sh", "sh", NULL);
    EACH(system("id"), list) { }
}
static int LAB_CALL run(LAB_P_ const char *command UNUSED)
{
    return system(command);
}
// expect 5 c.process
// expect 5 sh.command
// expect 7 c.process
// expect 7 sh.command
// expect 8 c.process
// expect 8 sh.command
// expect 12 c.process
// expect 12 sh.command
