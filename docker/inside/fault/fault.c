/* SPDX-License-Identifier: MIT
 * Linked into each C program of a sandbox. The processor refuses to execute data: the program ends
 * by SIGSEGV, and no system call says so. The handler here requests execution of the page by a
 * system call, which the guard refuses and reports as native-code. The program then ends by the same
 * signal as without the handler.
 *
 * A program may replace the handler; then its end is the only trace. The file prevents nothing:
 * memory that is not executable stays so. */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static void report(int signal, siginfo_t *fault, void *context)
{
    const ucontext_t *at = context;
    uintptr_t address = (uintptr_t)fault->si_addr,
              instruction = (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
    (void)signal;
    if (fault->si_code == SEGV_ACCERR && address == instruction) {
        uintptr_t page = address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
        /* A length of 0: the call changes nothing where no guard refuses it. */
        (void)!mprotect((void *)page, 0, PROT_READ | PROT_EXEC);
    }
    /* The instruction is tried again, now without a handler (SA_RESETHAND). */
}

/* Before constructors of the program, which may fault too. */
__attribute__((constructor(101))) static void watch(void)
{
    struct sigaction action = { .sa_sigaction = report, .sa_flags = SA_SIGINFO | SA_RESETHAND };
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
}
