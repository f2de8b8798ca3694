/* SPDX-License-Identifier: MIT
 * The process of the database: one thread, one link, one connection. */
#include "gateway/database/database_process.h"

#include "gateway/database/database_ops.h"
#include "gateway/database/database_wire.h"
#include "gateway/ipc/ending.h"
#include "gateway/ipc/jail/files.h"
#include "gateway/ipc/jail/jail.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
    REQUEST_MS = 10000,              /* for a request that has begun to arrive */
    ANSWER_BYTES = 16 * 1024 * 1024, /* of a message, after which the next one begins */
    ANSWER_ROWS = 1000,
};

static struct {
    int channel, link; /* link -1 = none */
    char *url, *replica;
    struct cbx_database *database; /* NULL = not open yet */
    bool in_transaction;
} process;

/* --- the target ------------------------------------------------------------------------------- */

void cbx_database_target_write(const struct cbx_database_target *target, struct cbx_buf *out)
{
    const struct cbx_str texts[] = { target->url, target->replica, target->authorities };
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        bytes += texts[i].len + 1;
    }
    cbx_buf_reserve(out, bytes); /* a buffer that grows leaves the password behind in the heap */
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cbx_buf_add(out, texts[i]);
        cbx_buf_add_char(out, '\0');
    }
}

static bool take(struct cbx_str *left, struct cbx_str *out)
{
    const char *end = left->len > 0 ? memchr(left->p, '\0', left->len) : NULL;
    if (end == NULL) {
        return false;
    }
    *out = cbx_str_sub(*left, 0, (size_t)(end - left->p));
    *left = cbx_str_sub(*left, out->len + 1, left->len);
    return true;
}

bool cbx_database_target_read(struct cbx_str bytes, struct cbx_database_target *out)
{
    return take(&bytes, &out->url) && take(&bytes, &out->replica) &&
           take(&bytes, &out->authorities) && bytes.len == 0;
}

/* libpq reads the authorities from a file at each connection: it gets one in memory. */
static int add_authorities(struct cbx_str pem, struct cbx_buf *url, struct cbx_err *err)
{
    if (pem.len == 0) {
        return 0;
    }
    int fd = memfd_create("authorities", 0);
    if (fd < 0 || write(fd, pem.p, pem.len) != (ssize_t)pem.len) {
        return cbx_fail(err, CBX_EIO, "the authorities of the database: %s", strerror(errno));
    }
    cbx_buf_printf(url, "%csslrootcert=/proc/self/fd/%d",
                   memchr(url->p, '?', url->len) != NULL ? '&' : '?', fd);
    return 0;
}

static int read_target(struct cbx_str bytes, struct cbx_err *err)
{
    struct cbx_database_target target;
    struct cbx_buf url;
    if (!cbx_database_target_read(bytes, &target)) {
        return cbx_fail(err, CBX_EPROTO, "the target of the database is malformed");
    }
    cbx_buf_init(&url, target.url.len + 64); /* with the parameter for the authorities */
    cbx_buf_add(&url, target.url);
    int failed = add_authorities(target.authorities, &url, err);
    process.url = cbx_buf_take(&url);
    process.replica = cbx_str_copy(target.replica);
    explicit_bzero((char *)(uintptr_t)bytes.p, bytes.len);
    return failed;
}

/* --- answers ---------------------------------------------------------------------------------- */

struct answer {
    int code;
    int64_t changed;
    int columns;
    bool more;
};

static int send_answer(const struct answer *answer, const struct cbx_texts *texts)
{
    CBX_AUTO_JSON header = json_pack("{s:i,s:I,s:i,s:O,s:b}", "code", answer->code, "changed",
                                     (json_int_t)answer->changed, "columns", answer->columns,
                                     "lengths", texts->lengths, "more", answer->more);
    return cbx_wire_send(process.link, header, cbx_buf_str(&texts->bytes), NULL);
}

