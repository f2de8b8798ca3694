/* SPDX-License-Identifier: MIT
 * A database whose connection another process has (database_process.h): the front reads HTTP and
 * connects to nothing. */
#ifndef CBX_GATEWAY_DATABASE_DATABASE_REMOTE_H
#define CBX_GATEWAY_DATABASE_DATABASE_REMOTE_H

#include "gateway/database/database.h"

/* Opens the database over a channel to that process, which passes to the next process when one
 * ends; borrowed. Rows are held completely. A statement fails with CBX_EIO when the process ends or
 * gives no answer for CBX_DATABASE_ANSWER_MS: it may have been run or not, and a transaction fails
 * until it is rolled back; the next statement uses a new link. Errors of cbx_database_open_postgres:
 * the database is not open then. */
int cbx_database_open_remote(int channel, struct cbx_database **out, struct cbx_err *err);

#endif
