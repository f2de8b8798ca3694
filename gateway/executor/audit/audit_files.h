/* SPDX-License-Identifier: MIT
 * The files of the audit log: closed ones, each named by the number of its first record, and the
 * current one, CBX_AUDIT_FILE. Numbers have 20 digits, so that names sort as records do. Opens
 * no file for writing. */
#ifndef CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_FILES_H
#define CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_FILES_H

#include "policies/base/auto.h"
#include "policies/base/err.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

enum { CBX_AUDIT_NAME_BYTES = 40, CBX_AUDIT_FILES_MAX = 100000 };

/* The closed files of a log. */
struct cbx_audit_files {
    uint64_t *first; /* number of each file's first record, ascending */
    size_t count;
    /* a name with the prefix and suffix of a closed file that is no such name; empty = none */
    char stray[NAME_MAX + 1];
};

/* Lists the closed files of the open directory; `out` is initialised, also after a failure.
 * CBX_EAUDIT; CBX_ETOOBIG for more than CBX_AUDIT_FILES_MAX. */
int cbx_audit_files_list(int dir, struct cbx_audit_files *out, struct cbx_err *err);
void cbx_audit_files_done(struct cbx_audit_files *files);
CBX_DEFINE_AUTO_DONE(audit_files)

/* Writes the name of the file whose first record has this number; 0 = the current file. */
void cbx_audit_file_name(uint64_t first, char out[CBX_AUDIT_NAME_BYTES]);

/* Opens this file for reading; the caller closes it. NULL and errno; EINVAL if it is not a
 * regular file. */
FILE *cbx_audit_file_open(int dir, uint64_t first);

#endif
