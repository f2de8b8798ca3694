/* SPDX-License-Identifier: MIT
 * The reader: a state for each part of a response. */
#include "gateway/front/forward/response.h"

#include <string.h>

enum { CHUNK_LINE_MAX = 1024, CHUNK_DIGITS_MAX = 8, HEX = 16 };

void cbx_response_init(struct cbx_response *r, const struct cbx_response_sink *sink)
{
    *r = (struct cbx_response){ .sink = sink };
    cbx_buf_init(&r->line, CBX_RESPONSE_HEAD_MAX);
}

void cbx_response_done(struct cbx_response *r)
{
    cbx_buf_done(&r->line);
}

static int fail(const char *what, struct cbx_err *err)
{
    return cbx_fail(err, CBX_EPROTO, "the response of the replica %s", what);
}

/* --- the head --------------------------------------------------------------------------------- */

/* "HTTP/1.1 200 OK", or without the words. */
static int read_status(struct cbx_response *r, struct cbx_str line, struct cbx_err *err)
{
    static const struct cbx_str version = CBX_STR("HTTP/1.1 ");
    struct cbx_str rest = cbx_str_sub(line, version.len, line.len);
    bool good =
        cbx_str_starts(line, version) && rest.len >= 3 && (rest.len == 3 || rest.p[3] == ' ');
    r->status = 0;
    for (size_t i = 0; good && i < 3; i++) {
        good = rest.p[i] >= '0' && rest.p[i] <= '9';
        r->status = r->status * 10 + (rest.p[i] - '0');
    }
    if (!good || r->status < 100 || r->status > 599) {
        return fail("does not begin with HTTP/1.1 and a status", err);
    }
    return 0;
}

static int read_length(struct cbx_response *r, struct cbx_str value, struct cbx_err *err)
{
    if (r->has_length) {
        return fail("has two fields Content-Length", err);
    }
    r->left = 0;
    for (size_t i = 0; i < value.len; i++) {
        if (value.p[i] < '0' || value.p[i] > '9' || r->left > UINT32_MAX) {
            return fail("has no decimal Content-Length", err);
        }
        r->left = r->left * 10 + (uint64_t)(value.p[i] - '0');
    }
    r->has_length = value.len > 0;
    return 0;
}

