/* SPDX-License-Identifier: MIT
 * Sessions and executions in SQLite. One connection under one lock: every statement here takes
 * microseconds. */
#include "gateway/front/store.h"

#include "policies/base/buf.h"
#include "policies/base/json.h"
#include "policies/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { STATEMENTS = 24 };

struct cbx_store {
    int lock_fd;  /* locked while the store is open: one process owns it */
    int begun_fd; /* ids of runs that began since the database was opened; see note_begun */
    off_t begun_bytes;
    char failure[CBX_ERR_TEXT_BYTES]; /* of the last statement that wrote; empty = it succeeded */
    sqlite3 *db;
    pthread_mutex_t lock;
    int keep;
    atomic_uint added; /* executions of this process */
    /* Prepared once; preparing costs more than most of them. The texts are this file's literals. */
    struct {
        const char *sql;
        sqlite3_stmt *statement;
    } prepared[STATEMENTS];
};

/* Tables of older versions are migrated; rows that a migration cannot use stay unread. */
static const char schema[] =
    "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA "
    "trusted_schema=OFF; PRAGMA temp_store=MEMORY;"
    "CREATE TABLE IF NOT EXISTS sessions(id TEXT PRIMARY KEY, created_at TEXT NOT NULL, policy "
    "TEXT NOT NULL, options TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS executions(id TEXT PRIMARY KEY, session TEXT NOT NULL, status TEXT "
    "NOT NULL,"
    " created_at TEXT NOT NULL, completed_at TEXT, results TEXT);";

/* The steps from each version of the tables to the next one; the first leads to version 2. */
static const char *const migrations[] = {
    "ALTER TABLE executions ADD COLUMN decision TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE executions ADD COLUMN language TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE executions ADD COLUMN code TEXT NOT NULL DEFAULT '';"
    "CREATE INDEX executions_of_session ON executions(session, created_at);"
    "CREATE INDEX executions_by_age ON executions(created_at);"
    "PRAGMA user_version=2;",
    "ALTER TABLE executions ADD COLUMN request TEXT NOT NULL DEFAULT '{}';"
    "ALTER TABLE executions ADD COLUMN begun INTEGER NOT NULL DEFAULT 1;"
    "PRAGMA user_version=3;",
    "ALTER TABLE executions ADD COLUMN audit_seq INTEGER NOT NULL DEFAULT 0;"
    "PRAGMA user_version=4;",
    /* Rows are numbered in the order of acceptance; an index by time is two writes per execution. */
    "DROP INDEX executions_by_age;"
    "PRAGMA user_version=5;",
    "ALTER TABLE executions ADD COLUMN kind INTEGER NOT NULL DEFAULT 1;"
    "ALTER TABLE executions ADD COLUMN name TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE executions ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;"
    "UPDATE executions SET turn=rowid;"
    "PRAGMA user_version=6;",
};
enum { FIRST_VERSION = 2, MIGRATIONS = sizeof(migrations) / sizeof(migrations[0]) };

static int fail_db(struct cbx_store *store, struct cbx_err *err)
{
    return cbx_fail(err, CBX_EIO, "the database of the state directory: %s",
                    sqlite3_errmsg(store->db));
}

static int take_lock(struct cbx_store *store, const char *folder, struct cbx_err *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/codebox.lock", folder);
    store->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (store->lock_fd < 0) {
        return cbx_fail(err, CBX_EIO, "'%s': %s", path, strerror(errno));
    }
    enum { TRIES = 30, STEP_MS = 100 }; /* a front whose master was killed is ending */
    struct timespec step = { .tv_nsec = STEP_MS * 1000000L };
    int taken;
    for (int i = 0; (taken = flock(store->lock_fd, LOCK_EX | LOCK_NB)) < 0 && i < TRIES; i++) {
        nanosleep(&step, NULL);
    }
    if (taken < 0) {
        return cbx_fail(err, CBX_EBUSY,
                        "another gateway serves from the same state directory; stop it, or give "
                        "this one its own with --state");
    }
    return 0;
}

