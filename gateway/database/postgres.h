/* SPDX-License-Identifier: MIT
 * A connection to a PostgreSQL server, on which no call waits longer than its deadline: libpq in
 * its non-blocking mode, with poll. Only the resolution of a host name, by the system's resolver,
 * is not covered. No error has the password; the messages of a failed connection are in the detail
 * of the error, for they have names of hosts. Not thread-safe. */
#ifndef CBX_GATEWAY_DATABASE_POSTGRES_H
#define CBX_GATEWAY_DATABASE_POSTGRES_H

#include "policies/base/err.h"

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

enum { CBX_POSTGRES_DEADLINE_MS = 5000, CBX_POSTGRES_RETRY_MS = 1000 };

struct cbx_postgres {
    char *url;                        /* has the password: it is in no error text */
    PGconn *connection;               /* NULL = none: before the first one, and when it is lost */
    int64_t deadline_ms;              /* by cbx_clock_ms, of the current call */
    int64_t retry_ms;                 /* by cbx_clock_ms: no attempt to connect before it */
    char failure[CBX_ERR_TEXT_BYTES]; /* text of the last failure, "" = none */
};

/* Checks the URL and copies it; connects to nothing. CBX_EINVAL if it is no URL of PostgreSQL, or
 * if characters of the user or password are not percent-encoded as they must be. */
int cbx_postgres_init(struct cbx_postgres *postgres, const char *url, struct cbx_err *err);
/* Closes the connection; the server rolls an open transaction back. */
void cbx_postgres_done(struct cbx_postgres *postgres);

/* Sets the deadline of the following calls, CBX_POSTGRES_DEADLINE_MS from now. */
void cbx_postgres_start(struct cbx_postgres *postgres);

/* Connects, if there is no connection, and sets the server's own limits of time. There is at most
 * one attempt per CBX_POSTGRES_RETRY_MS, and none within that time after a failed attempt or after
 * a deadline, so that the callers that queue behind a silent server wait once. CBX_EIO. */
int cbx_postgres_connect(struct cbx_postgres *postgres, struct cbx_err *err);

/* Closes the connection at once. */
void cbx_postgres_drop(struct cbx_postgres *postgres);

/* Waits for the result of what was sent; `sent` is the value of the PQsend... call. *out is freed
 * with PQclear; NULL for `out` drops it. CBX_EIO: the server's message, the connection was lost
 * (then postgres->connection is NULL), or the deadline passed: the connection is closed then too,
 * because the reply may still come, and the server may have run the statement or not. */
int cbx_postgres_receive(struct cbx_postgres *postgres, int sent, PGresult **out,
                         struct cbx_err *err);

/* Sends one or more commands without parameters and waits, as above. */
int cbx_postgres_run(struct cbx_postgres *postgres, const char *sql, PGresult **out,
                     struct cbx_err *err);

/* Fails with the first line of a text, which is stored as the connection's failure. Returns
 * `code`. */
int cbx_postgres_fail(struct cbx_postgres *postgres, int code, const char *text,
                      struct cbx_err *err);

#endif