/* RFC 9110, sections 5.1 and 5.5. What is no field could not be sent to the client. */
static bool is_field(struct cbx_str name, struct cbx_str value)
{
    bool good = true;
    for (size_t i = 0; good && i < name.len; i++) {
        char c = name.p[i], low = (char)(c | 32);
        good = (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') ||
               (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
    }
    for (size_t i = 0; good && i < value.len; i++) {
        unsigned char c = (unsigned char)value.p[i];
        good = c >= ' ' && c != 0x7f;
    }
    return good;
}

static int read_field(struct cbx_response *r, struct cbx_str line, struct cbx_err *err)
{
    const char *colon = line.len > 0 ? memchr(line.p, ':', line.len) : NULL;
    if (colon == NULL || colon == line.p) {
        return fail("has a line that is no field", err);
    }
    struct cbx_str name = cbx_str_sub(line, 0, (size_t)(colon - line.p));
    struct cbx_str value = cbx_str_trim(cbx_str_sub(line, name.len + 1, line.len));
    int failed = 0;
    if (!is_field(name, value)) {
        return fail("has a line that is no field", err);
    }
    if (cbx_str_is_nocase(name, "Content-Length")) {
        failed = read_length(r, value, err);
    } else if (cbx_str_is_nocase(name, "Transfer-Encoding")) {
        r->chunked = cbx_str_is_nocase(value, "chunked");
        if (!r->chunked) {
            failed = fail("has an unknown Transfer-Encoding", err);
        }
    } else if (cbx_str_is_nocase(name, "Connection")) {
        r->closes = r->closes || cbx_str_is_nocase(value, "close");
    }
    if (failed || r->status < 200) {
        return failed;
    }
    failed = r->sink->field(r->sink->context, name, value);
    if (failed) {
        return cbx_fail(err, failed, "the response cannot be kept");
    }
    return 0;
}

static int begin_body(struct cbx_response *r, struct cbx_err *err)
{
    bool bodiless = r->status == 204 || r->status == 304;
    if (r->chunked && r->has_length) {
        return fail("has both Content-Length and Transfer-Encoding", err);
    }
    if (r->status < 200) {
        r->state = CBX_RESPONSE_HEAD; /* an interim response */
        return 0;
    }
    if (bodiless || (r->has_length && r->left == 0)) {
        r->state = CBX_RESPONSE_DONE;
    } else if (r->chunked) {
        r->state = CBX_RESPONSE_CHUNK_SIZE;
    } else {
        r->state = r->has_length ? CBX_RESPONSE_LENGTH : CBX_RESPONSE_TO_END;
        r->closes = r->closes || !r->has_length;
    }
    int failed = r->sink->begin(r->sink->context, r->status);
    if (failed) {
        return cbx_fail(err, failed, "the response is not wanted any more");
    }
    return 0;
}

/* Returns the next line of the head without its end. */
static struct cbx_str next_line(struct cbx_str *head)
{
    const char *end = memmem(head->p, head->len, "\r\n", 2);
    size_t len = end != NULL ? (size_t)(end - head->p) : head->len;
    struct cbx_str line = cbx_str_sub(*head, 0, len);
    *head = cbx_str_sub(*head, len + 2, head->len);
    return line;
}

static int read_head(struct cbx_response *r, struct cbx_str head, struct cbx_err *err)
{
    r->has_length = r->chunked = false;
    int failed = read_status(r, next_line(&head), err);
    while (!failed && head.len > 0) {
        failed = read_field(r, next_line(&head), err);
    }
    if (failed) {
        return failed;
    }
    return begin_body(r, err);
}

/* Takes bytes up to the end of the head; *taken is their number. Interim responses count towards
 * the limit of the header, so that they end. */
static int take_head(struct cbx_response *r, struct cbx_str bytes, size_t *taken,
                     struct cbx_err *err)
{
    static const char end[] = "\r\n\r\n";
    enum { END = sizeof(end) - 1 };
    size_t before = r->line.len, from = before < END - 1 ? 0 : before - (END - 1);
    size_t room = CBX_RESPONSE_HEAD_MAX - r->fields_bytes - before;
    if (room == 0) {
        return fail("has a header of more than 64 KiB", err);
    }
    bytes = cbx_str_sub(bytes, 0, room); /* the body may follow */
    cbx_buf_add(&r->line, bytes);
    const char *found = memmem(r->line.p + from, r->line.len - from, end, END);
    if (found == NULL) {
        *taken = bytes.len;
        return 0;
    }
    size_t len = (size_t)(found - r->line.p);
    *taken = len + END - before;
    r->fields_bytes += len + END;
    int failed = read_head(r, (struct cbx_str){ .p = r->line.p, .len = len }, err);
    cbx_buf_reset(&r->line);
    return failed;
}

/* --- the body --------------------------------------------------------------------------------- */

static int take_piece(struct cbx_response *r, struct cbx_str bytes, bool counted, size_t *taken,
                      struct cbx_err *err)
{
    size_t len = counted && bytes.len > r->left ? (size_t)r->left : bytes.len;
    *taken = len;
    r->left -= counted ? len : 0;
    int failed = r->sink->body(r->sink->context, cbx_str_sub(bytes, 0, len));
    if (failed) {
        return cbx_fail(err, failed, "the response is not taken any more");
    }
    return 0;
}

/* Collects a line in r->line; true if it is complete, without its end then. */
static int take_line(struct cbx_response *r, struct cbx_str bytes, size_t *taken, bool *complete,
                     struct cbx_err *err)
{
    const char *end = memchr(bytes.p, '\n', bytes.len);
    *taken = end != NULL ? (size_t)(end - bytes.p) + 1 : bytes.len;
    *complete = end != NULL;
    cbx_buf_add(&r->line, cbx_str_sub(bytes, 0, *taken));
    if (r->line.len > CHUNK_LINE_MAX) {
        return fail("has a chunk with a long first line", err);
    }
    if (!*complete) {
        return 0;
    }
    if (r->line.len < 2 || r->line.p[r->line.len - 2] != '\r') {
        return fail("has a line of a chunk that does not end with CR LF", err);
    }
    r->line.len -= 2;
    return 0;
}

static int read_chunk_size(struct cbx_response *r, struct cbx_err *err)
{
    struct cbx_str line = cbx_buf_str(&r->line);
    size_t digits = 0;
    r->left = 0;
    while (digits < line.len && line.p[digits] != ';') {
        char c = line.p[digits], low = (char)(c | 32);
        int value = c >= '0' && c <= '9' ? c - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
        if (value < 0 || digits == CHUNK_DIGITS_MAX) {
            return fail("has a chunk without a size", err);
        }
        r->left = r->left * HEX + (uint64_t)value;
        digits++;
    }
    if (digits == 0) {
        return fail("has a chunk without a size", err);
    }
    r->state = r->left > 0 ? CBX_RESPONSE_CHUNK : CBX_RESPONSE_TRAILER;
    return 0;
}

static int read_line(struct cbx_response *r, struct cbx_err *err)
{
    int failed = 0;
    switch (r->state) {
    case CBX_RESPONSE_CHUNK_SIZE:
        failed = read_chunk_size(r, err);
        break;
    case CBX_RESPONSE_CHUNK_END:
        if (r->line.len > 0) {
            failed = fail("has a chunk that is longer than its size", err);
        }
        r->state = CBX_RESPONSE_CHUNK_SIZE;
        break;
    default: /* a field of the trailer, which has no reader, or the empty line behind it */
        r->state = r->line.len == 0 ? CBX_RESPONSE_DONE : CBX_RESPONSE_TRAILER;
        r->fields_bytes += r->line.len;
        if (r->fields_bytes > CBX_RESPONSE_HEAD_MAX) {
            failed = fail("has a header and a trailer of more than 64 KiB", err);
        }
        break;
    }
    cbx_buf_reset(&r->line);
    return failed;
}

static int take_some(struct cbx_response *r, struct cbx_str bytes, size_t *taken,
                     struct cbx_err *err)
{
    bool complete = false;
    int failed = 0;
    switch (r->state) {
    case CBX_RESPONSE_HEAD:
        return take_head(r, bytes, taken, err);
    case CBX_RESPONSE_LENGTH:
        failed = take_piece(r, bytes, true, taken, err);
        r->state = r->left == 0 ? CBX_RESPONSE_DONE : r->state;
        return failed;
    case CBX_RESPONSE_CHUNK:
        failed = take_piece(r, bytes, true, taken, err);
        r->state = r->left == 0 ? CBX_RESPONSE_CHUNK_END : r->state;
        return failed;
    case CBX_RESPONSE_TO_END:
        return take_piece(r, bytes, false, taken, err);
    case CBX_RESPONSE_DONE:
        return fail("is followed by further bytes", err);
    default:
        failed = take_line(r, bytes, taken, &complete, err);
        if (failed || !complete) {
            return failed;
        }
        return read_line(r, err);
    }
}

int cbx_response_take(struct cbx_response *r, struct cbx_str bytes, struct cbx_err *err)
{
    while (bytes.len > 0) {
        size_t taken = 0;
        int failed = take_some(r, bytes, &taken, err);
        if (failed) {
            return failed;
        }
        bytes = cbx_str_sub(bytes, taken, bytes.len);
    }
    return 0;
}

int cbx_response_end(struct cbx_response *r, struct cbx_err *err)
{
    if (r->state == CBX_RESPONSE_TO_END) {
        r->state = CBX_RESPONSE_DONE;
    }
    if (r->state != CBX_RESPONSE_DONE) {
        return fail(r->status == 0 ? "did not come" : "is not complete", err);
    }
    return 0;
}

bool cbx_response_has_begun(const struct cbx_response *r)
{
    return r->status != 0 || r->line.len > 0;
}

bool cbx_response_is_done(const struct cbx_response *r)
{
    return r->state == CBX_RESPONSE_DONE;
}

bool cbx_response_leaves_open(const struct cbx_response *r)
{
    return r->state == CBX_RESPONSE_DONE && !r->closes;
}
