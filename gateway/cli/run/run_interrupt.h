/* SPDX-License-Identifier: MIT
 * ^C during `codebox run`. */
#ifndef CBX_GATEWAY_CLI_RUN_RUN_INTERRUPT_H
#define CBX_GATEWAY_CLI_RUN_RUN_INTERRUPT_H

#include "gateway/front/review.h"

/* The program to interrupt. */
struct cbx_run_interrupt {
    struct cbx_flow *flow;
    struct cbx_str principal;
    char run[CBX_ID_CHARS + 1]; /* its decision's id; empty = it has not begun */
    int handled;                /* number of interrupts that had an effect */
};

/* From now on SIGINT is counted and does not end this process. A terminal sends it to this
 * process, and the master forwards it too, so several within a moment count once. */
void cbx_run_interrupt_catch(void);

/* A cbx_submit_options.note whose context is the struct: remembers the run. */
void cbx_run_interrupt_note(void *context, enum cbx_progress progress, const char *decision,
                            uint64_t audit_seq);

/* A cbx_sink.cancelled whose context is the struct. At the first interrupt the program gets what
 * a terminal would send it (KeyboardInterrupt in Python), and stderr tells that a second one
 * ends it at once; true at the second one, and at the first one if the program has not begun. */
bool cbx_run_interrupt_check(struct cbx_run_interrupt *interrupt);

#endif
