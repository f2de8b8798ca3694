/* SPDX-License-Identifier: MIT
 * The database of the store in PostgreSQL: several gateways share it, each with one connection. */
#include "gateway/database/database_ops.h"
#include "gateway/database/postgres.h"
#include "gateway/database/postgres_schema.h"

#include "policies/base/memory.h"
#include "policies/base/text/utf8.h"
#include "policies/base/time/clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PARAMETERS_MAX = 16, TEXT_TYPE = 25 }; /* 25 is the OID of TEXT in pg_type.dat */

enum transaction {
    NO_TRANSACTION,
    OPEN_TRANSACTION,
    CUT_TRANSACTION, /* its connection was lost: the server rolled it back */
};

struct postgres {
    struct cbx_database base;
    struct cbx_postgres link;
    char *replica;
    enum transaction transaction;
    bool prepared[CBX_STATEMENTS]; /* on this connection */
};

/* The server sent all rows: libpq holds them. */
struct postgres_rows {
    struct cbx_rows base;
    PGresult *result;
    int row;
};

static struct postgres *postgres_of(struct cbx_database *database)
{
    return (struct postgres *)database;
}

/* --- connection ------------------------------------------------------------------------------- */

/* Takes the name of the replica, which a connection has until the server ends it. Two gateways of
 * one name would both resume the executions of that name; and a statement of a connection that was
 * given up takes no effect after a statement of the next connection. `taken_code` if it is taken. */
static int take_name(struct postgres *postgres, int taken_code, struct cbx_err *err)
{
    const char *const values[] = { postgres->replica };
    static const Oid types[] = { TEXT_TYPE };
    PGresult *result = NULL;
    int sent = PQsendQueryParams(
        postgres->link.connection,
        "SELECT pg_try_advisory_lock(hashtextextended(current_schema() || ' ' || $1, 0))", 1, types,
        values, NULL, NULL, 0);
    int failed = cbx_postgres_receive(&postgres->link, sent, &result, err);
    if (failed) {
        return failed;
    }
    bool taken = PQgetvalue(result, 0, 0)[0] == 't';
    PQclear(result);
    if (!taken) {
        char text[CBX_ERR_TEXT_BYTES];
        snprintf(text, sizeof(text),
                 "another gateway has the name '%.64s', or the server has not ended the last "
                 "connection of this one",
                 postgres->replica);
        failed = cbx_postgres_fail(&postgres->link, taken_code, text, err);
    }
    return failed;
}

/* Connects if there is no connection. */
static int reach_server(struct postgres *postgres, struct cbx_err *err)
{
    if (postgres->link.connection != NULL) {
        return 0;
    }
    if (postgres->transaction != NO_TRANSACTION) {
        postgres->transaction = CUT_TRANSACTION;
        return cbx_fail(err, CBX_EIO, "the shared database: the transaction was cut: %s",
                        postgres->link.failure);
    }
    memset(postgres->prepared, 0, sizeof(postgres->prepared));
    int failed = cbx_postgres_connect(&postgres->link, err);
    if (!failed) {
        failed = take_name(postgres, CBX_EIO, err);
    }
    if (failed) {
        cbx_postgres_drop(&postgres->link);
    }
    return failed;
}

/* --- statements ------------------------------------------------------------------------------- */

/* The server would refuse the text, and callers could not tell that from a failure of the
 * server. */
static int check_texts(const char *const *texts, int count, struct cbx_err *err)
{
    for (int i = 0; i < count; i++) {
        size_t len = texts[i] != NULL ? strlen(texts[i]) : 0;
        for (size_t at = 0, bytes = 0; at < len; at += bytes) {
            bytes = cbx_utf8_bytes(texts[i] + at, len - at);
            if (bytes == 0) {
                return cbx_fail(err, CBX_EINVAL, "a text for the shared database is not UTF-8");
            }
        }
    }
    return 0;
}

