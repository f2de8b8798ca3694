/* SPDX-License-Identifier: MIT
 * Opening the store: its lock, its tables and their migrations. */
#include "gateway/front/store/store_internal.h"

#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/text/json.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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
    /* Rows are numbered in the order of acceptance; an index by time would cost two writes per
     * execution. */
    "DROP INDEX executions_by_age;"
    "PRAGMA user_version=5;",
    "ALTER TABLE executions ADD COLUMN kind INTEGER NOT NULL DEFAULT 1;"
    "ALTER TABLE executions ADD COLUMN name TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE executions ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;"
    "UPDATE executions SET turn=rowid;"
    "PRAGMA user_version=6;",
    /* The sizes of droppable data, in a separate table: in the rows they would be after the
     * texts, and a sum would read all of these. Triggers keep them consistent in the same
     * transaction. */
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
    /* Before callers had identities there was one principal. */
    "ALTER TABLE sessions ADD COLUMN principal TEXT NOT NULL DEFAULT 'local';"
    "ALTER TABLE executions ADD COLUMN principal TEXT NOT NULL DEFAULT 'local';"
    "PRAGMA user_version=8;",
    "CREATE TABLE keys(principal TEXT NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL, id TEXT "
    "NOT NULL, created_at TEXT NOT NULL, PRIMARY KEY(principal, key)) WITHOUT ROWID;"
    "CREATE INDEX keys_by_age ON keys(created_at);"
    "PRAGMA user_version=9;",
    /* The sizes have the principal: what a principal stores is limited too. */
    "ALTER TABLE sizes ADD COLUMN principal TEXT NOT NULL DEFAULT '';"
    "UPDATE sizes SET principal=(SELECT principal FROM executions e WHERE e.rowid=sizes.id);"
    "DROP TRIGGER sizes_added; DROP TRIGGER sizes_changed;"
    "CREATE TRIGGER sizes_added AFTER INSERT ON executions BEGIN INSERT INTO sizes "
    "VALUES(new.rowid,"
    " new.session, length(CAST(new.code AS BLOB)), 0, new.principal); END;"
    "CREATE TRIGGER sizes_changed AFTER UPDATE OF code, results ON executions BEGIN"
    " INSERT OR REPLACE INTO sizes VALUES(new.rowid, new.session, length(CAST(new.code AS BLOB)),"
    " coalesce(length(CAST(new.results AS BLOB)), 0), new.principal);"
    " DELETE FROM sizes WHERE id=new.rowid AND code=0 AND results=0; END;"
    "PRAGMA user_version=10;",
    "CREATE TABLE sets(key TEXT PRIMARY KEY, packages TEXT NOT NULL, made_ms INTEGER NOT NULL);"
    "PRAGMA user_version=11;",
};
enum { FIRST_VERSION = 2, MIGRATIONS = sizeof(migrations) / sizeof(migrations[0]) };

