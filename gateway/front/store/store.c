/* SPDX-License-Identifier: MIT
 * Sessions and executions. One connection under one lock: a statement takes microseconds in SQLite,
 * and a round trip in PostgreSQL, at most its deadline. */
#include "gateway/front/store/store_internal.h"

#include "policies/base/buf.h"
#include "policies/base/text/json.h"

#include <stdlib.h>
#include <string.h>

enum { RESULTS_MAX = 512 * 1024 * 1024 };

/* With the lock: copies the first `count` columns of the only row. */
static int copy_row(struct cbx_rows *rows, const char *id, char **columns, int count,
                    struct cbx_err *err)
{
    if (!cbx_rows_next(rows)) {
        int failed = cbx_rows_check(rows, err);
        if (failed) {
            return failed;
        }
        return cbx_fail(err, CBX_ENOTFOUND, "there is nothing with id '%.64s'", id);
    }
    for (int i = 0; i < count; i++) {
        const char *text = cbx_rows_text(rows, i);
        columns[i] = text != NULL ? strdup(text) : NULL;
    }
    return 0;
}

/* Reads the first `count` columns of the row whose id is the first of two texts, malloc'ed; NULL
 * for SQL NULL. CBX_ENOTFOUND without a row. */
static int fetch(struct cbx_store *store, enum cbx_statement statement, const char *const texts[2],
                 char **columns, int count, struct cbx_err *err)
{
    struct cbx_rows *rows = NULL;
    pthread_mutex_lock(&store->lock);
    int failed = cbx_database_query(store->database, statement, texts, 2, &rows, err);
    if (!failed) {
        failed = copy_row(rows, texts[0], columns, count, err);
    }
    cbx_rows_free(rows);
    pthread_mutex_unlock(&store->lock);
    return failed;
}

/* With the lock: copies all rows, each as an object of its texts by the names of its columns. */
static int copy_rows(struct cbx_rows *rows, json_t *out, struct cbx_err *err)
{
    while (cbx_rows_next(rows)) {
        json_t *row = json_object();
        for (int i = 0; i < cbx_rows_columns(rows); i++) {
            const char *text = cbx_rows_text(rows, i);
            json_object_set_new(row, cbx_rows_name(rows, i),
                                text != NULL ? cbx_json_text(cbx_str_of(text)) : json_null());
        }
        json_array_append_new(out, row);
    }
    return cbx_rows_check(rows, err);
}

int cbx_store_fetch_locked(struct cbx_store *store, enum cbx_statement statement,
                           const char *const *texts, int count, json_t **out, struct cbx_err *err)
{
    CBX_AUTO_JSON array = json_array();
    struct cbx_rows *rows = NULL;
    int failed = cbx_database_query(store->database, statement, texts, count, &rows, err);
    if (!failed) {
        failed = copy_rows(rows, array, err);
    }
    cbx_rows_free(rows);
    if (!failed) {
        *out = cbx_steal(&array);
    }
    return failed;
}

int cbx_store_fetch_rows(struct cbx_store *store, enum cbx_statement statement,
                         const char *const *texts, int count, json_t **out, struct cbx_err *err)
{
    pthread_mutex_lock(&store->lock);
    int failed = cbx_store_fetch_locked(store, statement, texts, count, out, err);
    pthread_mutex_unlock(&store->lock);
    return failed;
}

/* Reads a number of the first row; 0 for SQL NULL. */
static int64_t read_number(const json_t *rows, const char *column)
{
    const char *text = json_string_value(json_object_get(json_array_get(rows, 0), column));
    return text != NULL ? strtoll(text, NULL, 10) : 0;
}

int cbx_store_insert_session(struct cbx_store *store, enum cbx_statement statement,
                             const char *principal, const char *id, const char *created_at,
                             const char *policy, const json_t *options, int64_t *changed,
                             struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_STORED_OPTIONS_MAX);
    cbx_json_write(&text, options);
    const char *const values[] = { id, created_at, policy, text.p, principal, store->replica };
    int failed = cbx_store_check_space(store, CBX_EBUSY, err);
    if (failed) {
        return failed;
    }
    return cbx_store_execute(store, statement, values, 6, changed, err);
}

int cbx_store_add_session(struct cbx_store *store, const char *principal, const char *id,
                          const char *created_at, const char *policy, const json_t *options,
                          struct cbx_err *err)
{
    return cbx_store_insert_session(store, CBX_SQL_add_session, principal, id, created_at, policy,
                                    options, NULL, err);
}

