/* SPDX-License-Identifier: MIT
 * Sessions and executions in a database: results survive a restart of the gateway. Used by the
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

/* Maximum bytes of the JSON of a session's or an execution's requests. */
enum { CBX_STORED_OPTIONS_MAX = 4 << 20 };

/* store_limits.def; zero is the default. */
struct cbx_store_limits {
#define CBX_STORE_LIMIT(name, standard, meaning) int64_t name;
#include "gateway/front/store/store_limits.def"
#undef CBX_STORE_LIMIT
};

/* Opens or creates codebox.db in `folder` (cbx_state_make_front); CBX_EBUSY while another
 * process has it open. It has the rows of an earlier gateway: its sessions, and executions that
 * were running. `limits` may be NULL, for the defaults. Without a folder (NULL) the store is in
 * memory, and lost with the process. */
int cbx_store_open(const char *folder, const struct cbx_store_limits *limits,
                   struct cbx_store **out, struct cbx_err *err);

/* Opens the store in a database that several gateways share, each with another name `replica`
 * (gateway/database/database.h). It takes the database over, also when it fails. It has the rows of
 * an earlier gateway of that name, and lists, counts and resumes no rows of other names; only rows
 * by their ids, keys and sets are shared. `folder`, the state directory, has the list of runs that
 * began, and its free space is looked at; NULL = neither. Later calls fail with CBX_EIO while the
 * server cannot be reached, within 20 s, and with CBX_EINVAL for a text that is not UTF-8. */
struct cbx_database;
int cbx_store_open_shared(struct cbx_database *database, const char *replica, const char *folder,
                          const struct cbx_store_limits *limits, struct cbx_store **out,
                          struct cbx_err *err);

/* True for such a store: what it could not store now, because the server is away, it may store
 * later. */
bool cbx_store_is_shared(const struct cbx_store *store);

/* Checks that cbx_store_open could open the database of `folder`: CBX_EIO with the reason.
 * Changes nothing. *busy: true if a gateway has it open, so it was not read. A missing folder or
 * database is no error. */
int cbx_store_try(const char *folder, bool *busy, struct cbx_err *err);

/* Closes the database. Running executions stay for the next gateway. NULL is fine. */
void cbx_store_free(struct cbx_store *store);
CBX_DEFINE_AUTO(store)

/* Every row belongs to a principal. If a function takes `principal`, rows of other principals
 * count as missing; NULL, for the gateway's own work, selects all rows. */

/* `created_at` is ISO 8601 in UTC without a zone, in the format of CodeBox-AI. CBX_EBUSY if the
 * remaining free space is reserved for the audit log. */
int cbx_store_add_session(struct cbx_store *store, const char *principal, const char *id,
                          const char *created_at, const char *policy, const json_t *options,
                          struct cbx_err *err);
/* Replaces the options of a session. */
int cbx_store_set_options(struct cbx_store *store, const char *id, const json_t *options,
                          struct cbx_err *err);
/* CBX_ENOTFOUND if there is none. *policy and *options are new, owned by the caller (free,
 * json_decref); either may be NULL. */
int cbx_store_get_session(struct cbx_store *store, const char *principal, const char *id,
                          char **policy, json_t **options, struct cbx_err *err);

/* Counts the rows of a principal's sessions, with one statement. Sessions that ended by themselves may
 * be among them. */
int cbx_store_count_sessions(struct cbx_store *store, const char *principal, size_t *out,
                             struct cbx_err *err);

/* Removes a session's row; its executions stay. CBX_ENOTFOUND if there is none. */
int cbx_store_remove_session(struct cbx_store *store, const char *id, struct cbx_err *err);

/* A starting execution. Texts are borrowed; `session` is empty for a one-shot. */
struct cbx_stored_execution {
    const char *principal, *id, *session, *created_at, *decision, *language, *code;
    const json_t *request; /* other data needed to submit it again */
    enum cbx_entry_kind kind;
    const char *name; /* path of a file */
    int64_t turn;     /* its place in the order of acceptance */
};

/* Stores an execution as running, before its decision is submitted. Drops results of finished
 * executions until its code fits. CBX_ETOOBIG if the session has too much code, CBX_EBUSY if the
 * store has, or the remaining free space is reserved for the audit log. */
int cbx_store_add_execution(struct cbx_store *store, const struct cbx_stored_execution *execution,
                            struct cbx_err *err);
/* Sets a new decision: the execution was judged again and will run under it. */
int cbx_store_set_decision(struct cbx_store *store, const char *id, const char *decision,
                           struct cbx_err *err);

/* Marks the execution as begun, by the decision in this audit record: it is never submitted
 * again. */
int cbx_store_begin_execution(struct cbx_store *store, const char *id, uint64_t audit_seq,
                              struct cbx_err *err);