static sqlite3_stmt *find_prepared(struct cbx_store *store, const char *sql)
{
    size_t i = 0;
    while (i < STATEMENTS && store->prepared[i].sql != NULL && store->prepared[i].sql != sql) {
        i++;
    }
    if (i == STATEMENTS) {
        abort(); /* one more literal than there are places */
    }
    if (store->prepared[i].sql == NULL &&
        sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
                           &store->prepared[i].statement, NULL) == SQLITE_OK) {
        store->prepared[i].sql = sql;
    }
    return store->prepared[i].statement;
}

/* With the lock held; binds texts, NULL binds NULL. Until release. NULL = it failed. */
static sqlite3_stmt *prepare(struct cbx_store *store, const char *sql, const char *const *texts,
                             int count)
{
    sqlite3_stmt *statement = find_prepared(store, sql);
    if (statement == NULL) {
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        if (texts[i] != NULL) {
            sqlite3_bind_text(statement, i + 1, texts[i], -1, SQLITE_STATIC);
        }
    }
    return statement;
}

static void release(sqlite3_stmt *statement)
{
    if (statement != NULL) {
        sqlite3_reset(statement);
        sqlite3_clear_bindings(statement);
    }
}

/* Runs a statement that gives no rows. *changed, when not NULL, is the number of rows it touched.
 */
static int execute(struct cbx_store *store, const char *sql, const char *const *texts, int count,
                   int *changed, struct cbx_err *err)
{
    pthread_mutex_lock(&store->lock);
    sqlite3_stmt *statement = prepare(store, sql, texts, count);
    int failed =
        statement == NULL || sqlite3_step(statement) != SQLITE_DONE ? fail_db(store, err) : 0;
    if (changed != NULL) {
        *changed = sqlite3_changes(store->db);
    }
    snprintf(store->failure, sizeof(store->failure), "%s", failed ? sqlite3_errmsg(store->db) : "");
    release(statement);
    pthread_mutex_unlock(&store->lock);
    return failed;
}

/* The first `count` columns of the row with this id, malloc'ed; NULL for SQL NULL. CBX_ENOTFOUND
 * without a row. */
static int fetch(struct cbx_store *store, const char *sql, const char *id, char **columns,
                 int count, struct cbx_err *err)
{
    pthread_mutex_lock(&store->lock);
    sqlite3_stmt *statement = prepare(store, sql, &id, 1);
    int step = statement != NULL ? sqlite3_step(statement) : SQLITE_ERROR;
    int failed = step == SQLITE_ROW ? 0
                 : step == SQLITE_DONE
                     ? cbx_fail(err, CBX_ENOTFOUND, "there is nothing with id '%.64s'", id)
                     : fail_db(store, err);
    for (int i = 0; i < count && !failed; i++) {
        const char *text = (const char *)sqlite3_column_text(statement, i);
        columns[i] = text != NULL ? strdup(text) : NULL;
    }
    release(statement);
    pthread_mutex_unlock(&store->lock);
    return failed;
}

/* Not with every insertion: the statement scans the whole table. */
static void trim_executions(struct cbx_store *store)
{
    enum { EVERY = 256 };
    char keep[16];
    const char *const values[] = { keep };
    if (atomic_fetch_add(&store->added, 1) % EVERY != 0) {
        return;
    }
    snprintf(keep, sizeof(keep), "%d", store->keep);
    /* The rows of an open session stay: its next cell is judged with the code of all of them. */
    execute(
        store,
        "UPDATE executions SET results=NULL WHERE completed_at IS NOT NULL AND results IS NOT NULL"
        " AND rowid <"
        " (SELECT rowid FROM executions ORDER BY rowid DESC LIMIT 1 OFFSET CAST(? AS INTEGER))",
        values, 1, NULL, NULL);
    execute(store,
            "DELETE FROM executions WHERE completed_at IS NOT NULL AND session NOT IN"
            " (SELECT id FROM sessions) AND rowid <"
            " (SELECT rowid FROM executions ORDER BY rowid DESC LIMIT 1 OFFSET CAST(? AS INTEGER))",
            values, 1, NULL, NULL);
}

