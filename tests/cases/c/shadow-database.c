#include <shadow.h>
int main(void) { getspnam("root"); return 0; }
// expect 1 c.credentials
// expect 2 c.credentials