static int send_failure(int code, const struct cbx_err *err)
{
    CBX_AUTO_DONE(texts) texts;
    cbx_texts_init(&texts);
    if (err->detail[0] != '\0') { /* names and addresses, for the operator alone */
        cbx_log(CBX_LOG_WARNING, "%s: %s", err->text, err->detail);
    }
    cbx_texts_add(&texts, err->text, NULL);
    return send_answer(&(struct answer){ .code = code }, &texts);
}

static int add_row(struct cbx_rows *rows, struct cbx_texts *texts, struct cbx_err *err)
{
    int failed = 0;
    for (int i = 0; !failed && i < cbx_rows_columns(rows); i++) {
        failed = cbx_texts_add(texts, cbx_rows_text(rows, i), err);
    }
    return failed;
}

/* Adds rows until the message is large. *more: rows may be left. */
static int add_rows(struct cbx_rows *rows, struct cbx_texts *texts, bool *more, struct cbx_err *err)
{
    int failed = 0;
    *more = true;
    for (int n = 0; !failed && n < ANSWER_ROWS && texts->bytes.len < ANSWER_BYTES; n++) {
        if (!cbx_rows_next(rows)) {
            *more = false;
            return cbx_rows_check(rows, err);
        }
        failed = add_row(rows, texts, err);
    }
    return failed;
}

/* Sends all rows. A failure after the first message is the code of the last one. */
static int send_rows(struct cbx_rows *rows)
{
    struct cbx_err err = { 0 };
    struct answer answer = { .columns = cbx_rows_columns(rows), .more = true };
    for (bool first = true; answer.more; first = false) {
        CBX_AUTO_DONE(texts) texts;
        cbx_texts_init(&texts);
        for (int i = 0; first && i < answer.columns; i++) {
            cbx_texts_add(&texts, cbx_rows_name(rows, i), NULL);
        }
        int failed = add_rows(rows, &texts, &answer.more, &err);
        if (failed) {
            return send_failure(failed, &err);
        }
        if (send_answer(&answer, &texts) != 0) {
            return CBX_EIO;
        }
    }
    return 0;
}

/* --- requests --------------------------------------------------------------------------------- */

struct request {
    enum cbx_database_op op;
    enum cbx_statement statement;
    const char *texts[CBX_DATABASE_PARAMETERS_MAX];
    int count;
};

static int read_request(const struct cbx_message *message, struct request *out, struct cbx_err *err)
{
    json_int_t op = json_integer_value(json_object_get(message->header, "op"));
    json_int_t statement = json_integer_value(json_object_get(message->header, "statement"));
    size_t count = json_array_size(json_object_get(message->header, "lengths"));
    struct cbx_texts_reader reader;
    bool runs = op == CBX_DATABASE_QUERY || op == CBX_DATABASE_EXECUTE;
    if (op < 0 || op >= CBX_DATABASE_OPS || statement < 0 || statement >= CBX_STATEMENTS ||
        count > CBX_DATABASE_PARAMETERS_MAX ||
        (runs && (int)count != cbx_statement_parameters((enum cbx_statement)statement))) {
        return cbx_fail(err, CBX_EPROTO, "a request to the database's process is malformed");
    }
    *out = (struct request){ .op = (enum cbx_database_op)op,
                             .statement = (enum cbx_statement)statement,
                             .count = (int)count };
    cbx_texts_read(&reader, message);
    int failed = 0;
    for (int i = 0; !failed && i < out->count; i++) {
        failed = cbx_texts_next(&reader, &out->texts[i], err);
    }
    return failed;
}

static int run_query(const struct request *request, struct cbx_err *err)
{
    CBX_AUTO(rows) rows = NULL;
    int failed = cbx_database_query(process.database, request->statement, request->texts,
                                    request->count, &rows, err);
    if (failed) {
        return send_failure(failed, err);
    }
    return send_rows(rows);
}