int cbx_store_set_options(struct cbx_store *store, const char *id, const json_t *options,
                          struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_STORED_OPTIONS_MAX);
    cbx_json_write(&text, options);
    const char *const values[] = { text.p, id, store->replica };
    return cbx_store_execute(store, CBX_SQL_set_options, values, 3, NULL, err);
}

int cbx_store_get_session(struct cbx_store *store, const char *principal, const char *id,
                          char **policy, json_t **options, struct cbx_err *err)
{
    const char *const values[] = { id, principal };
    char *columns[2] = { NULL, NULL };
    int failed = fetch(store, CBX_SQL_get_session, values, columns, 2, err);
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
    const char *const values[] = { store->replica, principal };
    CBX_AUTO_JSON rows = NULL;
    int failed = cbx_store_fetch_rows(store, CBX_SQL_count_sessions, values, 2, &rows, err);
    *out = failed ? 0 : (size_t)read_number(rows, "count");
    return failed;
}

int cbx_store_remove_session(struct cbx_store *store, const char *id, struct cbx_err *err)
{
    int64_t changed = 0;
    const char *const values[] = { id, store->replica };
    int failed = cbx_store_execute(store, CBX_SQL_remove_session, values, 2, &changed, err);
    if (failed) {
        return failed;
    }
    if (changed == 0) {
        return cbx_fail(err, CBX_ENOTFOUND, "there is no session '%.64s'", id);
    }
    return 0;
}

int cbx_store_insert_execution(struct cbx_store *store, const struct cbx_stored_execution *e,
                               const char *limit, int64_t *changed, struct cbx_err *err)
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
                                   e->principal != NULL ? e->principal : "",
                                   store->replica,
                                   limit };
    enum cbx_statement statement = limit != NULL ? CBX_SQL_add_waiting : CBX_SQL_add_execution;
    int count = limit != NULL ? 13 : 12;
    int failed = cbx_store_check_space(store, CBX_EBUSY, err);
    if (failed) {
        return failed;
    }
    cbx_store_limit_counts(store, values[10]);
    pthread_mutex_lock(&store->lock);
    failed = cbx_store_make_room(store, e->session, values[10], (int64_t)strlen(e->code), err);
    if (!failed) { /* counted first: a write whose reply is lost may have taken effect */
        cbx_store_count_bytes(store, e->session, values[10], (int64_t)strlen(e->code));
        failed = cbx_store_execute_locked(store, statement, values, count, changed, err);
    }
    pthread_mutex_unlock(&store->lock);
    return failed;
}

int cbx_store_add_execution(struct cbx_store *store, const struct cbx_stored_execution *e,
                            struct cbx_err *err)
{
    return cbx_store_insert_execution(store, e, NULL, NULL, err);
}

int cbx_store_set_decision(struct cbx_store *store, const char *id, const char *decision,
                           struct cbx_err *err)
{
    const char *const values[] = { decision, id, store->replica };
    return cbx_store_execute(store, CBX_SQL_set_decision, values, 3, NULL, err);
}

/* With the lock: reads the session and the principal of an execution; "" without a row. */
static int read_owner(struct cbx_store *store, const char *id, char session[65],
                      char principal[CBX_NAME_MAX + 1], struct cbx_err *err)
{
    CBX_AUTO(rows) rows = NULL;
    int failed = cbx_database_query(store->database, CBX_SQL_get_owner, &id, 1, &rows, err);
    if (failed) {
        return failed;
    }
    if (cbx_rows_next(rows)) {
        snprintf(session, 65, "%s", cbx_rows_text(rows, 0));
        snprintf(principal, CBX_NAME_MAX + 1, "%s", cbx_rows_text(rows, 1));
    }
    return cbx_rows_check(rows, err);
}

/* With the lock: frees space for the results of an execution, and updates its session's count.
 * No data of the execution itself is dropped, because it has not ended. */
static int make_room_for(struct cbx_store *store, const char *id, int64_t bytes,
                         struct cbx_err *err)
{
    char session[65] = "", principal[CBX_NAME_MAX + 1] = "";
    int failed = read_owner(store, id, session, principal, err);
    if (failed) {
        return cbx_store_note(store, failed);
    }
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
    const char *const values[] = { status, completed_at, results != NULL ? text.p : NULL, id,
                                   store->replica };
    int64_t changed = 0;
    pthread_mutex_lock(&store->lock);
    int failed = 0;
    if (results != NULL) {
        failed = make_room_for(store, id, (int64_t)text.len, err);
    }
    if (!failed) {
        failed = cbx_store_execute_locked(store, CBX_SQL_set_execution, values, 5, &changed, err);
    }
    pthread_mutex_unlock(&store->lock);
    if (!failed && changed == 0 && store->shared) {
        return cbx_fail(err, CBX_ESTATE,
                        "another replica has execution '%.64s' now, or it was removed", id);
    }
    return failed;
}

