/* SPDX-License-Identifier: MIT
 * Messages between a database_remote and the process that has the connection to the server
 * (database_process.h): ipc_wire.h messages whose bytes are texts, each with a NUL behind it. Both
 * ends are the same program, but either may have been taken over: lengths are checked. */
#ifndef CBX_GATEWAY_DATABASE_DATABASE_WIRE_H
#define CBX_GATEWAY_DATABASE_DATABASE_WIRE_H

#include "gateway/database/database.h"
#include "gateway/ipc/wire/ipc_wire.h"

/* A request is {op, statement, lengths} and the parameters. Each is answered by one or more
 * messages {code, changed, columns, lengths, more} and texts: the names of the columns, then rows;
 * `more` in all but the last. With a code that is not 0 the only text is the error's. */
enum cbx_database_op {
    CBX_DATABASE_OPEN, /* connects, creates the tables */
    CBX_DATABASE_QUERY,
    CBX_DATABASE_EXECUTE,
    CBX_DATABASE_BEGIN,
    CBX_DATABASE_COMMIT,
    CBX_DATABASE_ROLLBACK,
    CBX_DATABASE_OPS
};

enum {
    CBX_DATABASE_PARAMETERS_MAX = 32,
    CBX_DATABASE_COLUMNS_MAX = 32,
    CBX_DATABASE_ANSWER_MS = 20000, /* of the front, for each message of an answer */
};

/* Texts that are sent: their lengths, -1 for NULL, and their bytes. */
struct cbx_texts {
    json_t *lengths;
    struct cbx_buf bytes;
};
void cbx_texts_init(struct cbx_texts *texts);
void cbx_texts_done(struct cbx_texts *texts);
CBX_DEFINE_AUTO_DONE(texts)

/* Appends a text, or NULL. CBX_ETOOBIG. */
int cbx_texts_add(struct cbx_texts *texts, const char *text, struct cbx_err *err);

/* Reads received texts in their order; borrowed from the message. */
struct cbx_texts_reader {
    const json_t *lengths;
    struct cbx_str left;
    size_t next;
};
void cbx_texts_read(struct cbx_texts_reader *reader, const struct cbx_message *message);

/* Reads the next text; *out is NULL for NULL. CBX_EPROTO if there is none, or it is malformed. */
int cbx_texts_next(struct cbx_texts_reader *reader, const char **out, struct cbx_err *err);

#endif