/* Runs what has no rows. */
static int run_plain(const struct request *request, int64_t *changed, struct cbx_err *err)
{
    int failed = 0;
    if (request->op == CBX_DATABASE_EXECUTE) {
        failed = cbx_database_execute(process.database, request->statement, request->texts,
                                      request->count, changed, err);
    } else if (request->op == CBX_DATABASE_BEGIN) {
        failed = cbx_database_begin(process.database, err);
        process.in_transaction = true;
    } else if (request->op == CBX_DATABASE_COMMIT) {
        failed = cbx_database_commit(process.database, err);
        process.in_transaction = failed != 0;
    } else if (request->op == CBX_DATABASE_ROLLBACK) {
        cbx_database_rollback(process.database);
        process.in_transaction = false;
    }
    return failed;
}

static int open_database(struct cbx_err *err)
{
    if (process.database != NULL) {
        return 0;
    }
    return cbx_database_open_postgres(process.url, process.replica, &process.database, err);
}

/* Carries a request out and answers it. Fails if the link failed. */
static int serve(const struct cbx_message *message)
{
    struct request request;
    struct cbx_err err = { 0 };
    struct answer answer = { 0 };
    int failed = read_request(message, &request, &err);
    if (failed) {
        return failed;
    }
    failed = open_database(&err);
    if (!failed && request.op == CBX_DATABASE_QUERY) {
        return run_query(&request, &err);
    }
    if (!failed) {
        failed = run_plain(&request, &answer.changed, &err);
    }
    if (failed) {
        return send_failure(failed, &err);
    }
    CBX_AUTO_DONE(texts) none;
    cbx_texts_init(&none);
    return send_answer(&answer, &none);
}

/* --- the loop --------------------------------------------------------------------------------- */

static void drop_link(void)
{
    cbx_fd_auto(&process.link);
    if (process.in_transaction) {
        cbx_database_rollback(process.database);
        process.in_transaction = false;
    }
}

static void take_link(void)
{
    int passed = -1;
    char tag;
    struct cbx_err err;
    int failed = cbx_wire_receive_fd_now(process.channel, &passed, &tag, &err);
    if (failed == CBX_ETIMEDOUT) {
        return; /* the process before this one has taken it */
    }
    if (failed) {
        _exit(0); /* the gateway has ended */
    }
    if (passed >= 0) {
        drop_link();
        process.link = passed;
    }
}

static void serve_link(void)
{
    CBX_AUTO_DONE(message) message;
    cbx_message_init(&message);
    struct cbx_err err;
    if (cbx_wire_receive(process.link, REQUEST_MS, &message, &err) != 0 || serve(&message) != 0) {
        drop_link();
    }
}

static int prepare(struct cbx_str bytes, struct cbx_err *err)
{
    clearenv(); /* libpq takes what the URL does not have from variables */
    int failed = read_target(bytes, err);
    if (!failed) {
        failed = cbx_files_confine_to_network(err);
    }
    if (failed) {
        return failed;
    }
    return cbx_jail_sender(false, err);
}

_Noreturn void cbx_database_main(int channel, struct cbx_str bytes)
{
    struct cbx_err err = { 0 };
    sigset_t waiting;
    prctl(PR_SET_NAME, "cbx-database");
    cbx_log_set_component("database");
    cbx_ending_catch(&waiting);
    process.channel = channel;
    process.link = -1;
    if (prepare(bytes, &err) != 0) {
        cbx_log(CBX_LOG_ERROR, "the process of the database: %s", err.text);
        _exit(1);
    }
    while (!cbx_is_ending() || process.in_transaction) {
        struct pollfd events[] = { { .fd = process.channel, .events = POLLIN },
                                   { .fd = process.link, .events = POLLIN } };
        if (ppoll(events, 2, NULL, &waiting) < 0) {
            continue;
        }
        if (events[1].revents != 0) {
            serve_link();
        }
        if (events[0].revents != 0) {
            take_link();
        }
    }
    cbx_database_free(process.database); /* before the link: the next process takes the name */
    _exit(0);
}
