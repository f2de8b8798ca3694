/* SPDX-License-Identifier: MIT
 * The tables of the store in PostgreSQL. */
#ifndef CBX_GATEWAY_DATABASE_POSTGRES_SCHEMA_H
#define CBX_GATEWAY_DATABASE_POSTGRES_SCHEMA_H

#include "gateway/database/postgres.h"

/* Creates the tables, or migrates tables of an older version, completely or not at all; one gateway
 * at a time. On failure the connection is closed. CBX_EIO; CBX_ESTATE if the tables are of a newer
 * version. */
int cbx_postgres_schema(struct cbx_postgres *postgres, struct cbx_err *err);

#endif
