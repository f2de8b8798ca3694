/* SPDX-License-Identifier: MIT
 * Quotas of the store: the dropped data, and the time of dropping it. */
#include "gateway/front/store/store_internal.h"

#include "policies/base/text/json.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

/* Drops the results of a principal that are not among its newest: those after the last kept one. */
static void limit_results(struct cbx_store *store, const char *principal)
{
    char last[24];
    const char *const values[] = { store->replica, principal, last };
    snprintf(last, sizeof(last), "%lld", (long long)store->limits.executions - 1);
    cbx_store_execute(store, CBX_SQL_drop_results, values, 3, NULL, NULL);
}

static void limit_known(struct cbx_store *store)
{
    char known[24];
    const char *const values[] = { store->replica, known };
    snprintf(known, sizeof(known), "%lld", (long long)store->limits.known);
    cbx_store_execute(store, CBX_SQL_forget_executions, values, 2, NULL, NULL);
}

void cbx_store_limit_counts(struct cbx_store *store, const char *principal)
{
    enum { EVERY = 256 };
    if (atomic_fetch_add(&store->added, 1) % EVERY == 0) {
        limit_results(store, principal);
        limit_known(store);
    }
}

void cbx_store_limit_all_counts(struct cbx_store *store)
{
    const char *principal;
    const json_t *bytes;
    json_object_foreach(store->principal_bytes, principal, bytes)
    {
        limit_results(store, principal);
    }
    limit_known(store);
}

/* --- counts ----------------------------------------------------------------------------------- */

/* The rows of a quota: of a session, of a principal, or, with neither, all. */
struct share {
    const char *session, *principal;
};
static const struct share all = { NULL, NULL };

static int64_t bytes_of(const struct cbx_store *store, const struct share *share)
{
    const json_t *counts = share->session != NULL ? store->session_bytes : store->principal_bytes;
    const char *name = share->session != NULL ? share->session : share->principal;
    return name == NULL ? store->all_bytes
                        : (int64_t)json_integer_value(json_object_get(counts, name));
}

static void add_count(json_t *counts, const char *name, int64_t bytes)
{
    json_int_t before = json_integer_value(json_object_get(counts, name));
    json_object_set_new(counts, name, json_integer(before + (json_int_t)bytes));
}

/* One-shots have no session. */
void cbx_store_count_bytes(struct cbx_store *store, const char *session, const char *principal,
                           int64_t bytes)
{
    store->all_bytes += bytes;
    add_count(store->principal_bytes, principal, bytes);
    if (session[0] != '\0') {
        add_count(store->session_bytes, session, bytes);
    }
}

/* With the lock: recomputes the counts. */
int cbx_store_count_all(struct cbx_store *store, struct cbx_err *err)
{
    const char *replica = store->replica;
    CBX_AUTO(rows) rows = NULL;
    store->counted = false;
    int failed = cbx_database_query(store->database, CBX_SQL_count_bytes, &replica, 1, &rows, err);
    if (failed) {
        return failed;
    }
    store->all_bytes = 0;
    json_object_clear(store->session_bytes);
    json_object_clear(store->principal_bytes);
    while (cbx_rows_next(rows)) {
        cbx_store_count_bytes(store, cbx_rows_text(rows, 0), cbx_rows_text(rows, 1),
                              cbx_rows_number(rows, 2));
    }
    failed = cbx_rows_check(rows, err);
    store->counted = !failed;
    return failed;
}

/* --- dropping --------------------------------------------------------------------------------- */

/* The droppable data of one row. */
struct droppable {
    int64_t id, bytes;
};
enum { BATCH = 64 };

/* With the lock: finds the oldest rows of the share with droppable data. */
static int find_droppable(struct cbx_store *store, const struct share *share,
                          struct droppable out[BATCH], int *count, struct cbx_err *err)
{
    const char *const values[] = { store->replica, share->session, share->principal };
    CBX_AUTO(rows) rows = NULL;
    int failed = cbx_database_query(store->database, CBX_SQL_find_droppable, values, 3, &rows, err);
    if (failed) {
        return failed;
    }
    int found = 0;
    while (found < BATCH && cbx_rows_next(rows)) {
        out[found].id = cbx_rows_number(rows, 0);
        out[found++].bytes = cbx_rows_number(rows, 1);
    }
    failed = cbx_rows_check(rows, err);
    if (!failed) {
        *count = found;
    }
    return failed;
}

/* With the lock, in a transaction: drops the oldest rows of the share until `*bytes`, which are
 * counted down, are at most `most`, or no droppable data is left. Sets *dropped to the bytes. */
static int drop_oldest(struct cbx_store *store, const struct share *share, int64_t bytes,
                       int64_t most, int64_t *dropped, struct cbx_err *err)
{
    struct droppable rows[BATCH];
    int count = BATCH, failed = 0;
    *dropped = 0;
    while (!failed && bytes - *dropped > most && count > 0) {
        failed = find_droppable(store, share, rows, &count, err);
        for (int i = 0; i < count && !failed && bytes - *dropped > most; i++) {
            char id[24];
            const char *const values[] = { id };
            snprintf(id, sizeof(id), "%lld", (long long)rows[i].id);
            failed = cbx_store_execute_locked(store, CBX_SQL_drop_one, values, 1, NULL, err);
            *dropped += rows[i].bytes;
        }
    }
    return failed;
}

/* With the lock: finds the principal with most droppable data, "" if there is none, and the
 * difference to the next principal. */
