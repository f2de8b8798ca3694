#include <string.h>
struct s { void (*f)(void); };
int main(void) { struct s s; long a = 0x401000; memcpy(&s, &a, sizeof s); s.f(); }
// expect 3 c.native
