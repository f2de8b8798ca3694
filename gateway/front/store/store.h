/* SPDX-License-Identifier: MIT
 * Sessions and executions in SQLite (WAL): results survive a restart of the gateway. Belongs to the
 * front. Thread-safe. */
#ifndef CBX_GATEWAY_FRONT_STORE_STORE_H
#define CBX_GATEWAY_FRONT_STORE_STORE_H

#include "policies/base/auto.h"
#include "policies/base/buf.h"
#include "policies/base/err.h"
#include "policies/ledger.h"

#include <jansson.h>
#include <stdint.h>

struct cbx_store;

/* Bytes of the JSON that a session or an execution was asked for with. */
enum { CBX_STORED_OPTIONS_MAX = 4 << 20 };

/* store_limits.def; zero is the default. */
struct cbx_store_limits {
#define CBX_STORE_LIMIT(name, standard, meaning) int64_t name;
#include "gateway/front/store/store_limits.def"
#undef CBX_STORE_LIMIT
};

/* Opens or creates codebox.db in `folder` (cbx_state_make_front); CBX_EBUSY while another process has it open. What a gateway
 * before left is there: its sessions, and executions that were running. `limits` may be NULL, for the
 * defaults. Without a folder (NULL) the store is in memory, and gone with the process. */
int cbx_store_open(const char *folder, const struct cbx_store_limits *limits,
                   struct cbx_store **out, struct cbx_err *err);

/* Whether cbx_store_open would open the database of `folder`: CBX_EIO with the reason. Changes nothing. *busy: a gateway has it open, so that it was
 * not read. A folder or a database that is missing is no error. */
int cbx_store_try(const char *folder, bool *busy, struct cbx_err *err);

/* Closes the database. Running executions stay for the next gateway. NULL is fine. */
void cbx_store_free(struct cbx_store *store);
CBX_DEFINE_AUTO(store)

/* Every row belongs to a principal. Where a function takes `principal`, rows of others do not exist for it; NULL,
 * for the gateway's own work, is every row. */

/* `created_at` is ISO 8601 in UTC without a zone, as CodeBox-AI writes it. CBX_EBUSY when what is free
 * of the file system is left to the audit log. */
int cbx_store_add_session(struct cbx_store *store, const char *principal, const char *id,
                          const char *created_at, const char *policy, const json_t *options,
                          struct cbx_err *err);
/* Puts other options in the place of those of a session. */
int cbx_store_set_options(struct cbx_store *store, const char *id, const json_t *options,
                          struct cbx_err *err);
/* CBX_ENOTFOUND when there is none. *policy and *options are new, the caller's (free, json_decref);
 * either may be NULL. */
int cbx_store_get_session(struct cbx_store *store, const char *principal, const char *id,
                          char **policy, json_t **options, struct cbx_err *err);

/* Removes a session's row; its executions stay. CBX_ENOTFOUND when there is none.
 */
int cbx_store_remove_session(struct cbx_store *store, const char *id, struct cbx_err *err);

/* One that begins. Texts are borrowed; `session` is empty for a one-shot. */
struct cbx_stored_execution {
    const char *principal, *id, *session, *created_at, *decision, *language, *code;
    const json_t *request; /* what else is needed to submit it once more */
    enum cbx_entry_kind kind;
    const char *name; /* of a file: its path */
    int64_t turn;     /* its place in the order of acceptance */
};

/* Stores an execution as running, before its decision is submitted. Makes room for its code by dropping
 * results of finished executions. CBX_ETOOBIG when the session has too much code, CBX_EBUSY when the
 * store has, or what is free of the file system is left to the audit log. */
int cbx_store_add_execution(struct cbx_store *store, const struct cbx_stored_execution *execution,
                            struct cbx_err *err);
/* It was judged again: it is about to run under this decision. */
int cbx_store_set_decision(struct cbx_store *store, const char *id, const char *decision,
                           struct cbx_err *err);

/* It began, by the decision in this audit record: it is never submitted again. */
int cbx_store_begin_execution(struct cbx_store *store, const char *id, uint64_t audit_seq,
                              struct cbx_err *err);

/* CBX_EIO, with the reason, when the last statement that wrote failed, or the file system is too full for
 * more executions. */
int cbx_store_check(struct cbx_store *store, struct cbx_err *err);

