/* SPDX-License-Identifier: MIT
 * The database of the store in SQLite (WAL): one file, one process, one connection. */
#include "gateway/database/database_ops.h"

#include "policies/base/memory.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

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
    /* The same statements run on a database that several gateways share. */
    "ALTER TABLE sessions ADD COLUMN replica TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE executions ADD COLUMN replica TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE sizes ADD COLUMN replica TEXT NOT NULL DEFAULT '';"
    "DROP TRIGGER sizes_added; DROP TRIGGER sizes_changed;"
    "CREATE TRIGGER sizes_added AFTER INSERT ON executions BEGIN INSERT INTO sizes "
    "VALUES(new.rowid, new.session, length(CAST(new.code AS BLOB)), 0, new.principal, new.replica);"
    " END;"
    "CREATE TRIGGER sizes_changed AFTER UPDATE OF code, results ON executions BEGIN"
    " INSERT OR REPLACE INTO sizes VALUES(new.rowid, new.session, length(CAST(new.code AS BLOB)),"
    " coalesce(length(CAST(new.results AS BLOB)), 0), new.principal, new.replica);"
    " DELETE FROM sizes WHERE id=new.rowid AND code=0 AND results=0; END;"
    "PRAGMA user_version=12;",
    /* Unused: the same statements run on a database that several gateways share. */
    "CREATE VIEW clock AS SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AS "
    "now_ms;"
    "CREATE TABLE replicas(name TEXT PRIMARY KEY, generation BIGINT NOT NULL,"
    " alive BIGINT NOT NULL, seen BIGINT NOT NULL);"
    "CREATE TABLE instances(replica TEXT NOT NULL, generation BIGINT NOT NULL,"
    " holder TEXT NOT NULL, epoch BIGINT NOT NULL,"
    " PRIMARY KEY(replica, generation));"
    "CREATE INDEX instances_of_holder ON instances(holder);"
    "CREATE TABLE takeovers(replica TEXT NOT NULL, epoch BIGINT NOT NULL,"
    " holder TEXT NOT NULL, sessions BIGINT NOT NULL, noted BIGINT NOT NULL,"
    " PRIMARY KEY(replica, epoch));"
    "CREATE TABLE taken(decision TEXT PRIMARY KEY, replica TEXT NOT NULL,"
    " epoch BIGINT NOT NULL, holder TEXT NOT NULL, released BIGINT NOT NULL);"
    "CREATE INDEX taken_from ON taken(replica, epoch);"
    "PRAGMA user_version=13;",
};
enum { FIRST_VERSION = 2, MIGRATIONS = sizeof(migrations) / sizeof(migrations[0]) };

struct sqlite;

struct sqlite_rows {
    struct cbx_rows base;
    struct sqlite *sqlite;
    sqlite3_stmt *statement; /* NULL until it is prepared */
    int step;                /* result of the last step */
};

/* Rows need no memory of their own: a statement has one result at a time. */
struct sqlite {
    struct cbx_database base;
    sqlite3 *db;
    struct sqlite_rows rows[CBX_STATEMENTS];
};

static struct sqlite *sqlite_of(struct cbx_database *database)
{
    return (struct sqlite *)database;
}

static struct sqlite_rows *rows_of(struct cbx_rows *rows)
{
    return (struct sqlite_rows *)rows;
}

static int report(sqlite3 *db, struct cbx_err *err)
{
    return cbx_fail(err, CBX_EIO, "the database of the state directory: %s", sqlite3_errmsg(db));
}

