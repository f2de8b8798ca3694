/* SPDX-License-Identifier: MIT
 * Reads the records of the audit log in order, over all of its files, and goes on with what is
 * appended later. Checks nothing: that is cbx_audit_verify. Holds up no writer. */
#ifndef CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_READER_H
#define CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_READER_H

#include "policies/base/json.h"

#include <stdbool.h>
#include <stdint.h>

struct cbx_audit_reader;

/* In the state directory: "SEQ HASH\n" of the last record that a syslog server has got. Only where
 * records are, or were, forwarded. */
#define CBX_AUDIT_CURSOR_FOLDER "syslog"
#define CBX_AUDIT_CURSOR        CBX_AUDIT_CURSOR_FOLDER "/cursor"

/* Opens the log of the directory for reading. With `after`, it begins with the file that has the
 * record behind that one, and leaves out files that end before it. CBX_EIO when there is no
 * directory. */
int cbx_audit_reader_new(const char *state_dir, uint64_t after, struct cbx_audit_reader **out,
                         struct cbx_err *err);
void cbx_audit_reader_free(struct cbx_audit_reader *reader);
CBX_DEFINE_AUTO(audit_reader)

/* The next whole line, without its '\n'; borrowed until the next call. False at the end of what is
 * there now: a later call finds what was appended, also in a file that was begun since. */
bool cbx_audit_reader_next(struct cbx_audit_reader *reader, struct cbx_str *out);

/* The last call of cbx_audit_reader_next ended because Linux refused to open the next file (EACCES): the process is confined to the
 * files that there were when it began. */
bool cbx_audit_reader_is_denied(const struct cbx_audit_reader *reader);

/* The number of a record from its line, without parsing it; 0 when there is none. */
uint64_t cbx_audit_line_seq(struct cbx_str line);

/* Where the last line stands: the name of its file, borrowed until the next call, and its number
 * there, 1-based when the file was read from its start. */
const char *cbx_audit_reader_place(const struct cbx_audit_reader *reader, uint64_t *line);

#endif
