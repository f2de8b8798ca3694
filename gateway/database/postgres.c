/* SPDX-License-Identifier: MIT
 * A connection to a PostgreSQL server, with deadlines. */
#include "gateway/database/postgres.h"

#include "policies/base/memory.h"
#include "policies/base/time/clock.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* The server ends a statement before the client's deadline, so that its outcome is known, and a
 * transaction whose gateway stands still, so that it holds no lock. It notices in 11 s that the
 * gateway's machine is gone, and frees the gateway's name. */
static const char settings[] =
    "SET statement_timeout=4500; SET idle_in_transaction_session_timeout=10000;"
    "SET default_transaction_isolation='read committed'; SET tcp_keepalives_idle=5;"
    "SET tcp_keepalives_interval=2; SET tcp_keepalives_count=3";

/* --- errors ----------------------------------------------------------------------------------- */

/* The first line of a message of libpq, without the password. */
static void copy_message(struct cbx_postgres *postgres, const char *message,
                         char out[CBX_ERR_TEXT_BYTES])
{
    const char *password = postgres->connection != NULL ? PQpass(postgres->connection) : NULL;
    if (password != NULL && password[0] != '\0' && strstr(message, password) != NULL) {
        message = "the message has the password and is not shown";
    }
    if (message[0] == '\0') { /* an empty text would be no failure */
        message = "unknown failure";
    }
    snprintf(out, CBX_ERR_TEXT_BYTES, "%.*s", (int)strcspn(message, "\n"), message);
}

int cbx_postgres_fail(struct cbx_postgres *postgres, int code, const char *text,
                      struct cbx_err *err)
{
    copy_message(postgres, text, postgres->failure);
    return cbx_fail(err, code, "the shared database: %s", postgres->failure);
}

/* Messages about a connection have names and addresses of hosts: they are for the operator. */
static int fail_connection(struct cbx_postgres *postgres, const char *text, struct cbx_err *err)
{
    char detail[CBX_ERR_TEXT_BYTES];
    copy_message(postgres, PQerrorMessage(postgres->connection), detail);
    cbx_postgres_fail(postgres, CBX_EIO, text, err);
    cbx_err_detail(err, "%s", detail);
    return CBX_EIO;
}

void cbx_postgres_drop(struct cbx_postgres *postgres)
{
    PQfinish(postgres->connection);
    postgres->connection = NULL;
}

static void wait_before_retry(struct cbx_postgres *postgres)
{
    postgres->retry_ms = cbx_clock_ms() + CBX_POSTGRES_RETRY_MS;
}

static int lose(struct cbx_postgres *postgres, struct cbx_err *err)
{
    int failed = fail_connection(postgres, "the connection is lost", err);
    cbx_postgres_drop(postgres);
    return failed;
}

/* Waits for events of the socket, until the deadline. */
static bool wait_for(struct cbx_postgres *postgres, short events)
{
    struct pollfd fd = { .fd = PQsocket(postgres->connection), .events = events };
    int64_t left = postgres->deadline_ms - cbx_clock_ms();
    while (left > 0) {
        int ready = poll(&fd, 1, (int)left);
        if (ready > 0) {
            return true;
        }
        left = postgres->deadline_ms - cbx_clock_ms(); /* a signal interrupted it */
    }
    return false;
}

static int give_up(struct cbx_postgres *postgres, struct cbx_err *err)
{
    char text[CBX_ERR_TEXT_BYTES];
    snprintf(text, sizeof(text), "no reply within %d ms; the connection is closed",
             CBX_POSTGRES_DEADLINE_MS);
    int failed = cbx_postgres_fail(postgres, CBX_EIO, text, err);
    cbx_postgres_drop(postgres);
    wait_before_retry(postgres);
    return failed;
}

/* --- URLs ------------------------------------------------------------------------------------- */

/* libpq ends the password at '@' or '/', so a password that has them unencoded would become part
 * of a host, a port or a database, which messages quote. */
static bool is_encoded(const char *url)
{
    const char *authority = strstr(url, "://");
    if (authority == NULL) {
        return false;
    }
    authority += 3;
    const char *at = strchr(authority, '@');
    return at == NULL ||
           (authority + strcspn(authority, "@/?#") == at && strchr(at + 1, '@') == NULL);
}

int cbx_postgres_init(struct cbx_postgres *postgres, const char *url, struct cbx_err *err)
{
    *postgres = (struct cbx_postgres){ 0 };
    if (strncmp(url, "postgres://", 11) != 0 && strncmp(url, "postgresql://", 13) != 0) {
        return cbx_fail(err, CBX_EINVAL, "the URL of a shared database begins with 'postgres://'");
    }
    /* libpq's message quotes parts of a malformed URL. */
    char *message = NULL;
    PQconninfoOption *options = PQconninfoParse(url, &message);
    PQfreemem(message);
    PQconninfoFree(options);
    if (options == NULL || !is_encoded(url)) {
        return cbx_fail(err, CBX_EINVAL,
                        "the URL of the shared database is malformed; in its user and password "
                        "'@', '/', '?', '#', ':' and '%%' are written as %%40, %%2F, %%3F, %%23, "
                        "%%3A and %%25");
    }
    postgres->url = cbx_str_copy(cbx_str_of(url));
    return 0;
}