static void name_statement(enum cbx_statement statement, char out[16])
{
    snprintf(out, 16, "codebox_%d", (int)statement);
}

static int prepare(struct postgres *postgres, enum cbx_statement statement, struct cbx_err *err)
{
    Oid types[PARAMETERS_MAX];
    char name[16];
    int count = cbx_statement_parameters(statement);
    for (int i = 0; i < PARAMETERS_MAX; i++) {
        types[i] = TEXT_TYPE;
    }
    name_statement(statement, name);
    int sent =
        PQsendPrepare(postgres->link.connection, name, cbx_statement_sql(statement), count, types);
    int failed = cbx_postgres_receive(&postgres->link, sent, NULL, err);
    postgres->prepared[statement] = !failed;
    return failed;
}

static int run(struct postgres *postgres, enum cbx_statement statement, const char *const *texts,
               int count, PGresult **out, struct cbx_err *err)
{
    char name[16];
    if (count != cbx_statement_parameters(statement) || count > PARAMETERS_MAX) {
        abort();
    }
    int failed = check_texts(texts, count, err);
    if (failed) {
        return failed;
    }
    cbx_postgres_start(&postgres->link);
    failed = reach_server(postgres, err);
    if (failed) {
        return failed;
    }
    if (!postgres->prepared[statement]) {
        failed = prepare(postgres, statement, err);
        if (failed) {
            return failed;
        }
    }
    name_statement(statement, name);
    int sent = PQsendQueryPrepared(postgres->link.connection, name, count, texts, NULL, NULL, 0);
    return cbx_postgres_receive(&postgres->link, sent, out, err);
}

static int execute(struct cbx_database *database, enum cbx_statement statement,
                   const char *const *texts, int count, int64_t *changed, struct cbx_err *err)
{
    PGresult *result = NULL;
    int failed = run(postgres_of(database), statement, texts, count, &result, err);
    if (!failed && changed != NULL) {
        *changed = strtoll(PQcmdTuples(result), NULL, 10);
    }
    PQclear(result);
    return failed;
}

/* --- rows ------------------------------------------------------------------------------------- */

static struct postgres_rows *rows_of(struct cbx_rows *rows)
{
    return (struct postgres_rows *)rows;
}

static bool next_row(struct cbx_rows *rows)
{
    struct postgres_rows *r = rows_of(rows);
    if (r->row + 1 >= PQntuples(r->result)) {
        return false;
    }
    r->row++;
    return true;
}

/* The query failed at once, or has all rows. */
static int check_rows(struct cbx_rows *rows, struct cbx_err *err)
{
    (void)rows;
    (void)err;
    return 0;
}

static int count_columns(struct cbx_rows *rows)
{
    return PQnfields(rows_of(rows)->result);
}

static const char *read_name(struct cbx_rows *rows, int column)
{
    return PQfname(rows_of(rows)->result, column);
}

static const char *read_text(struct cbx_rows *rows, int column)
{
    const struct postgres_rows *r = rows_of(rows);
    return PQgetisnull(r->result, r->row, column) ? NULL : PQgetvalue(r->result, r->row, column);
}

static int64_t read_number(struct cbx_rows *rows, int column)
{
    const char *text = read_text(rows, column);
    return text != NULL ? strtoll(text, NULL, 10) : 0;
}

