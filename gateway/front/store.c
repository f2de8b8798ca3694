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
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum { STATEMENTS = 32, RESULTS_MAX = 512 * 1024 * 1024 };

struct cbx_store {
    int dir;      /* the state directory */
    int lock_fd;  /* locked while the store is open: one process owns it */
    int begun_fd; /* ids of runs that began since the database was opened; see note_begun */
    off_t begun_bytes;
    char failure[CBX_ERR_TEXT_BYTES]; /* of the last statement that wrote; empty = it succeeded */
    sqlite3 *db;
    pthread_mutex_t lock;
    struct cbx_store_limits limits;
    atomic_uint added; /* executions of this process */
    /* Bytes of code and results, of all and by session. Between two counts they only grow: they are
     * never less than what is stored. */
    int64_t all_bytes;
    json_t *session_bytes;
    /* Prepared once; preparing costs more than most of them. The texts are this file's literals. */
    struct {
        const char *sql;
        sqlite3_stmt *statement;
    } prepared[STATEMENTS];
};

/* Tables of older versions are migrated; rows that a migration cannot use stay unread. */
static const char schema[] =
    "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA "
    "trusted_schema=OFF; PRAGMA temp_store=MEMORY; PRAGMA journal_size_limit=67108864;"
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
    /* The sizes of what can be dropped, in a table of their own: in the rows they would lie behind the
     * texts, and a sum would read all of these. Triggers keep them true in the same transaction. */
    "ALTER TABLE executions ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;"
    "CREATE TABLE sizes(id INTEGER PRIMARY KEY, session TEXT NOT NULL, code INTEGER NOT NULL, "
    "results "
    "INTEGER NOT NULL);"
    "INSERT INTO sizes SELECT rowid, session, length(CAST(code AS BLOB)),"
    " coalesce(length(CAST(results AS BLOB)), 0) FROM executions;"
    "CREATE TRIGGER sizes_added AFTER INSERT ON executions BEGIN INSERT INTO sizes "
    "VALUES(new.rowid,"
    " new.session, length(CAST(new.code AS BLOB)), 0); END;"
    "CREATE TRIGGER sizes_changed AFTER UPDATE OF code, results ON executions BEGIN"
    " INSERT OR REPLACE INTO sizes VALUES(new.rowid, new.session, length(CAST(new.code AS BLOB)),"
    " coalesce(length(CAST(new.results AS BLOB)), 0));"
    " DELETE FROM sizes WHERE id=new.rowid AND code=0 AND results=0; END;"
    "CREATE TRIGGER sizes_removed AFTER DELETE ON executions BEGIN"
    " DELETE FROM sizes WHERE id=old.rowid; END;"
    "PRAGMA user_version=7;",
};
enum { FIRST_VERSION = 2, MIGRATIONS = sizeof(migrations) / sizeof(migrations[0]) };

static int fail_db(struct cbx_store *store, struct cbx_err *err)
{
    return cbx_fail(err, CBX_EIO, "the database of the state directory: %s",
                    sqlite3_errmsg(store->db));
}