static int read_version(struct cbx_store *store)
{
    sqlite3_stmt *statement = NULL;
    int version = 0;
    if (sqlite3_prepare_v2(store->db, "PRAGMA user_version", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        version = sqlite3_column_int(statement, 0);
    }
    sqlite3_finalize(statement);
    return version;
}

static bool run_sql(struct cbx_store *store, const char *sql)
{
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* Brings the tables to the newest version, all or nothing. */
static bool migrate(struct cbx_store *store)
{
    bool done = run_sql(store, "BEGIN");
    for (int i = 0; i < MIGRATIONS && done; i++) {
        done = read_version(store) >= FIRST_VERSION + i || run_sql(store, migrations[i]);
    }
    return done && run_sql(store, "COMMIT");
}

/* --- runs that began ------------------------------------------------------------------------- */

/* A run that began is never submitted again, so its beginning must survive a crash of every
 * process. The store appends a line to a file, which costs a tenth of a transaction; the lines
 * are merged into the rows when the store is opened and when the file is large. */
enum { BEGUN_LINE_BYTES = 37 + 21, BEGUN_MAX_BYTES = 256 * 1024 };

/* Marks the run of one line. A line that is torn or of another form is left out. */
static int merge_line(struct cbx_store *store, const char *line)
{
    char id[40], seq[24], end;
    if (sscanf(line, "%36[0-9a-f-] %20[0-9]%c", id, seq, &end) != 3 || end != '\n') {
        return SQLITE_DONE;
    }
    const char *const values[] = { seq, id };
    sqlite3_stmt *statement = prepare(
        store, "UPDATE executions SET begun=1, audit_seq=CAST(? AS INTEGER) WHERE id=?", values, 2);
    int step = statement != NULL ? sqlite3_step(statement) : SQLITE_ERROR;
    release(statement);
    return step;
}

/* With the lock held. */
static int merge_begun(struct cbx_store *store, struct cbx_err *err)
{
    CBX_AUTO_FILE lines = fdopen(dup(store->begun_fd), "r");
    if (lines == NULL) {
        return cbx_fail(err, CBX_EIO, "the list of begun runs: %s", strerror(errno));
    }
    CBX_AUTO_MEM char *line = NULL;
    size_t size = 0;
    int step = sqlite3_exec(store->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK ? SQLITE_DONE
                                                                               : SQLITE_ERROR;
    rewind(lines);
    while (step == SQLITE_DONE && getline(&line, &size, lines) > 0) {
        step = merge_line(store, line);
    }
    if (step != SQLITE_DONE || sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) {
        int failed = fail_db(store, err);
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
        return failed;
    }
    store->begun_bytes = 0;
    return ftruncate(store->begun_fd, 0) == 0
               ? 0
               : cbx_fail(err, CBX_EIO, "the list of begun runs: %s", strerror(errno));
}

static int open_begun(struct cbx_store *store, const char *folder, struct cbx_err *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/codebox.begun", folder);
    store->begun_fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    return store->begun_fd < 0 ? cbx_fail(err, CBX_EIO, "'%s': %s", path, strerror(errno))
                               : merge_begun(store, err);
}

/* With the lock held. A line that was written in part is taken back. */
static int append_begun(struct cbx_store *store, const char *line, size_t len, struct cbx_err *err)
{
    ssize_t n = write(store->begun_fd, line, len);
    if (n == (ssize_t)len) {
        store->begun_bytes += n;
        return store->begun_bytes > BEGUN_MAX_BYTES ? merge_begun(store, err) : 0;
    }
    int failed = cbx_fail(err, CBX_EIO, "the list of begun runs: %s", strerror(errno));
    if (n > 0 && ftruncate(store->begun_fd, store->begun_bytes) < 0) {
        cbx_log(CBX_LOG_ERROR, "the list of begun runs: %s", strerror(errno));
    }
    return failed;
}

int cbx_store_begin_execution(struct cbx_store *store, const char *id, uint64_t audit_seq,
                              struct cbx_err *err)
{
    char line[BEGUN_LINE_BYTES + 2];
    int len = snprintf(line, sizeof(line), "%.36s %llu\n", id, (unsigned long long)audit_seq);
    pthread_mutex_lock(&store->lock);
    int failed = append_begun(store, line, (size_t)len, err);
    pthread_mutex_unlock(&store->lock);
    return failed;
}

int cbx_store_check(struct cbx_store *store, struct cbx_err *err)
{
    pthread_mutex_lock(&store->lock);
    int failed = store->failure[0] != '\0'
                     ? cbx_fail(err, CBX_EIO, "the last result was not stored: %s", store->failure)
                     : 0;
    pthread_mutex_unlock(&store->lock);
    return failed;
}

int cbx_store_open(const char *folder, int keep, struct cbx_store **out, struct cbx_err *err)
{
    CBX_AUTO(store) store = calloc(1, sizeof(*store));
    if (store == NULL) {
        abort();
    }
    store->keep = keep;
    store->lock_fd = store->begun_fd = -1;
    pthread_mutex_init(&store->lock, NULL);
    int failed = take_lock(store, folder, err);
    if (failed) {
        return failed;
    }
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/codebox.db", folder);
    int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
    if (sqlite3_open_v2(path, &store->db, flags, NULL) != SQLITE_OK ||
        sqlite3_busy_timeout(store->db, 5000) != SQLITE_OK || !run_sql(store, schema) ||
        !migrate(store)) {
        return fail_db(store, err);
    }
    failed = open_begun(store, folder, err);
    if (failed) {
        return failed;
    }
    trim_executions(store);
    *out = cbx_steal(&store);
    return 0;
}

void cbx_store_free(struct cbx_store *store)
{
    if (store != NULL) {
        for (size_t i = 0; i < STATEMENTS; i++) {
            sqlite3_finalize(store->prepared[i].statement);
        }
        sqlite3_close(store->db);
        cbx_fd_auto(&store->begun_fd);
        cbx_fd_auto(&store->lock_fd);
        pthread_mutex_destroy(&store->lock);
        free(store);
    }
}

int cbx_store_add_session(struct cbx_store *store, const char *id, const char *created_at,
                          const char *policy, const json_t *options, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1024 * 1024);
    cbx_json_write(&text, options);
    const char *const values[] = { id, created_at, policy, text.p };
    return execute(store, "INSERT INTO sessions VALUES(?,?,?,?)", values, 4, NULL, err);
}

int cbx_store_get_session(struct cbx_store *store, const char *id, char **policy, json_t **options,
                          struct cbx_err *err)
{
    char *columns[2] = { NULL, NULL };
    int failed =
        fetch(store, "SELECT policy, options FROM sessions WHERE id=?", id, columns, 2, err);
    if (!failed && options != NULL) {
        failed = cbx_json_parse(cbx_str_of(columns[1]), 1024 * 1024, options, err);
    }
    free(columns[1]);
    if (failed || policy == NULL) {
        free(columns[0]);
        return failed;
    }
    *policy = columns[0];
    return 0;
}

int cbx_store_remove_session(struct cbx_store *store, const char *id, struct cbx_err *err)
{
    int changed = 0;
    int failed = execute(store, "DELETE FROM sessions WHERE id=?", &id, 1, &changed, err);
    return failed         ? failed
           : changed == 0 ? cbx_fail(err, CBX_ENOTFOUND, "there is no session '%.64s'", id)
                          : 0;
}

int cbx_store_add_execution(struct cbx_store *store, const struct cbx_stored_execution *e,
                            struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) request;
    cbx_buf_init(&request, 64 * 1024);
    if (e->request == NULL || cbx_json_write(&request, e->request) != 0) {
        cbx_buf_reset(&request);
        cbx_buf_add_cstr(&request, "{}");
    }
    char kind[8], turn[24];
    snprintf(kind, sizeof(kind), "%d", e->kind != 0 ? (int)e->kind : CBX_ENTRY_CELL);
    snprintf(turn, sizeof(turn), "%lld", (long long)e->turn);
    const char *const values[] = { e->id,       e->session,  e->created_at,
                                   e->decision, e->language, e->code,
                                   request.p,   kind,        e->name != NULL ? e->name : "",
                                   turn };
    trim_executions(store);
    return execute(store,
                   "INSERT INTO executions(id, session, status, created_at, decision, language, "
                   "code, request, begun, kind, name, turn) VALUES(?,?,'running',?,?,?,?,?,0,"
                   "CAST(? AS INTEGER),?,CAST(? AS INTEGER))",
                   values, 10, NULL, err);
}

int cbx_store_set_decision(struct cbx_store *store, const char *id, const char *decision,
                           struct cbx_err *err)
{
    const char *const values[] = { decision, id };
    return execute(store, "UPDATE executions SET decision=?, begun=0 WHERE id=?", values, 2, NULL,
                   err);
}

int cbx_store_set_execution(struct cbx_store *store, const char *id, const char *status,
                            const char *completed_at, const json_t *results, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 512 * 1024 * 1024);
    if (results != NULL && cbx_json_write(&text, results) != 0) {
        return cbx_fail(err, CBX_ETOOBIG, "the results are too large to be stored");
    }
    const char *const values[] = { status, completed_at, results != NULL ? text.p : NULL, id };
    return execute(store, "UPDATE executions SET status=?, completed_at=?, results=? WHERE id=?",
                   values, 4, NULL, err);
}

