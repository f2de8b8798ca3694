/* a nested function makes gcc ask for an executable stack; a signal's context jumps into it */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
static unsigned char *where;
static void on(int s, siginfo_t *i, void *c) { ucontext_t *u = c; (void)s; (void)i; u->uc_mcontext.gregs[16] = (long)where; }
static int each(int n, int (*f)(int)) { return f(n); }
int main(void)
{
    /* write(fd, text, 24); exit(0) */
    unsigned char code[64] = { 0xb8, 1, 0, 0, 0, 0xbf, 0, 0, 0, 0, 0x48, 0xbe, 0, 0, 0, 0, 0, 0, 0, 0, 0xba, 24, 0, 0, 0, 0x0f, 0x05, 0xb8, 231, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05 };
    static const char text[] = "machine code on the stack";
    FILE *o = fopen("/workspace/proof", "w");
    int k = 2;
    int twice(int n) { return n * k; }
    if (each(2, twice) != 4) return 1;
    code[6] = (unsigned char)fileno(o);
    long t = (long)text;
    memcpy(code + 12, &t, 8);
    where = code;
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_sigaction = on;
    a.sa_flags = SA_SIGINFO;
    sigaction(SIGUSR1, &a, 0);
    raise(SIGUSR1);
    return 0;
}
// expect 9 c.native
// expect 18 c.native
