/* SPDX-License-Identifier: MIT
 * The values of the variables that policies pass to programs, on their way from the start of a gateway to its executor: a sealed memory
 * file. The master holds its descriptor and no mapping, for the executor that it may have to fork again; front and zygote close it before
 * they do anything else. */
#ifndef CBX_GATEWAY_IPC_MASTER_VARIABLES_H
#define CBX_GATEWAY_IPC_MASTER_VARIABLES_H

#include "policies/base/err.h"
#include "policies/base/str.h"

#include <stdbool.h>

/* Borrowed. */
struct cbx_variable {
    struct cbx_str name, file; /* as the policy has it; file: empty = from the environment */
    struct cbx_str value;      /* without NUL */
    bool secret;
};

/* A new file, never descriptor 0: -1 and errno. cbx_variables_seal: after the last one. */
int cbx_variables_new(void);
int cbx_variables_add(int fd, const struct cbx_variable *variable, struct cbx_err *err);
int cbx_variables_seal(int fd, struct cbx_err *err);

/* Zeroed memory has none. */
struct cbx_variables {
    struct cbx_variable *items;
    size_t count;
    char *bytes;
    size_t len;
};

/* Reads all; a descriptor of 0 has none. */
int cbx_variables_read(int fd, struct cbx_variables *out, struct cbx_err *err);
void cbx_variables_done(struct cbx_variables *variables);

/* The variable of this name and file, or NULL. */
const struct cbx_variable *cbx_variables_find(const struct cbx_variables *variables,
                                              struct cbx_str name, struct cbx_str file);

#endif
