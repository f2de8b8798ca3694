/* SPDX-License-Identifier: MIT
 * Permitted actions whose outcome is not in the audit log yet: one record for each, whatever happens. Those of this executor are here from
 * before their decision is recorded until their outcome is on disk; those that an executor before it left are read from the log. An outcome
 * that the log did not take, as on a full disk, waits here and is written later. */
#ifndef CBX_GATEWAY_EXECUTOR_AUDIT_OUTCOMES_H
#define CBX_GATEWAY_EXECUTOR_AUDIT_OUTCOMES_H

#include "docker/result.h"
#include "gateway/executor/audit/audit.h"

/* In the state directory: 20 digits, the number of a record up to which each action has its outcome. It saves reading older records, and
 * without it, or with one that the log does not reach, all of them are read. */
#define CBX_OUTCOMES_FILE "outcomes"

/* The member of a decision's record by which an executor finds its own: cbx_instance.name. */
#define CBX_OUTCOMES_INSTANCE "instance"

struct cbx_outcomes;
struct cbx_outcomes *cbx_outcomes_new(void);
void cbx_outcomes_free(struct cbx_outcomes *outcomes);
CBX_DEFINE_AUTO(outcomes)

/* The body of a record 'outcome', a new reference. `claims` are those of its decision; NULL = none. */
json_t *cbx_outcome_json(const struct cbx_result *result, const char *decision, const char *action,
                         const json_t *claims);

/* Reads what executors of this instance permitted and gave no outcome, from the log in the state directory; a second call goes on behind
 * the first one. Before this executor permits anything; and once more when no other executor of the instance can be running. The
 * persistent executor begins as CBX_OUTCOMES_FILE says, and has what was recorded without an instance too. CBX_EIO. */
int cbx_outcomes_read(struct cbx_outcomes *outcomes, const char *state_dir, const char *instance,
                      bool persistent, struct cbx_err *err);

/* --- one action of this executor ---------------------------------------------------------------- */

/* Before its decision is recorded. And then: its record's number, or that it was not permitted. */
void cbx_outcomes_begin(struct cbx_outcomes *outcomes, const char *decision);
void cbx_outcomes_permit(struct cbx_outcomes *outcomes, const char *decision, uint64_t seq);
void cbx_outcomes_cancel(struct cbx_outcomes *outcomes, const char *decision);

/* True for the first caller, which records the outcome; false when that is done, or somebody does it. */
bool cbx_outcomes_take(struct cbx_outcomes *outcomes, const char *decision);

/* What came of that: the outcome is on disk; or the log did not take it, and this body is written later (a reference is kept). */
void cbx_outcomes_settle(struct cbx_outcomes *outcomes, const char *decision);
void cbx_outcomes_defer(struct cbx_outcomes *outcomes, const char *decision, json_t *body);

/* --- from time to time ---------------------------------------------------------------------------- */

/* Writes the outcomes that wait, until the log does not take one. Returns how many still wait. */
size_t cbx_outcomes_retry(struct cbx_outcomes *outcomes, struct cbx_audit *audit);

/* Records as lost what an executor before this one permitted and no sandbox has: `lives` says whether one does. What the log does not
 * take waits. Returns how many. */
typedef bool cbx_outcomes_lives(void *context, const char *decision);
size_t cbx_outcomes_sweep(struct cbx_outcomes *outcomes, struct cbx_audit *audit,
                          cbx_outcomes_lives *lives, void *context);

/* How many wait to be written. */
size_t cbx_outcomes_waiting(struct cbx_outcomes *outcomes);

/* True once a minute: then save. */
bool cbx_outcomes_is_due(struct cbx_outcomes *outcomes);

/* Writes CBX_OUTCOMES_FILE, unless an action is about to be permitted. A failure has no effect. */
void cbx_outcomes_save(struct cbx_outcomes *outcomes, const struct cbx_audit *audit,
                       const char *state_dir);

#endif
