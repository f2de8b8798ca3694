/* SPDX-License-Identifier: MIT
 * Sessions and executions in SQLite. One connection under one lock: every statement here takes
 * microseconds. */
#include "gateway/front/store/store_internal.h"

#include "policies/base/buf.h"
#include "policies/base/text/json.h"

#include <stdlib.h>
#include <string.h>

enum { RESULTS_MAX = 512 * 1024 * 1024 };

/* Rows of the principal in the second parameter; NULL: all rows. */
#define OF_PRINCIPAL "(?2 IS NULL OR principal=?2)"

/* Reads the first `count` columns of the row with this id, malloc'ed; NULL for SQL NULL.
 * CBX_ENOTFOUND without a row. */
static int fetch(struct cbx_store *store, const char *sql, const char *principal, const char *id,
                 char **columns, int count, struct cbx_err *err)
{
    const char *const values[] = { id, principal };
    pthread_mutex_lock(&store->lock);
    sqlite3_stmt *statement = cbx_store_prepare(store, sql, values, 2);
    int step = statement != NULL ? sqlite3_step(statement) : SQLITE_ERROR;
    int failed = 0;
    if (step == SQLITE_DONE) {
        failed = cbx_fail(err, CBX_ENOTFOUND, "there is nothing with id '%.64s'", id);
    } else if (step != SQLITE_ROW) {
        failed = cbx_store_fail(store, err);
    }
    for (int i = 0; i < count && !failed; i++) {
        const char *text = (const char *)sqlite3_column_text(statement, i);
        columns[i] = text != NULL ? strdup(text) : NULL;
    }
    cbx_store_release(statement);
    pthread_mutex_unlock(&store->lock);
    return failed;
}

int cbx_store_add_session(struct cbx_store *store, const char *principal, const char *id,
                          const char *created_at, const char *policy, const json_t *options,
                          struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_STORED_OPTIONS_MAX);
    cbx_json_write(&text, options);
    const char *const values[] = { id, created_at, policy, text.p, principal };
    int failed = cbx_store_check_space(store, CBX_EBUSY, err);
    if (failed) {
        return failed;
    }
    return cbx_store_execute(store,
                             "INSERT INTO sessions(id, created_at, policy, options, "
                             "principal) VALUES(?,?,?,?,?)",
                             values, 5, NULL, err);
}

int cbx_store_set_options(struct cbx_store *store, const char *id, const json_t *options,
                          struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_STORED_OPTIONS_MAX);
    cbx_json_write(&text, options);
    const char *const values[] = { text.p, id };
    return cbx_store_execute(store, "UPDATE sessions SET options=? WHERE id=?", values, 2, NULL,
                             err);
}

int cbx_store_get_session(struct cbx_store *store, const char *principal, const char *id,
                          char **policy, json_t **options, struct cbx_err *err)
{
    char *columns[2] = { NULL, NULL };
    int failed = fetch(store, "SELECT policy, options FROM sessions WHERE id=?1 AND " OF_PRINCIPAL,
                       principal, id, columns, 2, err);
    if (!failed && options != NULL) {
        failed = cbx_json_parse(cbx_str_of(columns[1]), CBX_STORED_OPTIONS_MAX, options, err);
    }
    free(columns[1]);
    if (failed || policy == NULL) {
        free(columns[0]);
        return failed;
    }
    *policy = columns[0];
    return 0;
}

int cbx_store_count_sessions(struct cbx_store *store, const char *principal, size_t *out,
                             struct cbx_err *err)
{
    char *count = NULL;
    int failed = fetch(store, "SELECT count(*) FROM sessions WHERE ?1='' AND " OF_PRINCIPAL,
                       principal, "", &count, 1, err);
    *out = count != NULL ? strtoul(count, NULL, 10) : 0;
    free(count);
    return failed;
}

int cbx_store_remove_session(struct cbx_store *store, const char *id, struct cbx_err *err)
{
    int changed = 0;
    int failed = cbx_store_execute(store, "DELETE FROM sessions WHERE id=?", &id, 1, &changed, err);
    if (failed) {
        return failed;
    }
    if (changed == 0) {
        return cbx_fail(err, CBX_ENOTFOUND, "there is no session '%.64s'", id);
    }
    return 0;
}

