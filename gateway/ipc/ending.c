/* SPDX-License-Identifier: MIT
 * The end of a process by SIGTERM. */
#include "gateway/ipc/ending.h"

static volatile sig_atomic_t ends;

static void note_end(int signal)
{
    (void)signal;
    ends = 1;
}

void cbx_ending_catch(sigset_t *waiting)
{
    struct sigaction action = { .sa_handler = note_end };
    sigset_t blocked;
    sigaction(SIGTERM, &action, NULL);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, waiting);
    sigdelset(waiting, SIGTERM);
}

bool cbx_is_ending(void)
{
    return ends != 0;
}
