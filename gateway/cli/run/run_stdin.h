/* SPDX-License-Identifier: MIT
 * Standard input of `codebox run`, for a program that calls input(). A thread reads lines, so that
 * a program whose input never arrives still ends at its time limit. */
#ifndef CBX_GATEWAY_CLI_RUN_RUN_STDIN_H
#define CBX_GATEWAY_CLI_RUN_RUN_STDIN_H

#include "gateway/front/review.h"

struct cbx_run_input;

/* Reads from `fd`; with -1 every question finds the input at its end. The flow and the principal
 * of the run are borrowed. `fd` is read only after a question of the program. */
struct cbx_run_input *cbx_run_input_new(struct cbx_flow *flow, struct cbx_str principal, int fd);

/* The program of the run (its decision's id) asks for a line: returns at once, and the line is
 * sent when it was read. With `secret` a terminal does not echo the typed characters. */
void cbx_run_input_ask(struct cbx_run_input *input, const char *run, bool secret);

/* Stops reading, also in the middle of a line, and restores the terminal. */
void cbx_run_input_free(struct cbx_run_input *input);
CBX_DEFINE_AUTO(run_input)

#endif
