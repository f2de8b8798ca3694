/* SPDX-License-Identifier: MIT
 * Standard input of `codebox run`, for a program that calls input(). Lines are read in a thread, so
 * that a program whose input never comes still ends at its time limit. */
#ifndef CBX_GATEWAY_CLI_RUN_RUN_STDIN_H
#define CBX_GATEWAY_CLI_RUN_RUN_STDIN_H

#include "gateway/front/review.h"

struct cbx_run_input;

/* Reads from `fd`, or with -1 from nothing: every question then finds the input at its end. The
 * flow and the principal of the run are borrowed. `fd` is read only when the program asks. */
struct cbx_run_input *cbx_run_input_new(struct cbx_flow *flow, struct cbx_str principal, int fd);

/* The program of the run (its decision's id) asks for a line: returns at once, and the answer is
 * sent when there is a line. With `secret` a terminal does not show what is typed. */
void cbx_run_input_ask(struct cbx_run_input *input, const char *run, bool secret);

/* Stops reading, also in the middle of a line, and restores the terminal. */
void cbx_run_input_free(struct cbx_run_input *input);
CBX_DEFINE_AUTO(run_input)

#endif