int cbx_store_get_execution(struct cbx_store *store, const char *id, json_t **out,
                            struct cbx_err *err)
{
    enum { COLUMNS = 8 };
    char *c[COLUMNS] = { NULL };
    int failed = fetch(store,
                       "SELECT id, session, status, created_at, completed_at, results, decision, "
                       "language FROM executions WHERE id=?",
                       id, c, COLUMNS, err);
    json_t *results = NULL;
    if (!failed && c[5] != NULL) {
        failed = cbx_json_parse(cbx_str_of(c[5]), 512 * 1024 * 1024, &results, err);
    }
    if (!failed) {
        *out = json_pack("{s:s,s:s,s:s,s:s,s:s?,s:o?,s:s,s:s}", "request_id", c[0], "session_id",
                         c[1], "status", c[2], "created_at", c[3], "completed_at", c[4], "results",
                         results, "decision", c[6], "language", c[7]);
    }
    for (int i = 0; i < COLUMNS; i++) {
        free(c[i]);
    }
    return failed;
}

/* All rows, each as an object of its texts by the names of its columns. */
static int fetch_rows(struct cbx_store *store, const char *sql, const char *const *texts, int count,
                      json_t **out, struct cbx_err *err)
{
    json_t *rows = json_array();
    pthread_mutex_lock(&store->lock);
    sqlite3_stmt *statement = prepare(store, sql, texts, count);
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
    int failed = step != SQLITE_DONE ? fail_db(store, err) : 0;
    release(statement);
    pthread_mutex_unlock(&store->lock);
    if (failed) {
        json_decref(rows);
        return failed;
    }
    *out = rows;
    return 0;
}

