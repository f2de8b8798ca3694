/* SPDX-License-Identifier: MIT
 * Handles judgements that crash or hang: signals, and a timer. */
#ifndef CBX_ANALYZER_LINT_WATCH_H
#define CBX_ANALYZER_LINT_WATCH_H

#include "policies/base/str.h"

/* For a file that is checked in this process: from now on the signals of a crash, and the
 * timer's, write "codebox-lint: PATH: REASON" to standard error and end the process with status
 * 2. */
void cbx_lint_watch_here(struct cbx_str path);

/* Restores the default actions of the signals. */
void cbx_lint_watch_done(void);

/* Raises SIGALRM in `ms` milliseconds; 0: cancels it. */
void cbx_lint_watch_timer(unsigned ms);

/* Writes why a judgement ended, by the signal. */
void cbx_lint_watch_name(int signal, char *out, size_t size);

#endif