int cbx_store_add_execution(struct cbx_store *store, const struct cbx_stored_execution *e,
                            struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) request;
    cbx_buf_init(&request, CBX_STORED_OPTIONS_MAX);
    if (e->request == NULL || cbx_json_write(&request, e->request) != 0) {
        cbx_buf_reset(&request);
        cbx_buf_add_cstr(&request, "{}");
    }
    char kind[8], turn[24];
    snprintf(kind, sizeof(kind), "%d", e->kind != 0 ? (int)e->kind : CBX_ENTRY_CELL);
    snprintf(turn, sizeof(turn), "%lld", (long long)e->turn);
    const char *const values[] = { e->id,
                                   e->session,
                                   e->created_at,
                                   e->decision,
                                   e->language,
                                   e->code,
                                   request.p,
                                   kind,
                                   e->name != NULL ? e->name : "",
                                   turn,
                                   e->principal != NULL ? e->principal : "" };
    int failed = cbx_store_check_space(store, CBX_EBUSY, err);
    if (failed) {
        return failed;
    }
    cbx_store_limit_counts(store, values[10]);
    pthread_mutex_lock(&store->lock);
    failed = cbx_store_make_room(store, e->session, values[10], (int64_t)strlen(e->code), err);
    if (!failed) {
        failed = cbx_store_execute_locked(
            store,
            "INSERT INTO executions(id, session, status, created_at, decision, language, "
            "code, request, begun, kind, name, turn, principal) "
            "VALUES(?,?,'running',?,?,?,?,?,0,"
            "CAST(? AS INTEGER),?,CAST(? AS INTEGER),?)",
            values, 11, NULL, err);
    }
    if (!failed) {
        cbx_store_count_bytes(store, e->session, values[10], (int64_t)strlen(e->code));
    }
    pthread_mutex_unlock(&store->lock);
    return failed;
}

int cbx_store_set_decision(struct cbx_store *store, const char *id, const char *decision,
                           struct cbx_err *err)
{
    const char *const values[] = { decision, id };
    return cbx_store_execute(store, "UPDATE executions SET decision=?, begun=0 WHERE id=?", values,
                             2, NULL, err);
}

/* With the lock: frees space for the results of an execution, and updates its session's count.
 * No data of the execution itself is dropped, because it has not ended. */
static int make_room_for(struct cbx_store *store, const char *id, int64_t bytes,
                         struct cbx_err *err)
{
    char session[65] = "", principal[CBX_NAME_MAX + 1] = "";
    sqlite3_stmt *row =
        cbx_store_prepare(store, "SELECT session, principal FROM executions WHERE id=?", &id, 1);
    if (row != NULL && sqlite3_step(row) == SQLITE_ROW) {
        snprintf(session, sizeof(session), "%s", (const char *)sqlite3_column_text(row, 0));
        snprintf(principal, sizeof(principal), "%s", (const char *)sqlite3_column_text(row, 1));
    }
    cbx_store_release(row);
    int failed = 0;
    if (bytes > store->limits.short_bytes) {
        failed = cbx_store_make_room(store, session, principal, bytes, err);
    }
    if (!failed) {
        cbx_store_count_bytes(store, session, principal, bytes);
    }
    return failed;
}

int cbx_store_set_execution(struct cbx_store *store, const char *id, const char *status,
                            const char *completed_at, const json_t *results, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    size_t most = (size_t)store->limits.execution_bytes;
    cbx_buf_init(&text, most < RESULTS_MAX ? most : RESULTS_MAX);
    if (results != NULL && cbx_json_write(&text, results) != 0) {
        return cbx_fail(err, CBX_ETOOBIG,
                        "the results have more than the %lld bytes of one execution",
                        (long long)most);
    }
    const char *const values[] = { status, completed_at, results != NULL ? text.p : NULL, id };
    pthread_mutex_lock(&store->lock);
    int failed = 0;
    if (results != NULL) {
        failed = make_room_for(store, id, (int64_t)text.len, err);
    }
    if (!failed) {
        failed = cbx_store_execute_locked(
            store, "UPDATE executions SET status=?, completed_at=?, results=? WHERE id=?", values,
            4, NULL, err);
    }
    pthread_mutex_unlock(&store->lock);
    return failed;
}

int cbx_store_get_execution(struct cbx_store *store, const char *principal, const char *id,
                            json_t **out, struct cbx_err *err)
{
    enum { COLUMNS = 9 };
    char *c[COLUMNS] = { NULL };
    int failed = fetch(store,
                       "SELECT id, session, status, created_at, completed_at, results, decision, "
                       "language, dropped FROM executions WHERE id=?1 AND " OF_PRINCIPAL,
                       principal, id, c, COLUMNS, err);
    json_t *results = NULL;
    if (!failed && c[5] != NULL) {
        failed = cbx_json_parse(cbx_str_of(c[5]), RESULTS_MAX, &results, err);
    }
    if (!failed) {
        *out = json_pack("{s:s,s:s,s:s,s:s,s:s?,s:o?,s:s,s:s,s:b}", "request_id", c[0],
                         "session_id", c[1], "status", c[2], "created_at", c[3], "completed_at",
                         c[4], "results", results, "decision", c[6], "language", c[7], "dropped",
                         strcmp(c[8], "0") != 0);
    }
    for (int i = 0; i < COLUMNS; i++) {
        free(c[i]);
    }
    return failed;
}

