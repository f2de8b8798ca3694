/* SPDX-License-Identifier: MIT
 * What the files of `codebox audit` share. */
#ifndef CBX_GATEWAY_CLI_AUDIT_AUDIT_COMMANDS_H
#define CBX_GATEWAY_CLI_AUDIT_AUDIT_COMMANDS_H

#include "gateway/cli/audit/audit_filter.h"
#include "gateway/executor/audit/audit_reader.h"

/* The commands behind `codebox audit`. Each returns the exit status. */
int cbx_audit_tail_command(const struct cbx_options *options);
int cbx_audit_show_command(const struct cbx_options *options);
int cbx_audit_export_command(const struct cbx_options *options);
int cbx_audit_report_command(const struct cbx_options *options);
int cbx_audit_replay_command(const struct cbx_options *options);
int cbx_audit_prune_command(const struct cbx_options *options);
int cbx_audit_keygen_command(const struct cbx_options *options);

/* "uid:N" of the user who runs this program. */
void cbx_audit_caller(char out[32]);

/* The text of a member; "" when it has none. */
const char *cbx_audit_text(const json_t *object, const char *key);

/* Would this finding of a decision in mode log-only have stopped the code without it? */
bool cbx_audit_would_stop(const json_t *body, const json_t *finding);

/* Prints the text of a member, which anybody may have chosen, safe for a terminal and on one
 * line. */
void cbx_audit_print_text(const json_t *body, const char *key);

/* A walk over the records that pass the options' filters, in the order of the log. */
struct cbx_audit_walk {
    struct cbx_audit_reader *reader;
    struct cbx_audit_filter filter;
    bool damaged; /* a line was no record; it was reported on standard error */
};

/* Opens the log. CBX_EINVAL names a filter that is none; CBX_EIO. Free with cbx_audit_walk_done,
 * also after a failure. */
int cbx_audit_walk_open(const struct cbx_options *options, struct cbx_audit_walk *out,
                        struct cbx_err *err);
void cbx_audit_walk_done(struct cbx_audit_walk *walk);
CBX_DEFINE_AUTO_DONE(audit_walk)

/* The next record, a new reference, and its line, borrowed until the next call (`line` may be
 * NULL). NULL at the end of what is there now: a later call finds what was appended. */
json_t *cbx_audit_walk_next(struct cbx_audit_walk *walk, struct cbx_str *line);

/* Calls `each` with all records of a walk, and with their lines. Returns the exit status: 2 when
 * the log cannot be read, or when a line is no record. */
typedef void cbx_audit_each(void *context, const json_t *record, struct cbx_str line);
int cbx_audit_for_each(const struct cbx_options *options, cbx_audit_each *each, void *context);

/* Prints by how much the clock was set back before this record; nothing when it was not. */
void cbx_audit_print_clock(const json_t *record);

/* Prints a record on one line; the body alone, without the line's end. */
void cbx_audit_print_record(const json_t *record);
void cbx_audit_print_body(const char *type, const json_t *body);

#endif
