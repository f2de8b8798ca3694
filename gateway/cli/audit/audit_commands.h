/* SPDX-License-Identifier: MIT
 * Declarations shared by the files of `codebox audit`. */
#ifndef CBX_GATEWAY_CLI_AUDIT_AUDIT_COMMANDS_H
#define CBX_GATEWAY_CLI_AUDIT_AUDIT_COMMANDS_H

#include "gateway/cli/audit/audit_filter.h"
#include "gateway/executor/audit/audit_reader.h"

/* The subcommands of `codebox audit`. Each returns the exit status. */
int cbx_audit_tail_command(const struct cbx_options *options);
int cbx_audit_show_command(const struct cbx_options *options);
int cbx_audit_export_command(const struct cbx_options *options);
int cbx_audit_report_command(const struct cbx_options *options);
int cbx_audit_replay_command(const struct cbx_options *options);
int cbx_audit_prune_command(const struct cbx_options *options);
int cbx_audit_keygen_command(const struct cbx_options *options);

/* Returns "uid:N" of the user who runs this program. */
void cbx_audit_caller(char out[32]);

/* Returns the text of a member; "" if the object has none. */
const char *cbx_audit_text(const json_t *object, const char *key);

/* Returns true if this finding of a decision in mode log-only would have stopped the code in
 * another mode. */
bool cbx_audit_would_stop(const json_t *body, const json_t *finding);

/* Prints the text of a member on one line, safe for a terminal: any caller may have chosen the
 * text. */
void cbx_audit_print_text(const json_t *body, const char *key);

/* A walk over the records that pass the options' filters, in the order of the log. */
struct cbx_audit_walk {
    struct cbx_audit_reader *reader;
    struct cbx_audit_filter filter;
    bool damaged; /* true if a line was no record; the walk reported it on standard error */
};

/* Opens the log. CBX_EINVAL names a filter that is malformed; CBX_EIO. The caller calls
 * cbx_audit_walk_done, also after a failure. */
int cbx_audit_walk_open(const struct cbx_options *options, struct cbx_audit_walk *out,
                        struct cbx_err *err);
void cbx_audit_walk_done(struct cbx_audit_walk *walk);
CBX_DEFINE_AUTO_DONE(audit_walk)

/* Returns the next record (new reference) and its line, borrowed until the next call (`line` may
 * be NULL). NULL at the end of the log: a later call finds records that were appended meanwhile. */
json_t *cbx_audit_walk_next(struct cbx_audit_walk *walk, struct cbx_str *line);

/* Calls `each` with every record of a walk, and with its line. Returns the exit status: 2 if the
 * log cannot be read, or if a line is no record. */
typedef void cbx_audit_each(void *context, const json_t *record, struct cbx_str line);
int cbx_audit_for_each(const struct cbx_options *options, cbx_audit_each *each, void *context);

/* If the clock was set back before this record, prints by how much. */
void cbx_audit_print_clock(const json_t *record);

/* Prints a record on one line, without its head; the caller prints the end of the line. */
void cbx_audit_print_record(const json_t *record);
void cbx_audit_print_body(const char *type, const json_t *body);

#endif
