/* SPDX-License-Identifier: MIT
 * Statements over a link to the process of the database. */
#include "gateway/database/database_remote.h"

#include "gateway/database/database_ops.h"
#include "gateway/database/database_wire.h"
#include "policies/base/memory.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct remote {
    struct cbx_database base;
    int channel;
    int link; /* -1 = none: before the first statement, and after a failure */
    bool in_transaction;
    bool broken; /* the transaction lost its link */
    char failure[CBX_ERR_TEXT_BYTES];
};

/* --- a link ----------------------------------------------------------------------------------- */

/* True if the process has closed the link: it sends nothing without a request. */
static bool is_closed(int link)
{
    struct pollfd event = { .fd = link, .events = POLLIN };
    return poll(&event, 1, 0) != 0;
}

/* A process that is stopped must not stop the front: what is sent has the same deadline as the
 * answer. */
static int open_link(struct remote *r, struct cbx_err *err)
{
    const struct timeval limit = { .tv_sec = CBX_DATABASE_ANSWER_MS / 1000 };
    int pair[2];
    if (r->link >= 0 && (r->in_transaction || !is_closed(r->link))) {
        return 0;
    }
    cbx_fd_auto(&r->link); /* a reload has replaced the process */
    int failed = cbx_wire_pair(pair, err);
    if (failed) {
        return failed;
    }
    setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    failed = cbx_wire_send_fd_until(r->channel, pair[1], 0, cbx_clock_ms() + CBX_DATABASE_ANSWER_MS,
                                    err);
    close(pair[1]);
    if (failed) {
        close(pair[0]);
        return cbx_fail(err, CBX_EIO, "the process of the database does not answer");
    }
    r->link = pair[0];
    return 0;
}

static int lose_link(struct remote *r, const char *what, struct cbx_err *err)
{
    cbx_fd_auto(&r->link);
    r->broken = r->in_transaction;
    snprintf(r->failure, sizeof(r->failure), "the process of the database %s", what);
    return cbx_fail(err, CBX_EIO, "the database: %s", r->failure);
}

/* --- a statement ------------------------------------------------------------------------------ */

