/* SPDX-License-Identifier: MIT
 * Declarations shared by the files of the store; no other file includes it. */
#ifndef CBX_GATEWAY_FRONT_STORE_STORE_INTERNAL_H
#define CBX_GATEWAY_FRONT_STORE_STORE_INTERNAL_H

#include "gateway/database/database.h"
#include "gateway/front/store/store.h"
#include "policies/permit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

struct cbx_store {
    int dir;      /* the state directory */
    int lock_fd;  /* locked while the store is open: one process owns it */
    int begun_fd; /* ids of runs that began since the database was opened; store_begun.c */
    off_t begun_bytes;
    char failure[CBX_ERR_TEXT_BYTES]; /* error of the last write; empty = success */
    struct cbx_database *database;
    char *replica;   /* of the rows of this gateway; "" if the database is its own */
    bool shared;     /* cbx_store_open_shared */
    bool claimed;    /* cbx_store_claim: another replica may take the rows over */
    bool shares_use; /* cbx_store_share_use: other replicas count the rows */
    pthread_mutex_t lock;
    struct cbx_store_limits limits;
    atomic_uint added; /* number of executions of this process */
    /* Bytes of code and results in total, by session and by principal. Between two counts they
     * only grow: they are never less than the stored bytes. */
    int64_t all_bytes;
    bool counted; /* false if the last count failed: another one comes before a quota is judged */
    json_t *session_bytes, *principal_bytes;
};

/* --- store_sql.c: statements ------------------------------------------------------------------ */

/* With the lock held: stores the result of a write for cbx_store_check, unless it is the
 * refusal of a text; returns it. */
int cbx_store_note(struct cbx_store *store, int failed);

/* Run a statement that writes, with the lock held, or taking it, and store its result for
 * cbx_store_check. *changed, if not NULL, is the number of changed rows. CBX_EIO. */
int cbx_store_execute_locked(struct cbx_store *store, enum cbx_statement statement,
                             const char *const *texts, int count, int64_t *changed,
                             struct cbx_err *err);
int cbx_store_execute(struct cbx_store *store, enum cbx_statement statement,
                      const char *const *texts, int count, int64_t *changed, struct cbx_err *err);

/* --- store.c ---------------------------------------------------------------------------------- */

/* Read all rows into a new array of objects; the first one with the lock held. */
int cbx_store_fetch_locked(struct cbx_store *store, enum cbx_statement statement,
                           const char *const *texts, int count, json_t **out, struct cbx_err *err);
int cbx_store_fetch_rows(struct cbx_store *store, enum cbx_statement statement,
                         const char *const *texts, int count, json_t **out, struct cbx_err *err);

/* Insert a session, by one of the statements with these parameters, and an execution, if fewer than
 * `limit` of its principal wait (NULL = always). *changed is the number of inserted rows. Errors of
 * cbx_store_add_session and cbx_store_add_execution. */
int cbx_store_insert_session(struct cbx_store *store, enum cbx_statement statement,
                             const char *principal, const char *id, const char *created_at,
                             const char *policy, const json_t *options, int64_t *changed,
                             struct cbx_err *err);
int cbx_store_insert_execution(struct cbx_store *store, const struct cbx_stored_execution *e,
                               const char *limit, int64_t *changed, struct cbx_err *err);

/* --- store_begun.c: runs that began ----------------------------------------------------------- */

/* With the lock held: writes the list of begun runs into their rows. CBX_EIO. */
int cbx_store_merge_begun(struct cbx_store *store, struct cbx_err *err);

/* --- store_quota.c: what is kept -------------------------------------------------------------- */

/* At each 256th call: drops the principal's results, and the rows of all principals, that exceed
 * the limits of counts. */
void cbx_store_limit_counts(struct cbx_store *store, const char *principal);

/* The same at once, for all principals; called when the store is opened. */
void cbx_store_limit_all_counts(struct cbx_store *store);

/* With the lock held: adds to the counts in total, of the principal, and of the session, "" =
 * none. */
void cbx_store_count_bytes(struct cbx_store *store, const char *session, const char *principal,
                           int64_t bytes);

/* With the lock held: recomputes the counts. CBX_EIO. */
int cbx_store_count_all(struct cbx_store *store, struct cbx_err *err);

/* With the lock held: drops results until this many more bytes fit the quotas, of the session
 * ("" = none), of the principal and in total. CBX_ETOOBIG if the session's code fills its quota,
 * CBX_EBUSY if open sessions or running executions do, CBX_EIO. */
int cbx_store_make_room(struct cbx_store *store, const char *session, const char *principal,
                        int64_t bytes, struct cbx_err *err);

/* Returns `code` if free space is below the audit log's reserve: the log is on the same file
 * system, and nothing runs without it. */
int cbx_store_check_space(const struct cbx_store *store, int code, struct cbx_err *err);

#endif
