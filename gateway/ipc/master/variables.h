/* SPDX-License-Identifier: MIT
 * The values of the variables that policies pass to programs, sent from the start of a gateway
 * to its executor: a sealed memory file. The master has its descriptor and no mapping, for an
 * executor that it may have to fork again; front and zygote close the descriptor first. */
#ifndef CBX_GATEWAY_IPC_MASTER_VARIABLES_H
#define CBX_GATEWAY_IPC_MASTER_VARIABLES_H

#include "policies/base/err.h"
#include "policies/base/str.h"

#include <stdbool.h>

/* A variable; its texts are borrowed. */
struct cbx_variable {
    struct cbx_str name, file; /* as in the policy; file: empty = from the environment */
    struct cbx_str value;      /* without NUL */
    bool secret;
};

/* Creates a file in memory, never descriptor 0: -1 and errno. Call cbx_variables_seal after the
 * last variable. */
int cbx_variables_new(void);
int cbx_variables_add(int fd, const struct cbx_variable *variable, struct cbx_err *err);
int cbx_variables_seal(int fd, struct cbx_err *err);

/* The variables of a file; zeroed memory has none. */
struct cbx_variables {
    struct cbx_variable *items;
    size_t count;
    char *bytes;
    size_t len;
};

/* Reads all variables; a descriptor of 0 has none. */
int cbx_variables_read(int fd, struct cbx_variables *out, struct cbx_err *err);
void cbx_variables_done(struct cbx_variables *variables);

/* Returns the variable of this name and file, or NULL. */
const struct cbx_variable *cbx_variables_find(const struct cbx_variables *variables,
                                              struct cbx_str name, struct cbx_str file);

#endif
