/* SPDX-License-Identifier: MIT
 * The statements, and the calls of the engine's functions. */
#include "gateway/database/database_ops.h"

#include <stdlib.h>
#include <string.h>

const char *cbx_statement_sql(enum cbx_statement statement)
{
    static const char *const statements[CBX_STATEMENTS] = {
#define CBX_STATEMENT(name, sql) [CBX_SQL_##name] = sql,
#include "gateway/database/statements.def"
#undef CBX_STATEMENT
    };
    return statements[statement];
}

int cbx_statement_parameters(enum cbx_statement statement)
{
    int highest = 0;
    for (const char *at = cbx_statement_sql(statement); (at = strchr(at, '$')) != NULL; at++) {
        int number = (int)strtol(at + 1, NULL, 10);
        highest = number > highest ? number : highest;
    }
    return highest;
}

void cbx_database_free(struct cbx_database *database)
{
    if (database != NULL) {
        database->ops->free(database);
    }
}

int cbx_database_query(struct cbx_database *database, enum cbx_statement statement,
                       const char *const *texts, int count, struct cbx_rows **out,
                       struct cbx_err *err)
{
    return database->ops->query(database, statement, texts, count, out, err);
}

int cbx_database_execute(struct cbx_database *database, enum cbx_statement statement,
                         const char *const *texts, int count, int64_t *changed, struct cbx_err *err)
{
    return database->ops->execute(database, statement, texts, count, changed, err);
}

int cbx_database_begin(struct cbx_database *database, struct cbx_err *err)
{
    return database->ops->begin(database, err);
}

int cbx_database_commit(struct cbx_database *database, struct cbx_err *err)
{
    return database->ops->commit(database, err);
}

void cbx_database_rollback(struct cbx_database *database)
{
    database->ops->rollback(database);
}

const char *cbx_database_failure(struct cbx_database *database)
{
    return database->ops->failure(database);
}

/* --- rows ------------------------------------------------------------------------------------- */

bool cbx_rows_next(struct cbx_rows *rows)
{
    return rows->ops->next(rows);
}

int cbx_rows_check(struct cbx_rows *rows, struct cbx_err *err)
{
    return rows->ops->check(rows, err);
}

int cbx_rows_columns(struct cbx_rows *rows)
{
    return rows->ops->columns(rows);
}

const char *cbx_rows_name(struct cbx_rows *rows, int column)
{
    return rows->ops->name(rows, column);
}

const char *cbx_rows_text(struct cbx_rows *rows, int column)
{
    return rows->ops->text(rows, column);
}

int64_t cbx_rows_number(struct cbx_rows *rows, int column)
{
    return rows->ops->number(rows, column);
}

void cbx_rows_free(struct cbx_rows *rows)
{
    if (rows != NULL) {
        rows->ops->free(rows);
    }
}