int cbx_store_get_execution(struct cbx_store *store, const char *principal, const char *id,
                            json_t **out, struct cbx_err *err)
{
    enum { COLUMNS = 9 };
    const char *const values[] = { id, principal };
    char *c[COLUMNS] = { NULL };
    int failed = fetch(store, CBX_SQL_get_execution, values, c, COLUMNS, err);
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

int cbx_store_list_sessions(struct cbx_store *store, const char *principal, json_t **out,
                            struct cbx_err *err)
{
    const char *const values[] = { store->replica, principal };
    return cbx_store_fetch_rows(store, CBX_SQL_list_sessions, values, 2, out, err);
}

int cbx_store_list_running(struct cbx_store *store, json_t **out, struct cbx_err *err)
{
    const char *replica = store->replica;
    return cbx_store_fetch_rows(store, CBX_SQL_list_running, &replica, 1, out, err);
}

int cbx_store_page_sessions(struct cbx_store *store, const char *principal,
                            const struct cbx_store_position *after, int64_t limit, json_t **out,
                            struct cbx_err *err)
{
    char count[24];
    snprintf(count, sizeof(count), "%lld", (long long)limit);
    const char *const values[] = { store->replica, after->created_at, after->key, principal,
                                   count };
    return cbx_store_fetch_rows(store, CBX_SQL_page_sessions, values, 5, out, err);
}

int cbx_store_page_history(struct cbx_store *store, const char *principal, const char *session,
                           const struct cbx_store_position *after, int64_t limit, json_t **out,
                           struct cbx_err *err)
{
    char count[24], row[24];
    snprintf(count, sizeof(count), "%lld", (long long)limit);
    snprintf(row, sizeof(row), "%lld", strtoll(after->key, NULL, 10));
    const char *const values[] = { session, principal, after->created_at, row, count };
    return cbx_store_fetch_rows(store, CBX_SQL_page_history, values, 5, out, err);
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
    return cbx_store_fetch_rows(store, CBX_SQL_page_past, values, 4, out, err);
}

int64_t cbx_store_last_turn(struct cbx_store *store)
{
    CBX_AUTO_JSON rows = NULL;
    if (cbx_store_fetch_rows(store, CBX_SQL_last_turn, NULL, 0, &rows, NULL) != 0) {
        return 0;
    }
    return read_number(rows, "turn");
}

/* --- keys of clients -------------------------------------------------------------------------- */

int cbx_store_find_key(struct cbx_store *store, const char *principal, const char *key,
                       struct cbx_stored_key *out, struct cbx_err *err)
{
    const char *const values[] = { key, principal };
    char *c[3] = { NULL, NULL, NULL };
    int failed = fetch(store, CBX_SQL_get_key, values, c, 3, err);
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
    int64_t changed = 0;
    int failed = cbx_store_execute(store, CBX_SQL_forget_keys, &oldest, 1, NULL, err);
    if (failed) {
        return failed;
    }
    failed = cbx_store_execute(store, CBX_SQL_add_key, values, 5, &changed, err);
    if (failed || changed > 0) {
        return failed;
    }
    failed = cbx_store_find_key(store, principal, key, own, err);
    if (failed) {
        return failed;
    }
    return cbx_fail(err, CBX_ESTATE, "the key was used before");
}

int cbx_store_drop_key(struct cbx_store *store, const char *principal, const char *key,
                       const char *id, struct cbx_err *err)
{
    const char *const values[] = { principal, key, id };
    return cbx_store_execute(store, CBX_SQL_drop_key, values, 3, NULL, err);
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
    failed = cbx_store_execute(store, CBX_SQL_set_packages, values, 3, NULL, err);
    if (failed) {
        return failed;
    }
    _Static_assert(CBX_STORED_SETS == 64, "the statement has the same number");
    return cbx_store_execute(store, CBX_SQL_forget_packages, NULL, 0, NULL, err);
}

int cbx_store_recall_set(struct cbx_store *store, const char *key, int64_t oldest_ms,
                         struct cbx_buf *out, int64_t *made_ms, struct cbx_err *err)
{
    char oldest[24], *columns[2] = { NULL, NULL };
    snprintf(oldest, sizeof(oldest), "%lld", (long long)oldest_ms);
    const char *const values[] = { key, oldest };
    int failed = fetch(store, CBX_SQL_get_packages, values, columns, 2, err);
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
    return cbx_store_execute(store, CBX_SQL_drop_packages, &key, 1, NULL, err);
}
