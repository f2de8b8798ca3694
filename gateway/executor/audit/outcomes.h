/* SPDX-License-Identifier: MIT
 * Permitted actions whose outcome is not in the audit log yet: one record for each, after any
 * failure. An action of this executor is here from before its decision is recorded until its
 * outcome is on disk; actions of an earlier executor are read from the log. If the log cannot be
 * written, as on a full disk, the outcome is kept here and written later. */
#ifndef CBX_GATEWAY_EXECUTOR_AUDIT_OUTCOMES_H
#define CBX_GATEWAY_EXECUTOR_AUDIT_OUTCOMES_H

#include "docker/result.h"
#include "gateway/executor/audit/audit.h"

/* In the state directory: 20 digits, the number of a record up to which each action has its
 * outcome. The file makes reading older records unnecessary; if it is missing, or has a number
 * beyond the log's end, all records are read. */
#define CBX_OUTCOMES_FILE "outcomes"

/* The member of a decision's record that identifies the executor: cbx_instance.name. */
#define CBX_OUTCOMES_INSTANCE "instance"

struct cbx_outcomes;
struct cbx_outcomes *cbx_outcomes_new(void);
void cbx_outcomes_free(struct cbx_outcomes *outcomes);
CBX_DEFINE_AUTO(outcomes)

/* Returns the body of a record 'outcome', a new reference. `claims` are the claims of its
 * decision; NULL = none. */
json_t *cbx_outcome_json(const struct cbx_result *result, const char *decision, const char *action,
                         const json_t *claims);

/* Reads the actions that executors of this instance permitted and gave no outcome, from the log
 * in the state directory; a second call continues after the first. Call it before this executor
 * permits any action; and once more when no other executor of the instance can be running. The
 * persistent executor starts at the record in CBX_OUTCOMES_FILE, and also takes actions recorded
 * without an instance. CBX_EIO. */
int cbx_outcomes_read(struct cbx_outcomes *outcomes, const char *state_dir, const char *instance,
                      bool persistent, struct cbx_err *err);

/* --- one action of this executor -------------------------------------------------------------- */

/* Call the first before the action's decision is recorded. Then one of the others: with its
 * record's number, or if it was not permitted. */
void cbx_outcomes_begin(struct cbx_outcomes *outcomes, const char *decision);
void cbx_outcomes_permit(struct cbx_outcomes *outcomes, const char *decision, uint64_t seq);
void cbx_outcomes_cancel(struct cbx_outcomes *outcomes, const char *decision);

/* True for the first caller, which records the outcome; false if the outcome is recorded or
 * being recorded. */
bool cbx_outcomes_take(struct cbx_outcomes *outcomes, const char *decision);

/* The result of recording it: the outcome is on disk; or writing failed, and this body is
 * written later (a reference is kept). */
void cbx_outcomes_settle(struct cbx_outcomes *outcomes, const char *decision);
void cbx_outcomes_defer(struct cbx_outcomes *outcomes, const char *decision, json_t *body);

/* In place of settling it: the client did not store the result. The action has this outcome (a
 * reference is kept) when it is swept, unless the run is resumed before. */
void cbx_outcomes_leave(struct cbx_outcomes *outcomes, const char *decision, json_t *body);

/* --- takeover --------------------------------------------------------------------------------- */

/* Types of records, and the member with the decisions. 'takeover': this log has the outcomes of
 * runs whose decisions are in the log of `replica`. 'released': the reverse. */
#define CBX_OUTCOMES_TAKEOVER  "takeover"
#define CBX_OUTCOMES_RELEASED  "released"
#define CBX_OUTCOMES_DECISIONS "decisions"

/* Member of an outcome that was not seen: no result of the run was found. */
#define CBX_OUTCOMES_PRESUMED "presumed"

/* Apply the body of such a record, with this number. */
void cbx_outcomes_take_over(struct cbx_outcomes *outcomes, const json_t *body, uint64_t seq);
void cbx_outcomes_release(struct cbx_outcomes *outcomes, const json_t *body);

/* --- from time to time ------------------------------------------------------------------------ */

/* Writes the waiting outcomes, until writing fails. Returns the number of outcomes that still
 * wait. */
size_t cbx_outcomes_retry(struct cbx_outcomes *outcomes, struct cbx_audit *audit);

/* Records as lost the actions of earlier executors that no sandbox runs: `lives` returns true if
 * one does. If writing fails, the outcome waits. Returns the number of lost actions. */
typedef bool cbx_outcomes_lives(void *context, const char *decision);
size_t cbx_outcomes_sweep(struct cbx_outcomes *outcomes, struct cbx_audit *audit,
                          cbx_outcomes_lives *lives, void *context);

/* Returns the number of waiting outcomes. */
size_t cbx_outcomes_waiting(struct cbx_outcomes *outcomes);

/* True once a minute: the caller then saves. */
bool cbx_outcomes_is_due(struct cbx_outcomes *outcomes);

/* Writes CBX_OUTCOMES_FILE, unless an action is about to be permitted. A failure has no effect. */
void cbx_outcomes_save(struct cbx_outcomes *outcomes, const struct cbx_audit *audit,
                       const char *state_dir);

#endif