void cbx_postgres_done(struct cbx_postgres *postgres)
{
    cbx_postgres_drop(postgres);
    free(postgres->url);
    postgres->url = NULL;
}

/* --- connecting ------------------------------------------------------------------------------- */

void cbx_postgres_start(struct cbx_postgres *postgres)
{
    postgres->deadline_ms = cbx_clock_ms() + CBX_POSTGRES_DEADLINE_MS;
}

/* libpq prints notices on stderr otherwise. */
static void ignore_notice(void *context, const PGresult *notice)
{
    (void)context;
    (void)notice;
}

static int finish_connecting(struct cbx_postgres *postgres, struct cbx_err *err)
{
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    if (PQstatus(postgres->connection) == CONNECTION_BAD) {
        next = PGRES_POLLING_FAILED;
    }
    while (next == PGRES_POLLING_WRITING || next == PGRES_POLLING_READING) {
        if (!wait_for(postgres, next == PGRES_POLLING_READING ? POLLIN : POLLOUT)) {
            return give_up(postgres, err);
        }
        next = PQconnectPoll(postgres->connection);
    }
    if (next != PGRES_POLLING_OK || PQsetnonblocking(postgres->connection, 1) != 0) {
        return fail_connection(postgres, "the server cannot be reached", err);
    }
    const char *encoding = PQparameterStatus(postgres->connection, "server_encoding");
    if (encoding == NULL || strcmp(encoding, "UTF8") != 0) {
        return cbx_postgres_fail(postgres, CBX_EIO, "the encoding of the database is not UTF8",
                                 err);
    }
    return cbx_postgres_run(postgres, settings, NULL, err);
}

int cbx_postgres_connect(struct cbx_postgres *postgres, struct cbx_err *err)
{
    /* The URL overrides what is in front of it. Without TLS anybody between could read and change
     * what runs; Kerberos would wait for its server without a deadline. */
    static const char *const names[] = {
        "sslmode", "gssencmode", "dbname", "client_encoding", "fallback_application_name", NULL
    };
    const char *const values[] = { "require", "disable", postgres->url, "UTF8", "codebox", NULL };
    if (postgres->connection != NULL) {
        return 0;
    }
    if (cbx_clock_ms() < postgres->retry_ms) {
        return cbx_fail(err, CBX_EIO, "the shared database: not connected: %s", postgres->failure);
    }
    wait_before_retry(postgres);
    postgres->connection = PQconnectStartParams(names, values, 1);
    if (postgres->connection == NULL) {
        abort(); /* out of memory */
    }
    PQsetNoticeReceiver(postgres->connection, ignore_notice, NULL);
    int failed = finish_connecting(postgres, err);
    if (failed) {
        cbx_postgres_drop(postgres);
        wait_before_retry(postgres);
    }
    return failed;
}

/* --- results ---------------------------------------------------------------------------------- */

static int fail_statement(struct cbx_postgres *postgres, const PGresult *result,
                          struct cbx_err *err)
{
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    return cbx_postgres_fail(postgres, CBX_EIO, text != NULL ? text : PQresultErrorMessage(result),
                             err);
}

/* Takes the results that are complete; *last is the last one, the first failed one if one failed.
 * Returns false if more are to come. */
static bool take_results(struct cbx_postgres *postgres, PGresult **last)
{
    while (!PQisBusy(postgres->connection)) {
        PGresult *result = PQgetResult(postgres->connection);
        if (result == NULL) {
            return true;
        }
        if (PQresultStatus(*last) == PGRES_FATAL_ERROR && *last != NULL) {
            PQclear(result);
        } else {
            PQclear(*last);
            *last = result;
        }
    }
    return false;
}

static int await_results(struct cbx_postgres *postgres, PGresult **last, struct cbx_err *err)
{
    bool done = false;
    while (!done) {
        int unsent = PQflush(postgres->connection);
        if (unsent < 0) {
            return lose(postgres, err);
        }
        if (!wait_for(postgres, unsent > 0 ? POLLIN | POLLOUT : POLLIN)) {
            return give_up(postgres, err);
        }
        if (!PQconsumeInput(postgres->connection)) {
            return lose(postgres, err);
        }
        done = take_results(postgres, last);
    }
    return 0;
}

int cbx_postgres_receive(struct cbx_postgres *postgres, int sent, PGresult **out,
                         struct cbx_err *err)
{
    PGresult *last = NULL;
    if (!sent) {
        return lose(postgres, err);
    }
    int failed = await_results(postgres, &last, err);
    if (!failed && PQstatus(postgres->connection) == CONNECTION_BAD) {
        failed = lose(postgres, err);
    }
    ExecStatusType status = PQresultStatus(last);
    if (!failed && status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        failed = fail_statement(postgres, last, err);
    }
    if (failed || out == NULL) {
        PQclear(last);
        return failed;
    }
    *out = last;
    return 0;
}

int cbx_postgres_run(struct cbx_postgres *postgres, const char *sql, PGresult **out,
                     struct cbx_err *err)
{
    return cbx_postgres_receive(postgres, PQsendQuery(postgres->connection, sql), out, err);
}