static int find_largest(struct cbx_store *store, char out[CBX_NAME_MAX + 1], int64_t *more,
                        struct cbx_err *err)
{
    const char *const values[] = { store->replica, NULL, NULL };
    CBX_AUTO(rows) rows = NULL;
    int failed = cbx_database_query(store->database, CBX_SQL_find_largest, values, 3, &rows, err);
    if (failed) {
        return failed;
    }
    out[0] = '\0';
    *more = 0;
    for (int i = 0; cbx_rows_next(rows); i++) {
        int64_t bytes = cbx_rows_number(rows, 1);
        if (i == 0) {
            snprintf(out, CBX_NAME_MAX + 1, "%s", cbx_rows_text(rows, 0));
        }
        *more = i == 0 ? bytes : *more - bytes;
    }
    return cbx_rows_check(rows, err);
}

/* With the lock, in a transaction: drops the oldest rows of the principal with most data, until
 * another one has as much, and so on. So no principal's results are evicted for a principal that
 * stores more. */
static int drop_largest(struct cbx_store *store, int64_t most, struct cbx_err *err)
{
    int64_t left = store->all_bytes, dropped = 1;
    int failed = 0;
    while (!failed && left > most && dropped > 0) {
        char principal[CBX_NAME_MAX + 1];
        const struct share share = { .principal = principal };
        int64_t more = 0;
        dropped = 0;
        failed = find_largest(store, principal, &more, err);
        if (!failed) {
            int64_t excess = left - most < more ? left - most : more;
            failed = drop_oldest(store, &share, excess > 0 ? excess : 1, 0, &dropped, err);
        }
        left -= dropped;
    }
    return failed;
}

/* With the lock: drops data until `bytes` more fit below `quota`. The counts may be too high:
 * they are recomputed before any data is dropped. More is dropped than needed, so that a full
 * store does not recount with each execution. CBX_ETOOBIG if the data that cannot be dropped is
 * too much. */
static int make_room_below(struct cbx_store *store, const struct share *share, int64_t quota,
                           int64_t bytes, struct cbx_err *err)
{
    if (bytes_of(store, share) + bytes <= quota) {
        return 0;
    }
    int failed = cbx_store_count_all(store, err);
    if (failed || bytes_of(store, share) + bytes <= quota) {
        return failed;
    }
    int64_t most = quota - quota / 8 - bytes, dropped;
    most = most > 0 ? most : 0;
    failed = cbx_database_begin(store->database, err);
    if (!failed && share->session == NULL && share->principal == NULL) {
        failed = drop_largest(store, most, err);
    } else if (!failed) {
        failed = drop_oldest(store, share, bytes_of(store, share), most, &dropped, err);
    }
    if (!failed) {
        failed = cbx_store_count_all(store, err);
    }
    if (!failed) {
        failed = cbx_database_commit(store->database, err);
    }
    if (failed) {
        cbx_database_rollback(store->database);
        cbx_store_count_all(store, NULL);
        return failed;
    }
    return bytes_of(store, share) + bytes <= quota ? 0 : CBX_ETOOBIG;
}

/* Call it with the lock. */
int cbx_store_make_room(struct cbx_store *store, const char *session, const char *principal,
                        int64_t bytes, struct cbx_err *err)
{
    enum { MIB = 1024 * 1024 };
    const struct share of_session = { .session = session },
                       of_principal = { .principal = principal };
    int failed = 0;
    if (!store->counted) {
        failed = cbx_store_count_all(store, err);
    }
    if (!failed && session[0] != '\0') {
        failed = make_room_below(store, &of_session, store->limits.session_bytes, bytes, err);
    }
    if (failed == CBX_ETOOBIG) {
        return cbx_fail(
            err, CBX_ETOOBIG,
            "the code of the session, which cannot be dropped, leaves no room below %lld "
            "MiB; open a new session",
            (long long)(store->limits.session_bytes / MIB));
    }
    if (!failed) {
        failed = make_room_below(store, &of_principal, store->limits.principal_bytes, bytes, err);
    }
    if (failed == CBX_ETOOBIG) {
        return cbx_fail(err, CBX_EBUSY,
                        "the code of your open sessions and what runs leave no room below %lld "
                        "MiB; close sessions, or try again later",
                        (long long)(store->limits.principal_bytes / MIB));
    }
    if (!failed) {
        failed = make_room_below(store, &all, store->limits.store_bytes, bytes, err);
    }
    if (failed != CBX_ETOOBIG) {
        return failed;
    }
    return cbx_fail(err, CBX_EBUSY,
                    "the code of open sessions and what runs leave no room below %lld MiB; "
                    "close sessions, or try again later",
                    (long long)(store->limits.store_bytes / MIB));
}

int cbx_store_check_space(const struct cbx_store *store, int code, struct cbx_err *err)
{
    enum { MIB = 1024 * 1024 };
    struct statvfs status;
    if (store->dir < 0) { /* in memory */
        return 0;
    }
    if (fstatvfs(store->dir, &status) < 0) {
        return cbx_fail(err, code, "the file system of the state directory: %s", strerror(errno));
    }
    int64_t bytes = (int64_t)status.f_bavail * (int64_t)status.f_frsize;
    if (bytes < store->limits.free_bytes) {
        return cbx_fail(err, code,
                        "the file system of the state directory has %lld MiB free, and the last "
                        "%lld MiB are left to the audit log; free some space",
                        (long long)(bytes / MIB), (long long)(store->limits.free_bytes / MIB));
    }
    return 0;
}

size_t cbx_store_result_max(struct cbx_store *store, const char **reason)
{
    bool full = cbx_store_check_space(store, CBX_EIO, NULL) != 0;
    *reason = full ? "the file system of the state directory is full"
                   : "the results of one execution may not be larger in the store";
    return (size_t)(full ? store->limits.short_bytes : store->limits.execution_bytes);
}
