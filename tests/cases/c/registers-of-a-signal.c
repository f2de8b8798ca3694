#include <signal.h>
#include <string.h>
#include <ucontext.h>
static long where;
static void a(int s, siginfo_t *i, void *c) { (void)s; (void)i; ((long *)c)[21] = where; }
static void b(int s, void *i, void *c) { (void)s; (void)i; memcpy((char *)c + 168, &where, 8); }
int main(void)
{
    struct sigaction x = { .sa_flags = SA_SIGINFO };
    x.sa_sigaction = a;
    struct sigaction y = { .sa_sigaction = (void (*)(int, siginfo_t *, void *))b };
    sigaction(SIGUSR1, &x, 0);
    sigaction(SIGUSR2, &y, 0);
    ucontext_t u;
    getcontext(&u);
    u.uc_mcontext.gregs[16] = where;
    setcontext(&u);
    return 0;
}
// expect 5 c.native
// expect 6 c.native
// expect 16 c.native
// expect 17 c.native