/* CBX_EIO, with the reason, if the last write failed, or the file system is too full for more
 * executions. */
int cbx_store_check(struct cbx_store *store, struct cbx_err *err);

/* Returns the maximum bytes of JSON for the results of one execution now; fewer if the file
 * system is full. *reason is the reason, static. */
size_t cbx_store_result_max(struct cbx_store *store, const char **reason);

/* status: "running", "completed", "error", "cancelled"; `results` (may be NULL) is stored as
 * JSON. Drops older results as above; CBX_ETOOBIG if it does not fit. Results of at most
 * short_bytes are always stored. CBX_ESTATE if another replica has taken the execution over: nothing
 * is stored. */
int cbx_store_set_execution(struct cbx_store *store, const char *id, const char *status,
                            const char *completed_at, const json_t *results, struct cbx_err *err);
/* Returns {request_id, session_id, status, created_at, completed_at, results, decision,
 * language, dropped} (new reference). `dropped` is true if results were dropped for newer ones. */
int cbx_store_get_execution(struct cbx_store *store, const char *principal, const char *id,
                            json_t **out, struct cbx_err *err);

/* A key by which a client repeats a request safely, and the object that the request created. */
struct cbx_stored_key {
    char request[CBX_SHA256_HEX + 1]; /* SHA-256 of the request */
    char id[40];                      /* of the session or execution */
    char created_at[32];
};

/* Stores this key of a principal for this request and its new object. Keys from before `oldest`
 * (in the format of created_at) are dropped. CBX_ESTATE if the key exists: *own is replaced by
 * the stored entry. */
int cbx_store_take_key(struct cbx_store *store, const char *principal, const char *key,
                       const char *oldest, struct cbx_stored_key *own, struct cbx_err *err);

/* Reads the stored entry of a key. CBX_ENOTFOUND. */
int cbx_store_find_key(struct cbx_store *store, const char *principal, const char *key,
                       struct cbx_stored_key *out, struct cbx_err *err);

/* Drops the key if it is stored for this id. */
int cbx_store_drop_key(struct cbx_store *store, const char *principal, const char *key,
                       const char *id, struct cbx_err *err);

/* The packages that requirements were resolved to, so that a restart queries no index again.
 * `key` identifies the requirements and all other inputs of the resolution; made_ms is the wall
 * clock. The CBX_STORED_SETS newest stay. Recalling finds a set from `oldest_ms` or later, into
 * `out`, which is the caller's: the file is untrusted and may have any text. CBX_ENOTFOUND;
 * CBX_EBUSY if the remaining free space is reserved for the audit log; CBX_ETOOBIG for `out`. */
enum { CBX_STORED_SETS = 64 };
int cbx_store_remember_set(struct cbx_store *store, const char *key, int64_t made_ms,
                           struct cbx_str packages, struct cbx_err *err);
int cbx_store_recall_set(struct cbx_store *store, const char *key, int64_t oldest_ms,
                         struct cbx_buf *out, int64_t *made_ms, struct cbx_err *err);
int cbx_store_forget_set(struct cbx_store *store, const char *key, struct cbx_err *err);

/* Lists of objects of texts (new references). Sessions: {id, principal, created_at, policy,
 * options}. Unfinished executions: {id, principal, session, decision, language, created_at,
 * code, request, begun: "0" or "1", audit_seq, kind, name, turn}. */
int cbx_store_list_sessions(struct cbx_store *store, const char *principal, json_t **out,
                            struct cbx_err *err);
int cbx_store_list_running(struct cbx_store *store, json_t **out, struct cbx_err *err);

/* A position in a listing: the position of an item, or empty, before the first. */
struct cbx_store_position {
    char created_at[32], key[40];
};

/* Lists in pages (new references): at most `limit` rows after a position, ordered by
 * `created_at` and the key. Sessions as above; executions of a session, while it is open all of
 * them: {id, status, created_at, completed_at, language, decision, code, position}. The key of a
 * session is its id, the key of an execution is in the member `position`. */
int cbx_store_page_sessions(struct cbx_store *store, const char *principal,
                            const struct cbx_store_position *after, int64_t limit, json_t **out,
                            struct cbx_err *err);
int cbx_store_page_history(struct cbx_store *store, const char *principal, const char *session,
                           const struct cbx_store_position *after, int64_t limit, json_t **out,
                           struct cbx_err *err);

/* Lists the entries of a session's past with turns between these two, both excluded, in order,
 * at most `limit`: {kind, language, name, code, turn}. An execution that ended without having
 * begun is no entry. */
int cbx_store_page_past(struct cbx_store *store, const char *session, int64_t after, int64_t before,
                        int64_t limit, json_t **out, struct cbx_err *err);

/* Returns the highest turn of all; 0 if there is none. */
int64_t cbx_store_last_turn(struct cbx_store *store);

#endif