/* Reads all rows, each as an object of its texts by the names of its columns. */
static int fetch_rows(struct cbx_store *store, const char *sql, const char *const *texts, int count,
                      json_t **out, struct cbx_err *err)
{
    json_t *rows = json_array();
    pthread_mutex_lock(&store->lock);
    sqlite3_stmt *statement = cbx_store_prepare(store, sql, texts, count);
    int step = SQLITE_ERROR;
    while (statement != NULL && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        json_t *row = json_object();
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            const char *text = (const char *)sqlite3_column_text(statement, i);
            json_object_set_new(row, sqlite3_column_name(statement, i),
                                text != NULL ? cbx_json_text(cbx_str_of(text)) : json_null());
        }
        json_array_append_new(rows, row);
    }
    int failed = 0;
    if (step != SQLITE_DONE) {
        failed = cbx_store_fail(store, err);
    }
    cbx_store_release(statement);
    pthread_mutex_unlock(&store->lock);
    if (failed) {
        json_decref(rows);
        return failed;
    }
    *out = rows;
    return 0;
}

int cbx_store_list_sessions(struct cbx_store *store, const char *principal, json_t **out,
                            struct cbx_err *err)
{
    const char *const values[] = { NULL, principal };
    return fetch_rows(store,
                      "SELECT id, principal, created_at, policy, options FROM sessions "
                      "WHERE " OF_PRINCIPAL " ORDER BY created_at",
                      values, 2, out, err);
}

int cbx_store_list_running(struct cbx_store *store, json_t **out, struct cbx_err *err)
{
    return fetch_rows(store,
                      "SELECT id, principal, session, decision, language, created_at, code, "
                      "request, begun, audit_seq, "
                      "kind, name, turn FROM executions WHERE status IN ('initializing','running') "
                      "ORDER BY turn",
                      NULL, 0, out, err);
}

int cbx_store_page_sessions(struct cbx_store *store, const char *principal,
                            const struct cbx_store_position *after, int64_t limit, json_t **out,
                            struct cbx_err *err)
{
    char count[24];
    snprintf(count, sizeof(count), "%lld", (long long)limit);
    const char *const values[] = { after->created_at, principal, after->key, count };
    return fetch_rows(store,
                      "SELECT id, principal, created_at, policy, options FROM sessions "
                      "WHERE (created_at, id) > (?1, ?3) AND " OF_PRINCIPAL
                      " ORDER BY created_at, id LIMIT CAST(?4 AS INTEGER)",
                      values, 4, out, err);
}

int cbx_store_page_history(struct cbx_store *store, const char *principal, const char *session,
                           const struct cbx_store_position *after, int64_t limit, json_t **out,
                           struct cbx_err *err)
{
    char count[24];
    snprintf(count, sizeof(count), "%lld", (long long)limit);
    const char *const values[] = { session, principal, after->created_at, after->key, count };
    return fetch_rows(store,
                      "SELECT id, status, created_at, completed_at, language, decision, code, "
                      "rowid AS position FROM executions "
                      "WHERE session=?1 AND " OF_PRINCIPAL " AND kind=1 "
                      "AND (created_at, rowid) > (?3, CAST(?4 AS INTEGER)) "
                      "ORDER BY created_at, rowid LIMIT CAST(?5 AS INTEGER)",
                      values, 5, out, err);
}

int cbx_store_page_past(struct cbx_store *store, const char *session, int64_t after, int64_t before,
                        int64_t limit, json_t **out, struct cbx_err *err)
{
    char texts[3][24];
    snprintf(texts[0], sizeof(texts[0]), "%lld", (long long)after);
    snprintf(texts[1], sizeof(texts[1]), "%lld", (long long)before);
    snprintf(texts[2], sizeof(texts[2]), "%lld", (long long)limit);
    const char *const values[] = { session, texts[0], texts[1], texts[2] };
    pthread_mutex_lock(&store->lock);
    int failed = 0;
    if (store->begun_bytes > 0) {
        failed = cbx_store_merge_begun(store, err);
    }
    pthread_mutex_unlock(&store->lock);
    if (failed) {
        return failed;
    }
    return fetch_rows(store,
                      "SELECT kind, language, name, code, turn FROM executions "
                      "WHERE session=? AND turn > CAST(? AS INTEGER) "
                      "AND turn < CAST(? AS INTEGER) "
                      "AND (begun=1 OR completed_at IS NULL) "
                      "ORDER BY turn LIMIT CAST(? AS INTEGER)",
                      values, 4, out, err);
}

