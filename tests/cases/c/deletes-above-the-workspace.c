#include <stdio.h>
#include <unistd.h>
int main(void) {
    remove("../x");
    chdir("..");
    return remove("x");
}
// expect 4 c.open-outside
// expect 6 c.open-outside
