/* SPDX-License-Identifier: MIT
 * Standard input of `codebox run`, if it is no terminal: its bytes become the program's input as
 * they arrive. A thread reads them, so that a program that reads nothing does not wait for an
 * input that stays open. */
#ifndef CBX_GATEWAY_CLI_RUN_RUN_FEED_H
#define CBX_GATEWAY_CLI_RUN_RUN_FEED_H

#include "gateway/front/review.h"

struct cbx_run_feed;

/* Returns true if programs can have this descriptor as their input: false for a terminal, and
 * for a closed one. CBX_ETOOBIG in *err for a file that is larger than an input may be. */
bool cbx_run_feed_takes(int fd, struct cbx_err *err);

/* Reads nothing yet. The flow and the principal of the run are borrowed. */
struct cbx_run_feed *cbx_run_feed_new(struct cbx_flow *flow, struct cbx_str principal, int fd);

/* The run of this decision has begun: from now on its input is read and sent, at most some MiB
 * ahead of the program. An unreadable or too large input cancels the run. */
void cbx_run_feed_begin(struct cbx_run_feed *feed, const char *run);

/* The run has ended: stops reading. Returns the error for which the run was cancelled, or 0. */
int cbx_run_feed_end(struct cbx_run_feed *feed, struct cbx_err *err);

void cbx_run_feed_free(struct cbx_run_feed *feed);
CBX_DEFINE_AUTO(run_feed)

#endif