int cbx_store_list_sessions(struct cbx_store *store, json_t **out, struct cbx_err *err)
{
    return fetch_rows(store,
                      "SELECT id, created_at, policy, options FROM sessions ORDER BY created_at",
                      NULL, 0, out, err);
}

int cbx_store_list_running(struct cbx_store *store, json_t **out, struct cbx_err *err)
{
    return fetch_rows(
        store,
        "SELECT id, session, decision, language, created_at, code, request, begun, audit_seq, "
        "kind, name, turn FROM executions WHERE status IN ('initializing','running') "
        "ORDER BY turn",
        NULL, 0, out, err);
}

int cbx_store_page_sessions(struct cbx_store *store, const struct cbx_store_position *after,
                            int64_t limit, json_t **out, struct cbx_err *err)
{
    char count[24];
    snprintf(count, sizeof(count), "%lld", (long long)limit);
    const char *const values[] = { after->created_at, after->key, count };
    return fetch_rows(store,
                      "SELECT id, created_at, policy, options FROM sessions "
                      "WHERE (created_at, id) > (?, ?) "
                      "ORDER BY created_at, id LIMIT CAST(? AS INTEGER)",
                      values, 3, out, err);
}

int cbx_store_page_history(struct cbx_store *store, const char *session,
                           const struct cbx_store_position *after, int64_t limit, json_t **out,
                           struct cbx_err *err)
{
    char count[24];
    snprintf(count, sizeof(count), "%lld", (long long)limit);
    const char *const values[] = { session, after->created_at, after->key, count };
    return fetch_rows(
        store,
        "SELECT id, status, created_at, completed_at, language, decision, code, "
        "rowid AS position FROM executions "
        "WHERE session=? AND kind=1 AND (created_at, rowid) > (?, CAST(? AS INTEGER)) "
        "ORDER BY created_at, rowid LIMIT CAST(? AS INTEGER)",
        values, 4, out, err);
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
    int failed = store->begun_bytes > 0 ? merge_begun(store, err) : 0;
    pthread_mutex_unlock(&store->lock);
    return failed ? failed
                  : fetch_rows(store,
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