/* A file beside the database. */
static int open_file(struct cbx_store *store, const char *folder, const char *name, int flags,
                     int *out, struct cbx_err *err)
{
    *out = openat(store->dir, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    return *out >= 0 ? 0 : cbx_fail(err, CBX_EIO, "'%s/%s': %s", folder, name, strerror(errno));
}

static int take_lock(struct cbx_store *store, const char *folder, struct cbx_err *err)
{
    int failed = open_file(store, folder, "codebox.lock", 0, &store->lock_fd, err);
    if (failed) {
        return failed;
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

static bool run_sql(struct cbx_store *store, const char *sql)
{
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK;
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

/* With the lock: runs a statement that gives no rows. *changed, when not NULL, is the number of rows
 * it touched. */
static int execute_locked(struct cbx_store *store, const char *sql, const char *const *texts,
                          int count, int *changed, struct cbx_err *err)
{
    sqlite3_stmt *statement = prepare(store, sql, texts, count);
    int failed =
        statement == NULL || sqlite3_step(statement) != SQLITE_DONE ? fail_db(store, err) : 0;
    if (changed != NULL) {
        *changed = sqlite3_changes(store->db);
    }
    snprintf(store->failure, sizeof(store->failure), "%s", failed ? sqlite3_errmsg(store->db) : "");
    release(statement);
    return failed;
}

static int execute(struct cbx_store *store, const char *sql, const char *const *texts, int count,
                   int *changed, struct cbx_err *err)
{
    pthread_mutex_lock(&store->lock);
    int failed = execute_locked(store, sql, texts, count, changed, err);
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

/* --- what is kept ----------------------------------------------------------------------------- */

/* The row stays, so that its id is known. The code of an open session stays: its next cell is judged
 * with the code of all of them. What runs is never touched; what has ended needs nothing of its row
 * any more, also when the executor does not know yet that its result is stored. */
#define DROP                                                                                       \
    "UPDATE executions SET dropped=(dropped OR results IS NOT NULL), results=NULL,"                \
    " code=CASE WHEN session IN (SELECT id FROM sessions) THEN code ELSE '' END"                   \
    " WHERE completed_at IS NOT NULL"                                                              \
    " AND (results IS NOT NULL OR session NOT IN (SELECT id FROM sessions)) AND "

static void limit_counts(struct cbx_store *store)
{
    enum { EVERY = 256 };
    char kept[24], known[24];
    const char *const values[] = { kept, known };
    if (atomic_fetch_add(&store->added, 1) % EVERY != 0) {
        return;
    }
    snprintf(kept, sizeof(kept), "%lld", (long long)store->limits.executions);
    snprintf(known, sizeof(known), "%lld", (long long)store->limits.known);
    execute(store,
            DROP "rowid IN (SELECT id FROM sizes WHERE id <"
                 " (SELECT max(rowid) FROM executions) - CAST(? AS INTEGER))",
            values, 1, NULL, NULL);
    execute(store,
            "DELETE FROM executions WHERE completed_at IS NOT NULL AND session NOT IN"
            " (SELECT id FROM sessions) AND rowid <"
            " (SELECT max(rowid) FROM executions) - CAST(? AS INTEGER)",
            values + 1, 1, NULL, NULL);
}

static int64_t bytes_of(const struct cbx_store *store, const char *session)
{
    return session == NULL
               ? store->all_bytes
               : (int64_t)json_integer_value(json_object_get(store->session_bytes, session));
}

/* One-shots are no session. */
static void count_bytes(struct cbx_store *store, const char *session, int64_t bytes)
{
    store->all_bytes += bytes;
    if (session[0] != '\0') {
        json_object_set_new(store->session_bytes, session,
                            json_integer((json_int_t)(bytes_of(store, session) + bytes)));
    }
}

/* With the lock: counts anew. */
static int count_all(struct cbx_store *store, struct cbx_err *err)
{
    sqlite3_stmt *rows =
        prepare(store, "SELECT session, sum(code + results) FROM sizes GROUP BY session", NULL, 0);
    int step = SQLITE_ERROR;
    store->all_bytes = 0;
    json_object_clear(store->session_bytes);
    while (rows != NULL && (step = sqlite3_step(rows)) == SQLITE_ROW) {
        count_bytes(store, (const char *)sqlite3_column_text(rows, 0),
                    sqlite3_column_int64(rows, 1));
    }
    release(rows);
    return step == SQLITE_DONE ? 0 : fail_db(store, err);
}

/* What can be dropped of one row. */
struct droppable {
    int64_t id, bytes;
};
enum { BATCH = 64 };

/* With the lock: the oldest rows of which something can be dropped, of all sessions for NULL. -1 when
 * the database fails. */
static int find_droppable(struct cbx_store *store, const char *session, struct droppable out[BATCH])
{
    const char *const values[] = { session };
    sqlite3_stmt *rows =
        prepare(store,
                "SELECT id, bytes FROM (SELECT s.id AS id, s.results +"
                " CASE WHEN s.session IN (SELECT id FROM sessions) THEN 0 ELSE s.code END AS bytes"
                " FROM sizes s JOIN executions e ON e.rowid=s.id"
                " WHERE (?1 IS NULL OR s.session=?1) AND e.completed_at IS NOT NULL)"
                " WHERE bytes>0 ORDER BY id LIMIT 64",
                values, 1);
    int count = 0, step = SQLITE_ERROR;
    while (rows != NULL && (step = sqlite3_step(rows)) == SQLITE_ROW && count < BATCH) {
        out[count].id = sqlite3_column_int64(rows, 0);
        out[count++].bytes = sqlite3_column_int64(rows, 1);
    }
    release(rows);
    return step == SQLITE_DONE ? count : -1;
}

/* With the lock, in a transaction: drops the oldest until at most `most` bytes are left, or nothing is
 * left to drop. */
static int drop_oldest(struct cbx_store *store, const char *session, int64_t most,
                       struct cbx_err *err)
{
    struct droppable rows[BATCH];
    int64_t left = bytes_of(store, session);
    int count = BATCH, failed = 0;
    while (!failed && left > most && count > 0) {
        count = find_droppable(store, session, rows);
        failed = count < 0 ? fail_db(store, err) : 0;
        for (int i = 0; i < count && !failed && left > most; i++) {
            char id[24];
            const char *const values[] = { id };
            snprintf(id, sizeof(id), "%lld", (long long)rows[i].id);
            failed = execute_locked(store, DROP "rowid=CAST(? AS INTEGER)", values, 1, NULL, err);
            left -= rows[i].bytes;
        }
    }
    return failed ? failed : count_all(store, err);
}

/* With the lock: makes room for `bytes` more below `quota`. The counts may be too high: they are
 * made anew before anything is dropped. More is dropped than is needed, so that a full store does not
 * count with each execution. CBX_ETOOBIG when what cannot be dropped is too much. */
static int make_room_below(struct cbx_store *store, const char *session, int64_t quota,
                           int64_t bytes, struct cbx_err *err)
{
    if (bytes_of(store, session) + bytes <= quota) {
        return 0;
    }
    int failed = count_all(store, err);
    if (failed || bytes_of(store, session) + bytes <= quota) {
        return failed;
    }
    int64_t most = quota - quota / 8 - bytes;
    failed = run_sql(store, "BEGIN") ? drop_oldest(store, session, most > 0 ? most : 0, err)
                                     : fail_db(store, err);
    if (failed || !run_sql(store, "COMMIT")) {
        failed = failed ? failed : fail_db(store, err);
        run_sql(store, "ROLLBACK");
        count_all(store, NULL);
        return failed;
    }
    return bytes_of(store, session) + bytes <= quota ? 0 : CBX_ETOOBIG;
}

/* With the lock. */
static int make_room(struct cbx_store *store, const char *session, int64_t bytes,
                     struct cbx_err *err)
{
    enum { MIB = 1024 * 1024 };
    int failed = session[0] != '\0'
                     ? make_room_below(store, session, store->limits.session_bytes, bytes, err)
                     : 0;
    if (failed == CBX_ETOOBIG) {
        return cbx_fail(
            err, CBX_ETOOBIG,
            "the code of the session, which cannot be dropped, leaves no room below %lld "
            "MiB; open a new session",
            (long long)(store->limits.session_bytes / MIB));
    }
    failed = failed ? failed : make_room_below(store, NULL, store->limits.store_bytes, bytes, err);
    return failed != CBX_ETOOBIG
               ? failed
               : cbx_fail(err, CBX_EBUSY,
                          "the code of open sessions and what runs leave no room below %lld MiB; "
                          "close sessions, or try again later",
                          (long long)(store->limits.store_bytes / MIB));
}

/* The audit log is on the same file system, and without it nothing runs. */
static int check_space(const struct cbx_store *store, int code, struct cbx_err *err)
{
    enum { MIB = 1024 * 1024 };
    struct statvfs status;
    if (fstatvfs(store->dir, &status) < 0) {
        return cbx_fail(err, code, "the file system of the state directory: %s", strerror(errno));
    }
    int64_t bytes = (int64_t)status.f_bavail * (int64_t)status.f_frsize;
    return bytes >= store->limits.free_bytes
               ? 0
               : cbx_fail(err, code,
                          "the file system of the state directory has %lld MiB free, and the last "
                          "%lld MiB are left to the audit log; free some space",
                          (long long)(bytes / MIB), (long long)(store->limits.free_bytes / MIB));
}

size_t cbx_store_result_max(struct cbx_store *store, const char **reason)
{
    bool full = check_space(store, CBX_EIO, NULL) != 0;
    *reason = full ? "the file system of the state directory is full"
                   : "the results of one execution may not be larger in the store";
    return (size_t)(full ? store->limits.short_bytes : store->limits.execution_bytes);
}

/* --- tables ----------------------------------------------------------------------------------- */

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
    int failed = open_file(store, folder, "codebox.begun", O_APPEND, &store->begun_fd, err);
    return failed ? failed : merge_begun(store, err);
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
    return failed ? failed : check_space(store, CBX_EIO, err);
}

static struct cbx_store *make_store(const struct cbx_store_limits *limits)
{
    struct cbx_store *store = calloc(1, sizeof(*store));
    if (store == NULL) {
        abort();
    }
    store->limits = limits != NULL ? *limits : (struct cbx_store_limits){ 0 };
#define CBX_STORE_LIMIT(name, standard, meaning)                                                   \
    store->limits.name = store->limits.name > 0 ? store->limits.name : (standard);
#include "gateway/front/store_limits.def"
#undef CBX_STORE_LIMIT
    store->dir = store->lock_fd = store->begun_fd = -1;
    store->session_bytes = json_object();
    pthread_mutex_init(&store->lock, NULL);
    return store;
}

int cbx_store_open(const char *folder, const struct cbx_store_limits *limits,
                   struct cbx_store **out, struct cbx_err *err)
{
    CBX_AUTO(store) store = make_store(limits);
    store->dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (store->dir < 0) {
        return cbx_fail(err, CBX_EIO, "'%s': %s", folder, strerror(errno));
    }
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
    failed = failed ? failed : count_all(store, err);
    if (failed) {
        return failed;
    }
    limit_counts(store);
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
        cbx_fd_auto(&store->dir);
        json_decref(store->session_bytes);
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
    int failed = check_space(store, CBX_EBUSY, err);
    return failed ? failed
                  : execute(store, "INSERT INTO sessions VALUES(?,?,?,?)", values, 4, NULL, err);
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
    int failed = check_space(store, CBX_EBUSY, err);
    if (failed) {
        return failed;
    }
    limit_counts(store);
    pthread_mutex_lock(&store->lock);
    failed = make_room(store, e->session, (int64_t)strlen(e->code), err);
    failed =
        failed ? failed
               : execute_locked(
                     store,
                     "INSERT INTO executions(id, session, status, created_at, decision, language, "
                     "code, request, begun, kind, name, turn) VALUES(?,?,'running',?,?,?,?,?,0,"
                     "CAST(? AS INTEGER),?,CAST(? AS INTEGER))",
                     values, 10, NULL, err);
    if (!failed) {
        count_bytes(store, e->session, (int64_t)strlen(e->code));
    }
    pthread_mutex_unlock(&store->lock);
    return failed;
}

int cbx_store_set_decision(struct cbx_store *store, const char *id, const char *decision,
                           struct cbx_err *err)
{
    const char *const values[] = { decision, id };
    return execute(store, "UPDATE executions SET decision=?, begun=0 WHERE id=?", values, 2, NULL,
                   err);
}

/* With the lock: room for the results of an execution, and its session's count. Nothing of the
 * execution itself is dropped, for it has not ended. */
static int make_room_for(struct cbx_store *store, const char *id, int64_t bytes,
                         struct cbx_err *err)
{
    char session[65] = "";
    sqlite3_stmt *row = prepare(store, "SELECT session FROM executions WHERE id=?", &id, 1);
    if (row != NULL && sqlite3_step(row) == SQLITE_ROW) {
        snprintf(session, sizeof(session), "%s", (const char *)sqlite3_column_text(row, 0));
    }
    release(row);
    int failed = bytes > store->limits.short_bytes ? make_room(store, session, bytes, err) : 0;
    if (!failed) {
        count_bytes(store, session, bytes);
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
    int failed = results != NULL ? make_room_for(store, id, (int64_t)text.len, err) : 0;
    failed =
        failed
            ? failed
            : execute_locked(store,
                             "UPDATE executions SET status=?, completed_at=?, results=? WHERE id=?",
                             values, 4, NULL, err);
    pthread_mutex_unlock(&store->lock);
    return failed;
}

int cbx_store_get_execution(struct cbx_store *store, const char *id, json_t **out,
                            struct cbx_err *err)
{
    enum { COLUMNS = 9 };
    char *c[COLUMNS] = { NULL };
    int failed = fetch(store,
                       "SELECT id, session, status, created_at, completed_at, results, decision, "
                       "language, dropped FROM executions WHERE id=?",
                       id, c, COLUMNS, err);
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