static int send_request(struct remote *r, enum cbx_database_op op, enum cbx_statement statement,
                        const char *const *texts, int count, struct cbx_err *err)
{
    CBX_AUTO_DONE(texts) sent;
    cbx_texts_init(&sent);
    for (int i = 0; i < count; i++) {
        int failed = cbx_texts_add(&sent, texts[i], err);
        if (failed) {
            return failed;
        }
    }
    int failed = open_link(r, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO_JSON header = json_pack("{s:i,s:i,s:O}", "op", (int)op, "statement", (int)statement,
                                     "lengths", sent.lengths);
    if (cbx_wire_send(r->link, header, cbx_buf_str(&sent.bytes), err) != 0) {
        return lose_link(r, "ended", err);
    }
    return 0;
}

/* The text of a failure is the only text of its message. */
static int read_failure(struct remote *r, const struct cbx_message *message, struct cbx_err *err)
{
    int code = (int)json_integer_value(json_object_get(message->header, "code"));
    struct cbx_texts_reader reader;
    const char *text = NULL;
    if (code == 0) {
        return 0;
    }
    cbx_texts_read(&reader, message);
    if (cbx_texts_next(&reader, &text, err) != 0 || text == NULL) {
        return lose_link(r, "sent a malformed answer", err);
    }
    snprintf(r->failure, sizeof(r->failure), "%s", text);
    return cbx_fail(err, code < 0 ? code : CBX_EIO, "%s", text);
}

/* Receives one message of an answer. */
static int receive(struct remote *r, struct cbx_message *out, struct cbx_err *err)
{
    int failed = cbx_wire_receive(r->link, CBX_DATABASE_ANSWER_MS, out, err);
    if (failed == CBX_ETIMEDOUT) {
        return lose_link(r, "does not answer", err);
    }
    if (failed) {
        return lose_link(r, "ended", err);
    }
    return read_failure(r, out, err);
}

static bool has_more(const struct cbx_message *message)
{
    return json_is_true(json_object_get(message->header, "more"));
}

/* --- rows ------------------------------------------------------------------------------------- */

struct remote_rows {
    struct cbx_rows base;
    struct cbx_message *messages;
    size_t count, at; /* messages; the one that is read */
    struct cbx_texts_reader reader;
    int columns;
    const char *names[CBX_DATABASE_COLUMNS_MAX], *row[CBX_DATABASE_COLUMNS_MAX];
    struct cbx_err err;
    int failed;
};

static struct remote_rows *rows_of(struct cbx_rows *rows)
{
    return (struct remote_rows *)rows;
}

static bool is_at_end(const struct remote_rows *rows)
{
    return rows->reader.next >= json_array_size(rows->reader.lengths);
}

static bool rows_next(struct cbx_rows *base)
{
    struct remote_rows *rows = rows_of(base);
    while (is_at_end(rows) && rows->at + 1 < rows->count) {
        cbx_texts_read(&rows->reader, &rows->messages[++rows->at]);
    }
    bool found = !rows->failed && !is_at_end(rows);
    for (int i = 0; found && i < rows->columns; i++) {
        rows->failed = cbx_texts_next(&rows->reader, &rows->row[i], &rows->err);
        found = !rows->failed;
    }
    return found;
}

static int rows_check(struct cbx_rows *base, struct cbx_err *err)
{
    struct remote_rows *rows = rows_of(base);
    if (rows->failed && err != NULL) {
        *err = rows->err;
    }
    return rows->failed ? CBX_EIO : 0;
}

static int rows_columns(struct cbx_rows *base)
{
    return rows_of(base)->columns;
}

static const char *rows_name(struct cbx_rows *base, int column)
{
    return rows_of(base)->names[column];
}

static const char *rows_text(struct cbx_rows *base, int column)
{
    return rows_of(base)->row[column];
}

static int64_t rows_number(struct cbx_rows *base, int column)
{
    const char *text = rows_of(base)->row[column];
    return text != NULL ? strtoll(text, NULL, 10) : 0;
}

static void rows_free(struct cbx_rows *base)
{
    struct remote_rows *rows = rows_of(base);
    for (size_t i = 0; i < rows->count; i++) {
        cbx_message_done(&rows->messages[i]);
    }
    free(rows->messages);
    free(rows);
}

static const struct cbx_rows_ops rows_ops = {
    .next = rows_next,
    .check = rows_check,
    .columns = rows_columns,
    .name = rows_name,
    .text = rows_text,
    .number = rows_number,
    .free = rows_free,
};

static int receive_rows(struct remote *r, struct remote_rows *rows, struct cbx_err *err)
{
    int failed = 0;
    do {
        rows->messages = cbx_grow(rows->messages, rows->count, sizeof(*rows->messages));
        struct cbx_message *message = &rows->messages[rows->count++];
        cbx_message_init(message);
        failed = receive(r, message, err);
    } while (!failed && has_more(&rows->messages[rows->count - 1]));
    return failed;
}

/* The names of the columns are the first texts. */
static int read_columns(struct remote *r, struct remote_rows *rows, struct cbx_err *err)
{
    json_int_t columns = json_integer_value(json_object_get(rows->messages[0].header, "columns"));
    cbx_texts_read(&rows->reader, &rows->messages[0]);
    if (columns < 1 || columns > CBX_DATABASE_COLUMNS_MAX) {
        return lose_link(r, "sent a malformed answer", err);
    }
    rows->columns = (int)columns;
    for (int i = 0; i < rows->columns; i++) {
        if (cbx_texts_next(&rows->reader, &rows->names[i], err) != 0 || rows->names[i] == NULL) {
            return lose_link(r, "sent a malformed answer", err);
        }
    }
    return 0;
}

/* --- the engine ------------------------------------------------------------------------------- */

static struct remote *remote_of(struct cbx_database *database)
{
    return (struct remote *)database;
}

static int check_transaction(struct remote *r, struct cbx_err *err)
{
    if (r->broken) {
        return cbx_fail(err, CBX_EIO, "the database: the transaction lost its connection");
    }
    return 0;
}

static int ask(struct remote *r, enum cbx_database_op op, enum cbx_statement statement,
               const char *const *texts, int count, struct cbx_message *answer, struct cbx_err *err)
{
    int failed = check_transaction(r, err);
    if (!failed) {
        failed = send_request(r, op, statement, texts, count, err);
    }
    if (failed) {
        return failed;
    }
    return receive(r, answer, err);
}

static int ask_plain(struct remote *r, enum cbx_database_op op, struct cbx_err *err)
{
    CBX_AUTO_DONE(message) answer;
    cbx_message_init(&answer);
    return ask(r, op, 0, NULL, 0, &answer, err);
}

static int query(struct cbx_database *database, enum cbx_statement statement,
                 const char *const *texts, int count, struct cbx_rows **out, struct cbx_err *err)
{
    struct remote *r = remote_of(database);
    int failed = check_transaction(r, err);
    if (!failed) {
        failed = send_request(r, CBX_DATABASE_QUERY, statement, texts, count, err);
    }
    if (failed) {
        return failed;
    }
    struct remote_rows *rows = cbx_new(sizeof(*rows));
    rows->base.ops = &rows_ops;
    failed = receive_rows(r, rows, err);
    if (!failed) {
        failed = read_columns(r, rows, err);
    }
    if (failed) {
        rows_free(&rows->base);
        return failed;
    }
    *out = &rows->base;
    return 0;
}

static int execute(struct cbx_database *database, enum cbx_statement statement,
                   const char *const *texts, int count, int64_t *changed, struct cbx_err *err)
{
    CBX_AUTO_DONE(message) answer;
    cbx_message_init(&answer);
    int failed =
        ask(remote_of(database), CBX_DATABASE_EXECUTE, statement, texts, count, &answer, err);
    if (!failed && changed != NULL) {
        *changed = json_integer_value(json_object_get(answer.header, "changed"));
    }
    return failed;
}

static int begin(struct cbx_database *database, struct cbx_err *err)
{
    struct remote *r = remote_of(database);
    int failed = ask_plain(r, CBX_DATABASE_BEGIN, err);
    r->in_transaction = !failed;
    return failed;
}

static int commit(struct cbx_database *database, struct cbx_err *err)
{
    struct remote *r = remote_of(database);
    int failed = ask_plain(r, CBX_DATABASE_COMMIT, err);
    r->in_transaction = failed != 0;
    return failed;
}

static void rollback(struct cbx_database *database)
{
    struct remote *r = remote_of(database);
    if (!r->broken && r->in_transaction) {
        ask_plain(r, CBX_DATABASE_ROLLBACK, NULL);
    }
    r->in_transaction = r->broken = false;
}

static const char *failure(struct cbx_database *database)
{
    return remote_of(database)->failure;
}

static void free_remote(struct cbx_database *database)
{
    struct remote *r = remote_of(database);
    cbx_fd_auto(&r->link);
    free(r);
}

static const struct cbx_database_ops ops = {
    .free = free_remote,
    .query = query,
    .execute = execute,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .failure = failure,
};

int cbx_database_open_remote(int channel, struct cbx_database **out, struct cbx_err *err)
{
    struct remote *r = cbx_new(sizeof(*r));
    r->base.ops = &ops;
    r->channel = channel;
    r->link = -1;
    int failed = ask_plain(r, CBX_DATABASE_OPEN, err);
    if (failed) {
        free_remote(&r->base);
        return failed;
    }
    *out = &r->base;
    return 0;
}
