/* SPDX-License-Identifier: MIT
 * The database of the store: runs the statements of statements.def on one connection, with one
 * implementation for each engine. Not thread-safe: the store calls it with its lock held. */
#ifndef CBX_GATEWAY_DATABASE_DATABASE_H
#define CBX_GATEWAY_DATABASE_DATABASE_H

#include "policies/base/auto.h"
#include "policies/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* A statement is prepared at its first use and stays prepared: preparing costs more than most of
 * them. */
enum cbx_statement {
#define CBX_STATEMENT(name, sql) CBX_SQL_##name,
#include "gateway/database/statements.def"
#undef CBX_STATEMENT
    CBX_STATEMENTS
};

struct cbx_database;
struct cbx_rows;

/* Opens or creates the database in the file, ":memory:" = in memory, and migrates tables of older
 * versions, completely or not at all. It is for one process: the caller holds a lock. CBX_EIO. */
int cbx_database_open_sqlite(const char *path, struct cbx_database **out, struct cbx_err *err);

/* Opens a PostgreSQL database, creates the tables if there are none, and migrates older ones.
 * Several gateways share it, each with another name `replica`, which is locked while it is open.
 * The URL (postgres://...) is for one server, directly: a pooler that changes the session between
 * two transactions loses the lock. TCP is encrypted unless the URL has another `sslmode`.
 * Every later call ends within CBX_POSTGRES_DEADLINE_MS (postgres.h). A lost connection fails the
 * statement, which the server may have run or not; the next one connects again. A transaction that
 * lost its connection has no effect, unless that was during its commit, and fails until it is
 * rolled back. CBX_EINVAL for a malformed URL, CBX_EBUSY if another gateway has the name,
 * CBX_ESTATE if the tables are of a newer gateway, CBX_EIO. */
int cbx_database_open_postgres(const char *url, const char *replica, struct cbx_database **out,
                               struct cbx_err *err);

/* Checks that the open file is a database of SQLite. Changes nothing, and ignores what is only in
 * the log beside the file. CBX_EIO. */
int cbx_database_try_sqlite(int fd, struct cbx_err *err);

/* Closes the connection; its rows are freed before. An open transaction is rolled back. NULL is
 * fine. */
void cbx_database_free(struct cbx_database *database);
CBX_DEFINE_AUTO(database)

/* Runs a statement, with a text or NULL for each of its parameters; a wrong number of them ends the
 * process. Rows of SQLite are read one by one; of PostgreSQL the result has all of them. Neither
 * copies a row. Until the rows are freed the texts must stay, and this statement must not run
 * again. CBX_EIO, also at the first or a later row. CBX_EINVAL if a text is not UTF-8, which
 * PostgreSQL does not store; SQLite stores any bytes but NUL. */
int cbx_database_query(struct cbx_database *database, enum cbx_statement statement,
                       const char *const *texts, int count, struct cbx_rows **out,
                       struct cbx_err *err);

/* Runs a statement without rows. *changed, if not NULL, is the number of rows that it inserted,
 * updated or deleted. CBX_EIO. */
int cbx_database_execute(struct cbx_database *database, enum cbx_statement statement,
                         const char *const *texts, int count, int64_t *changed,
                         struct cbx_err *err);

/* Moves to the next row, at first to the first one; false after the last row, and on failure. */
bool cbx_rows_next(struct cbx_rows *rows);

/* Succeeds if no row failed so far: call it after cbx_rows_next returned false. CBX_EIO. */
int cbx_rows_check(struct cbx_rows *rows, struct cbx_err *err);

/* The number of columns, and the name of each. */
int cbx_rows_columns(struct cbx_rows *rows);
const char *cbx_rows_name(struct cbx_rows *rows, int column);

/* Returns a column of the current row; NULL for SQL NULL. Borrowed, until the next row. */
const char *cbx_rows_text(struct cbx_rows *rows, int column);

/* The same as a number; 0 for SQL NULL. */
int64_t cbx_rows_number(struct cbx_rows *rows, int column);

/* NULL is fine. */
void cbx_rows_free(struct cbx_rows *rows);
CBX_DEFINE_AUTO(rows)

/* A transaction: the statements between `begin` and `commit` take effect together or not at all.
 * After a failed statement or commit the caller rolls back. CBX_EIO. */
int cbx_database_begin(struct cbx_database *database, struct cbx_err *err);
int cbx_database_commit(struct cbx_database *database, struct cbx_err *err);
void cbx_database_rollback(struct cbx_database *database);

/* Returns the engine's text of the last failure; borrowed, until the next call. */
const char *cbx_database_failure(struct cbx_database *database);

#endif