/* Opens a file beside the database. */
static int open_file(struct cbx_store *store, const char *folder, const char *name, int flags,
                     int *out, struct cbx_err *err)
{
    *out = openat(store->dir, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (*out < 0) {
        return cbx_fail(err, CBX_EIO, "'%s/%s': %s", folder, name, strerror(errno));
    }
    return 0;
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

/* Migrates the tables to the newest version, completely or not at all. */
static bool migrate(struct cbx_store *store)
{
    bool done = cbx_store_run(store, "BEGIN");
    for (int i = 0; i < MIGRATIONS && done; i++) {
        done = read_version(store) >= FIRST_VERSION + i || cbx_store_run(store, migrations[i]);
    }
    return done && cbx_store_run(store, "COMMIT");
}

static int open_begun(struct cbx_store *store, const char *folder, struct cbx_err *err)
{
    int failed = open_file(store, folder, "codebox.begun", O_APPEND, &store->begun_fd, err);
    if (failed) {
        return failed;
    }
    return cbx_store_merge_begun(store, err);
}

int cbx_store_check(struct cbx_store *store, struct cbx_err *err)
{
    pthread_mutex_lock(&store->lock);
    int failed = 0;
    if (store->failure[0] != '\0') {
        failed = cbx_fail(err, CBX_EIO, "the last result was not stored: %s", store->failure);
    }
    pthread_mutex_unlock(&store->lock);
    if (failed) {
        return failed;
    }
    return cbx_store_check_space(store, CBX_EIO, err);
}

static struct cbx_store *make_store(const struct cbx_store_limits *limits)
{
    struct cbx_store *store = cbx_new(sizeof(*store));
    store->limits = limits != NULL ? *limits : (struct cbx_store_limits){ 0 };
#define CBX_STORE_LIMIT(name, standard, meaning)                                                   \
    store->limits.name = store->limits.name > 0 ? store->limits.name : (standard);
#include "gateway/front/store/store_limits.def"
#undef CBX_STORE_LIMIT
    store->dir = store->lock_fd = store->begun_fd = -1;
    store->session_bytes = json_object();
    store->principal_bytes = json_object();
    pthread_mutex_init(&store->lock, NULL);
    return store;
}

static int open_tables(struct cbx_store *store, const char *path, struct cbx_err *err)
{
    int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
    if (sqlite3_open_v2(path, &store->db, flags, NULL) != SQLITE_OK ||
        sqlite3_busy_timeout(store->db, 5000) != SQLITE_OK || !cbx_store_run(store, schema) ||
        !migrate(store)) {
        return cbx_store_fail(store, err);
    }
    return 0;
}

static int open_folder(struct cbx_store *store, const char *folder, struct cbx_err *err)
{
    store->dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (store->dir < 0) {
        return cbx_fail(err, CBX_EIO, "'%s': %s", folder, strerror(errno));
    }
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/codebox.db", folder);
    int failed = take_lock(store, folder, err);
    if (failed) {
        return failed;
    }
    failed = open_tables(store, path, err);
    if (failed) {
        return failed;
    }
    return open_begun(store, folder, err);
}

int cbx_store_open(const char *folder, const struct cbx_store_limits *limits,
                   struct cbx_store **out, struct cbx_err *err)
{
    CBX_AUTO(store) store = make_store(limits);
    int failed;
    if (folder != NULL) {
        failed = open_folder(store, folder, err);
    } else {
        failed = open_tables(store, ":memory:", err);
    }
    if (failed) {
        return failed;
    }
    failed = cbx_store_count_all(store, err);
    if (failed) {
        return failed;
    }
    cbx_store_limit_all_counts(store);
    *out = cbx_steal(&store);
    return 0;
}

/* Reads the first pages of the open file. Immutable: SQLite makes neither locks nor the files of
 * its log, and does not see data that is only in the log. */
static int read_tables(struct cbx_store *store, int fd, struct cbx_err *err)
{
    char uri[64];
    snprintf(uri, sizeof(uri), "file:/proc/self/fd/%d?immutable=1", fd);
    if (sqlite3_open_v2(uri, &store->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) !=
            SQLITE_OK ||
        !cbx_store_run(store, "PRAGMA trusted_schema=OFF; SELECT count(*) FROM sqlite_schema")) {
        return cbx_store_fail(store, err);
    }
    return 0;
}

int cbx_store_try(const char *folder, bool *busy, struct cbx_err *err)
{
    CBX_AUTO(store) store = make_store(NULL);
    struct stat status;
    *busy = false;
    store->dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (store->dir < 0) {
        if (errno != ENOENT) {
            return cbx_fail(err, CBX_EIO, "'%s': %s", folder, strerror(errno));
        }
        return 0;
    }
    store->lock_fd = openat(store->dir, "codebox.lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (store->lock_fd >= 0 && flock(store->lock_fd, LOCK_SH | LOCK_NB) < 0) {
        *busy = true;
        return 0;
    }
    CBX_AUTO_FD fd = openat(store->dir, "codebox.db", O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) {
        return 0;
    }
    if (fd < 0 || fstat(fd, &status) < 0) {
        return cbx_fail(err, CBX_EIO, "'%s/codebox.db': %s", folder, strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return cbx_fail(err, CBX_EIO, "'%s/codebox.db' is not a regular file", folder);
    }
    return read_tables(store, fd, err);
}

void cbx_store_free(struct cbx_store *store)
{
    if (store != NULL) {
        for (size_t i = 0; i < CBX_STORE_STATEMENTS; i++) {
            sqlite3_finalize(store->prepared[i].statement);
        }
        sqlite3_close(store->db);
        cbx_fd_auto(&store->begun_fd);
        cbx_fd_auto(&store->lock_fd);
        cbx_fd_auto(&store->dir);
        json_decref(store->session_bytes);
        json_decref(store->principal_bytes);
        pthread_mutex_destroy(&store->lock);
        free(store);
    }
}
