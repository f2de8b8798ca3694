#define _GNU_SOURCE
#include <signal.h>
#include <ucontext.h>
void h(int s, siginfo_t *i, void *c) { ((ucontext_t *)c)->uc_mcontext.gregs[REG_RIP] = s; (void)i; }
// expect 4 c.native
