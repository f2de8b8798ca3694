/* SPDX-License-Identifier: MIT
 * The steps before a gateway starts; each reads or checks what one key of the configuration is
 * about. `codebox serve` stops at the first failure; `codebox config check` runs all steps without
 * an effect, so it refuses the same configurations. */
#ifndef CBX_GATEWAY_CLI_SERVE_STEPS_H
#define CBX_GATEWAY_CLI_SERVE_STEPS_H

#include "gateway/cli/settings/cli_options.h"

struct cbx_step {
    const char
        *key; /* the option that an error is about; NULL = the error has its place in the file */
    int (*run)(void *context, struct cbx_err *err);
};

/* Runs the steps in their order. Without `problems` it ends at the first failure, with its
 * error; with them each error is added, and 0 returned. An error gets the place of its key if it
 * was given: "FILE:LINE:COLUMN: key 'x'", or the variable's name. */
int cbx_steps_run(const struct cbx_step *steps, size_t count, void *context,
                  const struct cbx_options *options, struct cbx_problems *problems,
                  struct cbx_err *err);

/* Puts that place in front of the error; NULL options: no place is known. Returns err->code. */
int cbx_step_place(const char *key, const struct cbx_options *options, struct cbx_err *err);

#endif
