/* SPDX-License-Identifier: MIT
 * The end of a process by SIGTERM, for a loop around ppoll(2). */
#ifndef CBX_GATEWAY_IPC_ENDING_H
#define CBX_GATEWAY_IPC_ENDING_H

#include <signal.h>
#include <stdbool.h>

/* Blocks SIGTERM. *waiting is the mask for ppoll, which alone receives the signal, so none is missed
 * between the check and the wait. Call it before the process has threads. */
void cbx_ending_catch(sigset_t *waiting);

/* True after SIGTERM. */
bool cbx_is_ending(void);

#endif