/* How many bytes of JSON the results of one execution may have now; fewer when the file system is full.
 * *reason is why, static. */
size_t cbx_store_result_max(struct cbx_store *store, const char **reason);

/* status: "running", "completed", "error", "cancelled"; `results` (may be NULL) is stored as JSON. Makes room for it as
 * above; CBX_ETOOBIG when there is none. At most short_bytes are always stored. */
int cbx_store_set_execution(struct cbx_store *store, const char *id, const char *status,
                            const char *completed_at, const json_t *results, struct cbx_err *err);
/* {request_id, session_id, status, created_at, completed_at, results, decision, language, dropped}
 * (new reference). `dropped` is true when there were results, and they made room for newer ones. */
int cbx_store_get_execution(struct cbx_store *store, const char *principal, const char *id,
                            json_t **out, struct cbx_err *err);

/* A key by which a client repeats a request safely, and what the request made. */
struct cbx_stored_key {
    char request[CBX_SHA256_HEX + 1]; /* SHA-256 of the request */
    char id[40];                      /* of the session or execution */
    char created_at[32];
};

/* Notes that this key of a principal stands for this request and for what it is about to make. Keys from before `oldest`
 * (as created_at is written) are forgotten. CBX_ESTATE when the key is taken: *own is replaced by what it stands for. */
int cbx_store_take_key(struct cbx_store *store, const char *principal, const char *key,
                       const char *oldest, struct cbx_stored_key *own, struct cbx_err *err);

/* Forgets the key, when it stands for this id. */
int cbx_store_drop_key(struct cbx_store *store, const char *principal, const char *key,
                       const char *id, struct cbx_err *err);

/* What packages requirements were resolved to, so that a restart asks no index again. `key` stands for the requirements and for all that the answer
 * depends on; made_ms is the wall clock. The CBX_STORED_SETS newest stay. Recalled is one from `oldest_ms` or later, into `out`, which is the
 * caller's: whoever wrote the file may have put any text there. CBX_ENOTFOUND; CBX_EBUSY when what is free of the file system is left to the audit
 * log; CBX_ETOOBIG for `out`. */
enum { CBX_STORED_SETS = 64 };
int cbx_store_remember_set(struct cbx_store *store, const char *key, int64_t made_ms,
                           struct cbx_str packages, struct cbx_err *err);
int cbx_store_recall_set(struct cbx_store *store, const char *key, int64_t oldest_ms,
                         struct cbx_buf *out, int64_t *made_ms, struct cbx_err *err);
int cbx_store_forget_set(struct cbx_store *store, const char *key, struct cbx_err *err);

/* Lists of objects of texts (new references). Sessions: {id, principal, created_at, policy, options}.
 * Executions that are not over: {id, principal, session, decision, language, created_at, code, request, begun:
 * "0" or "1", audit_seq, kind, name, turn}. */
int cbx_store_list_sessions(struct cbx_store *store, const char *principal, json_t **out,
                            struct cbx_err *err);
int cbx_store_list_running(struct cbx_store *store, json_t **out, struct cbx_err *err);

/* A position in a listing: that of an item, or empty, before the first. */
struct cbx_store_position {
    char created_at[32], key[40];
};

/* Lists in pages (new references): at most `limit` rows behind a position, ordered by `created_at`
 * and the key. Sessions as above; executions of a session, while it is open all of them: {id, status,
 * created_at, completed_at, language, decision, code, position}. The key of a session is its id, that of an execution is in the member
 * `position`. */
int cbx_store_page_sessions(struct cbx_store *store, const char *principal,
                            const struct cbx_store_position *after, int64_t limit, json_t **out,
                            struct cbx_err *err);
int cbx_store_page_history(struct cbx_store *store, const char *principal, const char *session,
                           const struct cbx_store_position *after, int64_t limit, json_t **out,
                           struct cbx_err *err);

/* The entries of a session's past with turns between these two, both excluded, in order, at most `limit`: {kind,
 * language, name, code, turn}. What ended without having begun is none. */
int cbx_store_page_past(struct cbx_store *store, const char *session, int64_t after, int64_t before,
                        int64_t limit, json_t **out, struct cbx_err *err);

/* The highest turn of all; 0 when there is none. */
int64_t cbx_store_last_turn(struct cbx_store *store);

#endif
