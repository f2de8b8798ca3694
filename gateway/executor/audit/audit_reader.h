/* SPDX-License-Identifier: MIT
 * Reads the records of the audit log in order, over all of its files, and continues with records
 * appended later. Checks nothing: cbx_audit_verify does. Blocks no writer. */
#ifndef CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_READER_H
#define CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_READER_H

#include "policies/base/text/json.h"

#include <stdbool.h>
#include <stdint.h>

struct cbx_audit_reader;

/* In the state directory: "SEQ HASH\n" of the last record that a syslog server has received.
 * Exists only if records are, or were, forwarded. */
#define CBX_AUDIT_CURSOR_FOLDER "syslog"
#define CBX_AUDIT_CURSOR        CBX_AUDIT_CURSOR_FOLDER "/cursor"

/* Opens the log of the directory for reading. With `after`, reading begins with the file that
 * has the next record, and skips files that end before it. CBX_EIO if the directory does not
 * exist. */
int cbx_audit_reader_new(const char *state_dir, uint64_t after, struct cbx_audit_reader **out,
                         struct cbx_err *err);
void cbx_audit_reader_free(struct cbx_audit_reader *reader);
CBX_DEFINE_AUTO(audit_reader)

/* Returns the next whole line, without its '\n'; borrowed until the next call. False at the
 * current end of the log: a later call returns lines appended since, also in a new file. */
bool cbx_audit_reader_next(struct cbx_audit_reader *reader, struct cbx_str *out);

/* True if the last call of cbx_audit_reader_next ended because Linux refused to open the next
 * file (EACCES): the process is confined to the files that existed at its start. */
bool cbx_audit_reader_is_denied(const struct cbx_audit_reader *reader);

/* Returns the number of a record from its line, without parsing it; 0 if it has none. */
uint64_t cbx_audit_line_seq(struct cbx_str line);

/* Returns the position of the last line: the name of its file, borrowed until the next call, and
 * its number in the file, 1-based if the file was read from its start. */
const char *cbx_audit_reader_place(const struct cbx_audit_reader *reader, uint64_t *line);

#endif
