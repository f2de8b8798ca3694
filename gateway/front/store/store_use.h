/* SPDX-License-Identifier: MIT
 * Use of principals' quotas, counted over all replicas that share a PostgreSQL database. Sessions
 * and executions are counted by their rows. A takeover moves these rows, and they end together with
 * the session or the execution, so a replica that dies leaves no count behind. A session that is
 * being opened has a row of its own, its place, until its session is stored. All times are of the
 * clock of the database. Every function fails with CBX_EIO while the database cannot be reached. */
#ifndef CBX_GATEWAY_FRONT_STORE_STORE_USE_H
#define CBX_GATEWAY_FRONT_STORE_STORE_USE_H

#include "gateway/front/store/store.h"

/* True if other replicas may share this store: it is in PostgreSQL, and this replica has a name. */
bool cbx_store_has_replicas(const struct cbx_store *store);

/* Makes this store keep what other replicas count: the row of a run is marked at once when the run
 * begins. Removes the places that an earlier front of this replica left. Call it before the first
 * request. */
int cbx_store_share_use(struct cbx_store *store, struct cbx_err *err);

/* Stores that this replica is present. *replicas is the number of replicas that stored it within
 * 6 s. */
int cbx_store_note_present(struct cbx_store *store, size_t *replicas, struct cbx_err *err);

/* Marks the replicas that were not present for 75 s as gone. The lease of their sandboxes has
 * ended, so their rows do not count until they are present again. The caller must have been present
 * for several seconds without a gap: after the database was away, every replica looks gone. */
int cbx_store_mark_gone(struct cbx_store *store, struct cbx_err *err);

/* Takes a place for a session of this id, if the principal has fewer than `limit` sessions and
 * places. CBX_EQUOTA if not; the caller writes the text. After CBX_EIO the place may be taken. */
int cbx_store_take_place(struct cbx_store *store, const char *principal, const char *id,
                         int64_t limit, struct cbx_err *err);

/* Removes the place of a session that was not opened. */
int cbx_store_drop_place(struct cbx_store *store, const char *id, struct cbx_err *err);

/* Lists the ids of this replica's places (new reference). */
int cbx_store_list_places(struct cbx_store *store, json_t **out, struct cbx_err *err);

/* Does what cbx_store_add_session does, and removes the place of this id. CBX_ESTATE if there is no
 * such place: another replica has taken this one over. */
int cbx_store_add_placed_session(struct cbx_store *store, const char *principal, const char *id,
                                 const char *created_at, const char *policy, const json_t *options,
                                 struct cbx_err *err);

/* Does what cbx_store_add_execution does, if fewer than `limit` executions of the principal have
 * not begun. CBX_EQUOTA if not; the caller writes the text. */
int cbx_store_add_waiting(struct cbx_store *store, const struct cbx_stored_execution *execution,
                          int64_t limit, struct cbx_err *err);

/* Marks an execution of this replica as running until it ends, if fewer than `limit` others of its
 * principal are marked. Idempotent. CBX_EQUOTA if not; the caller writes the text. */
int cbx_store_place_run(struct cbx_store *store, const char *principal, const char *id,
                        int64_t limit, struct cbx_err *err);

/* Reads the processor time that the principal has left of `size_ms`, which are refilled within an
 * hour. It is negative after a run that used more than was left. */
int cbx_store_get_cpu(struct cbx_store *store, const char *principal, int64_t size_ms,
                      int64_t *left_ms, struct cbx_err *err);

/* Subtracts the processor time of an execution from its principal's. Only the first call for an
 * execution has an effect, and none if another replica has taken the execution over. */
int cbx_store_charge_cpu(struct cbx_store *store, const char *id, int64_t cpu_ms, int64_t size_ms,
                         struct cbx_err *err);

/* Drops the rows of principals whose processor time is refilled. */
int cbx_store_forget_cpu(struct cbx_store *store, struct cbx_err *err);

#endif