static void free_rows(struct cbx_rows *rows)
{
    PQclear(rows_of(rows)->result);
    free(rows);
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

static int query(struct cbx_database *database, enum cbx_statement statement,
                 const char *const *texts, int count, struct cbx_rows **out, struct cbx_err *err)
{
    PGresult *result = NULL;
    int failed = run(postgres_of(database), statement, texts, count, &result, err);
    if (failed) {
        return failed;
    }
    struct postgres_rows *rows = cbx_new(sizeof(*rows));
    *rows = (struct postgres_rows){ .base.ops = &rows_ops, .result = result, .row = -1 };
    *out = &rows->base;
    return 0;
}

/* --- transactions ----------------------------------------------------------------------------- */

static int begin(struct cbx_database *database, struct cbx_err *err)
{
    struct postgres *postgres = postgres_of(database);
    cbx_postgres_start(&postgres->link);
    int failed = reach_server(postgres, err);
    if (!failed) {
        failed = cbx_postgres_run(&postgres->link, "BEGIN", NULL, err);
    }
    if (!failed) {
        postgres->transaction = OPEN_TRANSACTION;
    }
    return failed;
}

/* COMMIT of a transaction in which a statement failed succeeds as ROLLBACK. */
static int commit(struct cbx_database *database, struct cbx_err *err)
{
    struct postgres *postgres = postgres_of(database);
    PGresult *result = NULL;
    cbx_postgres_start(&postgres->link);
    int failed = reach_server(postgres, err);
    if (!failed) {
        failed = cbx_postgres_run(&postgres->link, "COMMIT", &result, err);
    }
    if (!failed && strcmp(PQcmdStatus(result), "COMMIT") != 0) {
        failed =
            cbx_postgres_fail(&postgres->link, CBX_EIO, "the transaction was rolled back", err);
    }
    PQclear(result);
    if (!failed) {
        postgres->transaction = NO_TRANSACTION;
    }
    return failed;
}

/* A connection that cannot roll back is closed, and the server does it. */
static void roll_back(struct cbx_database *database)
{
    struct postgres *postgres = postgres_of(database);
    if (postgres->transaction == OPEN_TRANSACTION && postgres->link.connection != NULL) {
        cbx_postgres_start(&postgres->link);
        if (cbx_postgres_run(&postgres->link, "ROLLBACK", NULL, NULL) != 0) {
            cbx_postgres_drop(&postgres->link);
        }
    }
    postgres->transaction = NO_TRANSACTION;
}

static const char *read_failure(struct cbx_database *database)
{
    return postgres_of(database)->link.failure;
}

/* --- opening ---------------------------------------------------------------------------------- */

static void close_postgres(struct cbx_database *database)
{
    struct postgres *postgres = postgres_of(database);
    cbx_postgres_done(&postgres->link);
    free(postgres->replica);
    free(postgres);
}

static const struct cbx_database_ops postgres_ops = {
    .free = close_postgres,
    .query = query,
    .execute = execute,
    .begin = begin,
    .commit = commit,
    .rollback = roll_back,
    .failure = read_failure,
};

/* The server notices the end of a gateway that was just stopped a moment later. */
static int take_name_in_time(struct postgres *postgres, struct cbx_err *err)
{
    enum { TRIES = 30, STEP_MS = 100 };
    struct timespec step = { .tv_nsec = STEP_MS * 1000000L };
    int failed = take_name(postgres, CBX_EBUSY, err);
    for (int i = 0; failed == CBX_EBUSY && i < TRIES; i++) {
        nanosleep(&step, NULL);
        failed = take_name(postgres, CBX_EBUSY, err);
    }
    return failed;
}

int cbx_database_open_postgres(const char *url, const char *replica, struct cbx_database **out,
                               struct cbx_err *err)
{
    struct postgres *postgres = cbx_new(sizeof(*postgres));
    CBX_AUTO(database) database = &postgres->base;
    database->ops = &postgres_ops;
    postgres->replica = cbx_str_copy(cbx_str_of(replica));
    const char *const texts[] = { replica };
    int failed = check_texts(texts, 1, err);
    if (!failed) {
        failed = cbx_postgres_init(&postgres->link, url, err);
    }
    cbx_postgres_start(&postgres->link);
    if (!failed) {
        failed = cbx_postgres_connect(&postgres->link, err);
    }
    if (!failed) {
        failed = cbx_postgres_schema(&postgres->link, err);
    }
    cbx_postgres_start(&postgres->link);
    if (!failed) {
        failed = take_name_in_time(postgres, err);
    }
    if (failed) {
        return failed;
    }
    *out = cbx_steal(&database);
    return 0;
}
