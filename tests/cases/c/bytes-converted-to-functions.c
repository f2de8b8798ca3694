/* Conversions of void pointers to pointers to functions: members, lists, results. */
#include <signal.h>
static unsigned char code[] = { 0xc3 };
typedef int (*fn)(void);
struct ops { fn f; };
static struct ops a = { .f = (void *)code };
static fn table[] = { (void *)code };
static fn get(void) { void *p = code; return p; }
int main(void)
{
    struct sigaction s = { 0 }, t = { .sa_handler = (void *)code };
    s.sa_handler = (void *)code;
    *(void **)&s.sa_handler = code;
    sigaction(10, &s, &t);
    return a.f() + table[0]() + get()();
}
// expect 6 c.native
// expect 7 c.native
// expect 8 c.native
// expect 11 c.native
// expect 12 c.native
// expect 13 c.native
