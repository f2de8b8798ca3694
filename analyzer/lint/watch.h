/* SPDX-License-Identifier: MIT
 * What ends a judgement that crashes or hangs: signals, and a timer. */
#ifndef CBX_ANALYZER_LINT_WATCH_H
#define CBX_ANALYZER_LINT_WATCH_H

#include "policies/base/str.h"

/* For a file that is checked in this process: from now on the signals of a crash, and the timer's,
 * write "codebox-lint: PATH: REASON" to standard error and end the process with status 2. */
void cbx_lint_watch_here(struct cbx_str path);

/* The signals have their default actions again. */
void cbx_lint_watch_done(void);

/* SIGALRM comes `ms` from now; 0: no longer. */
void cbx_lint_watch_timer(unsigned ms);

/* Writes the reason why a judgement ended, by the signal. */
void cbx_lint_watch_name(int signal, char *out, size_t size);

#endif