int64_t cbx_store_last_turn(struct cbx_store *store)
{
    CBX_AUTO_JSON rows = NULL;
    if (fetch_rows(store, "SELECT max(turn) AS turn FROM executions", NULL, 0, &rows, NULL) != 0) {
        return 0;
    }
    const char *turn = json_string_value(json_object_get(json_array_get(rows, 0), "turn"));
    return turn != NULL ? strtoll(turn, NULL, 10) : 0;
}

/* --- keys of clients -------------------------------------------------------------------------- */

static int read_key(struct cbx_store *store, const char *principal, const char *key,
                    struct cbx_stored_key *out, struct cbx_err *err)
{
    char *c[3] = { NULL, NULL, NULL };
    int failed =
        fetch(store, "SELECT request, id, created_at FROM keys WHERE key=?1 AND " OF_PRINCIPAL,
              principal, key, c, 3, err);
    if (!failed) {
        snprintf(out->request, sizeof(out->request), "%s", c[0]);
        snprintf(out->id, sizeof(out->id), "%s", c[1]);
        snprintf(out->created_at, sizeof(out->created_at), "%s", c[2]);
    }
    for (int i = 0; i < 3; i++) {
        free(c[i]);
    }
    return failed;
}

int cbx_store_take_key(struct cbx_store *store, const char *principal, const char *key,
                       const char *oldest, struct cbx_stored_key *own, struct cbx_err *err)
{
    const char *const values[] = { principal, key, own->request, own->id, own->created_at };
    int changed = 0;
    int failed =
        cbx_store_execute(store, "DELETE FROM keys WHERE created_at < ?", &oldest, 1, NULL, err);
    if (failed) {
        return failed;
    }
    failed = cbx_store_execute(store, "INSERT OR IGNORE INTO keys VALUES(?,?,?,?,?)", values, 5,
                               &changed, err);
    if (failed || changed > 0) {
        return failed;
    }
    failed = read_key(store, principal, key, own, err);
    if (failed) {
        return failed;
    }
    return cbx_fail(err, CBX_ESTATE, "the key was used before");
}

int cbx_store_drop_key(struct cbx_store *store, const char *principal, const char *key,
                       const char *id, struct cbx_err *err)
{
    const char *const values[] = { principal, key, id };
    return cbx_store_execute(store, "DELETE FROM keys WHERE principal=? AND key=? AND id=?", values,
                             3, NULL, err);
}

/* --- what was resolved ------------------------------------------------------------------------ */

int cbx_store_remember_set(struct cbx_store *store, const char *key, int64_t made_ms,
                           struct cbx_str packages, struct cbx_err *err)
{
    char made[24];
    CBX_AUTO_MEM char *text = strndup(packages.p, packages.len);
    snprintf(made, sizeof(made), "%lld", (long long)made_ms);
    const char *const values[] = { key, text, made };
    int failed = cbx_store_check_space(store, CBX_EBUSY, err);
    if (failed) {
        return failed;
    }
    failed = cbx_store_execute(store,
                               "INSERT OR REPLACE INTO sets(key, packages, made_ms) "
                               "VALUES(?,?,CAST(? AS INTEGER))",
                               values, 3, NULL, err);
    if (failed) {
        return failed;
    }
    _Static_assert(CBX_STORED_SETS == 64, "the statement has the same number");
    return cbx_store_execute(store,
                             "DELETE FROM sets WHERE key NOT IN (SELECT key FROM sets ORDER BY "
                             "made_ms DESC LIMIT 64)",
                             NULL, 0, NULL, err);
}

int cbx_store_recall_set(struct cbx_store *store, const char *key, int64_t oldest_ms,
                         struct cbx_buf *out, int64_t *made_ms, struct cbx_err *err)
{
    char oldest[24], *columns[2] = { NULL, NULL };
    snprintf(oldest, sizeof(oldest), "%lld", (long long)oldest_ms);
    int failed = fetch(store,
                       "SELECT packages, made_ms FROM sets WHERE key=?1 AND made_ms>=CAST(?2 AS "
                       "INTEGER)",
                       oldest, key, columns, 2, err);
    if (!failed) {
        if (cbx_buf_add_cstr(out, columns[0]) != 0) {
            failed = cbx_fail(err, CBX_ETOOBIG, "what is stored of packages is too large");
        }
        *made_ms = strtoll(columns[1], NULL, 10);
    }
    free(columns[0]);
    free(columns[1]);
    return failed;
}

int cbx_store_forget_set(struct cbx_store *store, const char *key, struct cbx_err *err)
{
    return cbx_store_execute(store, "DELETE FROM sets WHERE key=?", &key, 1, NULL, err);
}