static bool run(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* --- statements ------------------------------------------------------------------------------- */

/* SQLite numbers named parameters in the order of their first appearance. A text bound to another
 * parameter than its own would be a wrong row. */
static void check_numbers(sqlite3_stmt *statement)
{
    char name[16];
    for (int i = 1; i <= sqlite3_bind_parameter_count(statement); i++) {
        snprintf(name, sizeof(name), "$%d", i);
        if (sqlite3_bind_parameter_index(statement, name) != i) {
            abort();
        }
    }
}

static bool prepare(struct sqlite *sqlite, enum cbx_statement statement, struct sqlite_rows *rows)
{
    if (sqlite3_prepare_v3(sqlite->db, cbx_statement_sql(statement), -1, SQLITE_PREPARE_PERSISTENT,
                           &rows->statement, NULL) != SQLITE_OK) {
        return false;
    }
    check_numbers(rows->statement);
    return true;
}

static int start_query(struct cbx_database *database, enum cbx_statement statement,
                       const char *const *texts, int count, struct cbx_rows **out,
                       struct cbx_err *err)
{
    struct sqlite *sqlite = sqlite_of(database);
    struct sqlite_rows *rows = &sqlite->rows[statement];
    if (rows->statement == NULL && !prepare(sqlite, statement, rows)) {
        return report(sqlite->db, err);
    }
    if (count != sqlite3_bind_parameter_count(rows->statement)) {
        abort();
    }
    for (int i = 0; i < count; i++) {
        if (texts[i] != NULL) {
            sqlite3_bind_text(rows->statement, i + 1, texts[i], -1, SQLITE_STATIC);
        }
    }
    rows->step = SQLITE_ROW;
    *out = &rows->base;
    return 0;
}

static bool next_row(struct cbx_rows *rows)
{
    struct sqlite_rows *r = rows_of(rows);
    if (r->step == SQLITE_ROW) {
        r->step = sqlite3_step(r->statement);
    }
    return r->step == SQLITE_ROW;
}

static int check_rows(struct cbx_rows *rows, struct cbx_err *err)
{
    const struct sqlite_rows *r = rows_of(rows);
    if (r->step != SQLITE_ROW && r->step != SQLITE_DONE) {
        return report(r->sqlite->db, err);
    }
    return 0;
}

static int count_columns(struct cbx_rows *rows)
{
    return sqlite3_column_count(rows_of(rows)->statement);
}

static const char *read_name(struct cbx_rows *rows, int column)
{
    return sqlite3_column_name(rows_of(rows)->statement, column);
}

static const char *read_text(struct cbx_rows *rows, int column)
{
    return (const char *)sqlite3_column_text(rows_of(rows)->statement, column);
}

static int64_t read_number(struct cbx_rows *rows, int column)
{
    return sqlite3_column_int64(rows_of(rows)->statement, column);
}

static void free_rows(struct cbx_rows *rows)
{
    sqlite3_reset(rows_of(rows)->statement);
    sqlite3_clear_bindings(rows_of(rows)->statement);
}

static int execute(struct cbx_database *database, enum cbx_statement statement,
                   const char *const *texts, int count, int64_t *changed, struct cbx_err *err)
{
    CBX_AUTO(rows) rows = NULL;
    int failed = start_query(database, statement, texts, count, &rows, err);
    if (failed) {
        return failed;
    }
    while (next_row(rows)) {
    }
    failed = check_rows(rows, err);
    if (!failed && changed != NULL) {
        *changed = sqlite3_changes(sqlite_of(database)->db);
    }
    return failed;
}

/* --- transactions ----------------------------------------------------------------------------- */

static int run_or_fail(struct cbx_database *database, const char *sql, struct cbx_err *err)
{
    sqlite3 *db = sqlite_of(database)->db;
    if (!run(db, sql)) {
        return report(db, err);
    }
    return 0;
}

static int begin(struct cbx_database *database, struct cbx_err *err)
{
    return run_or_fail(database, "BEGIN", err);
}

static int commit(struct cbx_database *database, struct cbx_err *err)
{
    return run_or_fail(database, "COMMIT", err);
}

static void roll_back(struct cbx_database *database)
{
    run(sqlite_of(database)->db, "ROLLBACK");
}

static const char *read_failure(struct cbx_database *database)
{
    return sqlite3_errmsg(sqlite_of(database)->db);
}

/* --- opening ---------------------------------------------------------------------------------- */

static int read_version(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    int version = 0;
    if (sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        version = sqlite3_column_int(statement, 0);
    }
    sqlite3_finalize(statement);
    return version;
}

/* Migrates the tables to the newest version, completely or not at all. */
static bool migrate(sqlite3 *db)
{
    bool done = run(db, "BEGIN");
    for (int i = 0; i < MIGRATIONS && done; i++) {
        done = read_version(db) >= FIRST_VERSION + i || run(db, migrations[i]);
    }
    return done && run(db, "COMMIT");
}

static void close_sqlite(struct cbx_database *database)
{
    struct sqlite *sqlite = sqlite_of(database);
    for (int i = 0; i < CBX_STATEMENTS; i++) {
        sqlite3_finalize(sqlite->rows[i].statement);
    }
    sqlite3_close(sqlite->db);
    free(sqlite);
}

static const struct cbx_rows_ops rows_ops = {
    .next = next_row,
    .check = check_rows,
    .columns = count_columns,
    .name = read_name,
    .text = read_text,
    .number = read_number,
    .free = free_rows,
};

static const struct cbx_database_ops sqlite_ops = {
    .free = close_sqlite,
    .query = start_query,
    .execute = execute,
    .begin = begin,
    .commit = commit,
    .rollback = roll_back,
    .failure = read_failure,
};

int cbx_database_open_sqlite(const char *path, struct cbx_database **out, struct cbx_err *err)
{
    struct sqlite *sqlite = cbx_new(sizeof(*sqlite));
    CBX_AUTO(database) database = &sqlite->base;
    database->ops = &sqlite_ops;
    for (int i = 0; i < CBX_STATEMENTS; i++) {
        sqlite->rows[i].base.ops = &rows_ops;
        sqlite->rows[i].sqlite = sqlite;
    }
    int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
    if (sqlite3_open_v2(path, &sqlite->db, flags, NULL) != SQLITE_OK ||
        sqlite3_busy_timeout(sqlite->db, 5000) != SQLITE_OK || !run(sqlite->db, schema) ||
        !migrate(sqlite->db)) {
        return report(sqlite->db, err);
    }
    *out = cbx_steal(&database);
    return 0;
}

/* Reads the first pages. Immutable: SQLite makes neither locks nor the files of its log, and does
 * not see data that is only in the log. */
int cbx_database_try_sqlite(int fd, struct cbx_err *err)
{
    char uri[64];
    sqlite3 *db = NULL;
    int failed = 0;
    snprintf(uri, sizeof(uri), "file:/proc/self/fd/%d?immutable=1", fd);
    if (sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) != SQLITE_OK ||
        !run(db, "PRAGMA trusted_schema=OFF; SELECT count(*) FROM sqlite_schema")) {
        failed = report(db, err);
    }
    sqlite3_close(db);
    return failed;
}
