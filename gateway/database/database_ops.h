/* SPDX-License-Identifier: MIT
 * The table of functions that an engine implements. The contract of each function is that of the
 * cbx_database_... or cbx_rows_... function of its name (database.h). An engine's object begins
 * with struct cbx_database, its rows with struct cbx_rows. */
#ifndef CBX_GATEWAY_DATABASE_DATABASE_OPS_H
#define CBX_GATEWAY_DATABASE_DATABASE_OPS_H

#include "gateway/database/database.h"

struct cbx_rows_ops {
    bool (*next)(struct cbx_rows *rows);
    int (*check)(struct cbx_rows *rows, struct cbx_err *err);
    int (*columns)(struct cbx_rows *rows);
    const char *(*name)(struct cbx_rows *rows, int column);
    const char *(*text)(struct cbx_rows *rows, int column);
    int64_t (*number)(struct cbx_rows *rows, int column);
    void (*free)(struct cbx_rows *rows);
};

struct cbx_rows {
    const struct cbx_rows_ops *ops;
};

struct cbx_database_ops {
    void (*free)(struct cbx_database *database);
    int (*query)(struct cbx_database *database, enum cbx_statement statement,
                 const char *const *texts, int count, struct cbx_rows **out, struct cbx_err *err);
    int (*execute)(struct cbx_database *database, enum cbx_statement statement,
                   const char *const *texts, int count, int64_t *changed, struct cbx_err *err);
    int (*begin)(struct cbx_database *database, struct cbx_err *err);
    int (*commit)(struct cbx_database *database, struct cbx_err *err);
    void (*rollback)(struct cbx_database *database);
    const char *(*failure)(struct cbx_database *database);
};

struct cbx_database {
    const struct cbx_database_ops *ops;
};

/* Returns the SQL of a statement, static, and counts its parameters. */
const char *cbx_statement_sql(enum cbx_statement statement);
int cbx_statement_parameters(enum cbx_statement statement);

#endif
