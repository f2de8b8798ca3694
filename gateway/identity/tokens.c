/* SPDX-License-Identifier: MIT
 * The file of tokens. */
#include "gateway/identity/tokens.h"

#include "gateway/ipc/master/state.h"
#include "policies/base/hash.h"
#include "policies/base/memory.h"
#include "policies/base/text/base64.h"
#include "policies/base/text/json.h"
#include "policies/base/time/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1024, SECRET_BYTES = 32 };

struct entry {
    struct cbx_token token;
    struct cbx_sha256 hash;
};

struct cbx_tokens {
    int fd; /* -1 = a set of cbx_tokens_read */
    pthread_mutex_t lock;
    off_t read;    /* number of bytes of whole lines */
    uint64_t line; /* of these */
    struct entry *items;
    size_t count;
    struct cbx_stop *stops; /* the last stop of each scope */
    size_t stop_count;
};

int cbx_principal_check(struct cbx_str name, struct cbx_err *err)
{
    bool good = name.len > 0 && name.len <= CBX_NAME_MAX;
    for (size_t i = 0; i < name.len && good; i++) {
        good = name.p[i] > ' ' && name.p[i] < 0x7f && strchr("\"'<>&\\*,`", name.p[i]) == NULL;
    }
    if (!good) {
        return cbx_fail(err, CBX_EINVAL,
                        "a principal's name has 1 to %d printable characters of ASCII, and no "
                        "space, quote, '<', '>', '&', '\\', '*' or ','",
                        CBX_NAME_MAX);
    }
    return 0;
}

/* --- records ---------------------------------------------------------------------------------- */

/* A line of the file. */
struct record {
    struct cbx_str op, id, principal, sha256, note;
    int64_t time_ms, expires_ms;
};

static const struct cbx_json_field fields[] = {
    { "op", CBX_JSON_STR, offsetof(struct record, op), true, false, 1, 16 },
    { "id", CBX_JSON_STR, offsetof(struct record, id), false, false, CBX_TOKEN_ID_CHARS,
      CBX_TOKEN_ID_CHARS },
    { "principal", CBX_JSON_STR, offsetof(struct record, principal), false, false, 1,
      CBX_NAME_MAX },
    { "sha256", CBX_JSON_STR, offsetof(struct record, sha256), false, false, CBX_SHA256_HEX,
      CBX_SHA256_HEX },
    { "note", CBX_JSON_STR, offsetof(struct record, note), false, false, 0, 128 },
    { "time_ms", CBX_JSON_INT, offsetof(struct record, time_ms), true, false, 1, INT64_MAX },
    { "expires_ms", CBX_JSON_INT, offsetof(struct record, expires_ms), false, false, 0, INT64_MAX },
};

static struct entry *find_id(const struct cbx_tokens *tokens, struct cbx_str id)
{
    for (size_t i = 0; i < tokens->count; i++) {
        if (cbx_str_is(id, tokens->items[i].token.id)) {
            return &tokens->items[i];
        }
    }
    return NULL;
}

static void copy(char *out, size_t size, struct cbx_str text)
{
    snprintf(out, size, "%.*s", (int)text.len, text.len > 0 ? text.p : "");
}

static int add_token(struct cbx_tokens *tokens, const struct record *r, struct cbx_err *err)
{
    struct entry entry = { .token = { .created_ms = r->time_ms, .expires_ms = r->expires_ms } };
    if (tokens->count >= CBX_TOKENS_MAX || r->id.len == 0 || find_id(tokens, r->id) != NULL ||
        !cbx_sha256_from_hex(r->sha256, &entry.hash) ||
        cbx_principal_check(r->principal, err) != 0) {
        return cbx_fail(err, CBX_EPROTO, "it makes no token");
    }
    copy(entry.token.id, sizeof(entry.token.id), r->id);
    copy(entry.token.principal, sizeof(entry.token.principal), r->principal);
    copy(entry.token.note, sizeof(entry.token.note), r->note);
    tokens->items = cbx_grow(tokens->items, tokens->count, sizeof(*tokens->items));
    tokens->items[tokens->count++] = entry;
    return 0;
}

/* The last stop of a scope replaces the earlier ones of that scope. */
static void add_stop(struct cbx_tokens *tokens, const struct record *r)
{
    struct cbx_stop stop = { .time_ms = r->time_ms };
    copy(stop.principal, sizeof(stop.principal), r->principal);
    copy(stop.id, sizeof(stop.id), r->id);
    for (size_t i = 0; i < tokens->stop_count; i++) {
        struct cbx_stop *at = &tokens->stops[i];
        if (strcmp(at->principal, stop.principal) == 0 && strcmp(at->id, stop.id) == 0) {
            at->time_ms = at->time_ms > stop.time_ms ? at->time_ms : stop.time_ms;
            return;
        }
    }
    tokens->stops = cbx_grow(tokens->stops, tokens->stop_count, sizeof(*tokens->stops));
    tokens->stops[tokens->stop_count++] = stop;
}

static int apply(struct cbx_tokens *tokens, struct cbx_str line, struct cbx_err *err)
{
    CBX_AUTO_JSON json = NULL;
    struct record r = { 0 };
    int failed = cbx_json_parse(line, LINE_MAX_BYTES, &json, err);
    if (failed) {
        return failed;
    }
    failed = cbx_json_read(json, fields, sizeof(fields) / sizeof(fields[0]), &r, err);
    if (failed) {
        return failed;
    }
    if (cbx_str_is(r.op, "create")) {
        return add_token(tokens, &r, err);
    }
    if (cbx_str_is(r.op, "stop")) {
        add_stop(tokens, &r);
        return 0;
    }
    struct entry *entry = cbx_str_is(r.op, "revoke") ? find_id(tokens, r.id) : NULL;
    if (entry == NULL) {
        return cbx_fail(err, CBX_EPROTO, "it revokes no token of a line before");
    }
    entry->token.revoked_ms = r.time_ms;
    return 0;
}

static int apply_line(struct cbx_tokens *tokens, struct cbx_str line, struct cbx_err *err)
{
    struct cbx_err own = { 0 };
    if (apply(tokens, line, &own) != 0) {
        return cbx_fail(err, CBX_EPROTO, "line %llu of the file of tokens: %s",
                        (unsigned long long)tokens->line + 1, own.text);
    }
    tokens->read += (off_t)line.len + 1;
    tokens->line++;
    return 0;
}

/* Applies the complete lines of a text; *rest is the text after the last newline. */
static int apply_lines(struct cbx_tokens *tokens, struct cbx_str text, struct cbx_str *rest,
                       struct cbx_err *err)
{
    const char *end;
    *rest = text;
    while (rest->len > 0 && (end = memchr(rest->p, '\n', rest->len)) != NULL) {
        size_t len = (size_t)(end - rest->p);
        int failed = apply_line(tokens, cbx_str_sub(*rest, 0, len), err);
        if (failed) {
            return failed;
        }
        *rest = cbx_str_sub(*rest, len + 1, rest->len);
    }
    return 0;
}

/* Reads the lines that were appended. An incomplete last line is still being written. */
static int read_lines(struct cbx_tokens *tokens, off_t size, struct cbx_err *err)
{
    size_t len = (size_t)(size - tokens->read);
    CBX_AUTO_MEM char *text = cbx_renew(NULL, 1, len + 1);
    struct cbx_str rest;
    ssize_t got = pread(tokens->fd, text, len, tokens->read);
    if (got < 0) {
        return cbx_fail(err, CBX_EIO, "the file of tokens cannot be read: %s", strerror(errno));
    }
    return apply_lines(tokens, (struct cbx_str){ .p = text, .len = (size_t)got }, &rest, err);
}

/* With the lock held. */
static int refresh(struct cbx_tokens *tokens, struct cbx_err *err)
{
    struct stat status;
    if (tokens->fd < 0) {
        return 0;
    }
    if (fstat(tokens->fd, &status) < 0) {
        return cbx_fail(err, CBX_EIO, "the file of tokens cannot be read: %s", strerror(errno));
    }
    if (status.st_nlink == 0 || status.st_size < tokens->read ||
        status.st_size > CBX_TOKENS_FILE_MAX) {
        return cbx_fail(err, CBX_EPROTO,
                        "the file of tokens was replaced, removed or cut short; start the gateway "
                        "again");
    }
    if (status.st_size > tokens->read) {
        return read_lines(tokens, status.st_size, err);
    }
    return 0;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Opens the file of an open state directory. *fd stays -1, with 0, if there is no file and none is
 * to be created. */
static int open_in(int dir, int flags, bool create, int *fd, struct cbx_err *err)
{
    struct stat status;
    CBX_AUTO_FD file =
        openat(dir, CBX_TOKENS_FILE,
               flags | (create ? O_CREAT : 0) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (file < 0) {
        if (errno != ENOENT || create) {
            return cbx_fail(err, CBX_EIO, "the file of tokens: %s", strerror(errno));
        }
        return 0;
    }
    if (fstat(file, &status) < 0 || !S_ISREG(status.st_mode) ||
        (status.st_uid != geteuid() && status.st_uid != 0) || (status.st_mode & 022) != 0) {
        return cbx_fail(err, CBX_EINVAL,
                        "the file of tokens must be a regular file of its user, and writable for "
                        "nobody else");
    }
    *fd = cbx_fd_steal(&file);
    return 0;
}

static int open_file(const char *state_dir, int flags, bool create, int *fd, struct cbx_err *err)
{
    CBX_AUTO_FD dir = -1;
    int failed = cbx_state_open(state_dir, &dir, err);
    if (failed) {
        return failed;
    }
    return open_in(dir, flags, create, fd, err);
}

static struct cbx_tokens *make_empty(int fd)
{
    struct cbx_tokens *tokens = cbx_new(sizeof(*tokens));
    tokens->fd = fd;
    pthread_mutex_init(&tokens->lock, NULL);
    return tokens;
}

static int load(int fd, struct cbx_tokens **out, struct cbx_err *err)
{
    CBX_AUTO(tokens) tokens = make_empty(fd);
    int failed = refresh(tokens, err);
    if (!failed) {
        *out = cbx_steal(&tokens);
    }
    return failed;
}

int cbx_tokens_open(const char *state_dir, bool create, struct cbx_tokens **out,
                    struct cbx_err *err)
{
    int fd = -1;
    *out = NULL;
    int failed = open_file(state_dir, O_RDONLY, create, &fd, err);
    if (failed || fd < 0) {
        return failed;
    }
    return load(fd, out, err);
}

int cbx_tokens_try(const char *state_dir, struct cbx_tokens **out, struct cbx_err *err)
{
    CBX_AUTO_FD dir = -1;
    int fd = -1;
    *out = NULL;
    int failed = cbx_state_try(state_dir, &dir, err);
    if (failed || dir < 0) {
        return failed;
    }
    failed = open_in(dir, O_RDONLY, false, &fd, err);
    if (failed || fd < 0) {
        return failed;
    }
    return load(fd, out, err);
}

int cbx_tokens_read(struct cbx_str text, struct cbx_tokens **out, struct cbx_err *err)
{
    CBX_AUTO(tokens) tokens = make_empty(-1);
    struct cbx_str rest;
    if (text.len > CBX_TOKENS_FILE_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "the file of tokens has %zu bytes, the most is %d",
                        text.len, CBX_TOKENS_FILE_MAX);
    }
    int failed = apply_lines(tokens, text, &rest, err);
    if (!failed && rest.len > 0) {
        failed = apply_line(tokens, rest, err);
    }
    if (!failed) {
        *out = cbx_steal(&tokens);
    }
    return failed;
}

void cbx_tokens_free(struct cbx_tokens *tokens)
{
    if (tokens != NULL) {
        cbx_fd_auto(&tokens->fd);
        pthread_mutex_destroy(&tokens->lock);
        free(tokens->items);
        free(tokens->stops);
        free(tokens);
    }
}

/* --- finding ---------------------------------------------------------------------------------- */

/* Returns the id in a token's text; empty if the text has another form. */
static struct cbx_str id_of(struct cbx_str text)
{
    bool good = text.len == CBX_TOKEN_CHARS && cbx_str_starts(text, CBX_STR("cbx_")) &&
                text.p[4 + CBX_TOKEN_ID_CHARS] == '_';
    return cbx_str_sub(text, 4, good ? 4 + CBX_TOKEN_ID_CHARS : 4);
}

/* Returns why the token of the entry is invalid; NULL if it is valid. */
static const char *why_not(const struct entry *entry, int64_t now_ms)
{
    if (entry == NULL) {
        return "there is no such token";
    }
    if (entry->token.revoked_ms > 0) {
        return "it was revoked";
    }
    if (entry->token.expires_ms > 0 && now_ms >= entry->token.expires_ms) {
        return "it has expired";
    }
    return NULL;
}

static int check(const struct entry *entry, const struct cbx_sha256 *hash, int64_t now_ms,
                 struct cbx_err *err)
{
    static const struct cbx_sha256 none;
    bool same = cbx_sha256_equal(entry != NULL ? &entry->hash : &none, hash);
    const char *why = why_not(same ? entry : NULL, now_ms);
    if (why == NULL) {
        return 0;
    }
    cbx_fail(err, CBX_ENOTFOUND, "the token is not valid");
    cbx_err_detail(err, "%s%s%s", entry != NULL && same ? entry->token.id : "",
                   entry != NULL && same ? ": " : "", why);
    return CBX_ENOTFOUND;
}

int cbx_tokens_find(struct cbx_tokens *tokens, struct cbx_str text, int64_t now_ms,
                    struct cbx_token *out, struct cbx_err *err)
{
    struct cbx_sha256 hash = cbx_sha256_of(text);
    pthread_mutex_lock(&tokens->lock);
    int failed = refresh(tokens, err);
    if (!failed) {
        const struct entry *entry = find_id(tokens, id_of(text));
        failed = check(entry, &hash, now_ms, err);
        *out = failed ? (struct cbx_token){ 0 } : entry->token;
    }
    pthread_mutex_unlock(&tokens->lock);
    return failed;
}

int cbx_tokens_check(struct cbx_tokens *tokens, struct cbx_str id, int64_t now_ms,
                     struct cbx_err *err)
{
    pthread_mutex_lock(&tokens->lock);
    int failed = refresh(tokens, err);
    const char *why = failed ? NULL : why_not(find_id(tokens, id), now_ms);
    if (why != NULL) {
        failed = cbx_fail(err, CBX_ENOTFOUND, "the token is not valid any more: %s", why);
    }
    pthread_mutex_unlock(&tokens->lock);
    return failed;
}

int cbx_tokens_stopped(struct cbx_tokens *tokens, struct cbx_str principal, struct cbx_str id,
                       int64_t begun_ms, struct cbx_err *err)
{
    pthread_mutex_lock(&tokens->lock);
    int failed = refresh(tokens, err);
    for (size_t i = 0; i < tokens->stop_count && !failed; i++) {
        const struct cbx_stop *stop = &tokens->stops[i];
        bool covers = (stop->principal[0] == '\0' || cbx_str_is(principal, stop->principal)) &&
                      (stop->id[0] == '\0' || cbx_str_is(id, stop->id));
        if (covers && begun_ms <= stop->time_ms) {
            failed = cbx_fail(err, CBX_EFORBIDDEN, "the operator has stopped it (codebox stop)");
        }
    }
    pthread_mutex_unlock(&tokens->lock);
    return failed;
}

int cbx_tokens_fd(const struct cbx_tokens *tokens)
{
    return tokens->fd;
}

size_t cbx_tokens_count(struct cbx_tokens *tokens)
{
    pthread_mutex_lock(&tokens->lock);
    size_t count = tokens->count;
    pthread_mutex_unlock(&tokens->lock);
    return count;
}

bool cbx_tokens_at(struct cbx_tokens *tokens, size_t index, struct cbx_token *out)
{
    pthread_mutex_lock(&tokens->lock);
    bool is_there = index < tokens->count;
    if (is_there) {
        *out = tokens->items[index].token;
    }
    pthread_mutex_unlock(&tokens->lock);
    return is_there;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Opens and locks the file for appending, and reads it. The lock lasts until *out is freed. */
static int open_to_write(const char *state_dir, bool create, struct cbx_tokens **out,
                         struct cbx_err *err)
{
    int fd = -1;
    int failed = open_file(state_dir, O_RDWR | O_APPEND, create, &fd, err);
    if (failed || fd < 0) {
        return failed;
    }
    if (flock(fd, LOCK_EX) < 0) {
        close(fd);
        return cbx_fail(err, CBX_EIO, "the file of tokens cannot be locked: %s", strerror(errno));
    }
    return load(fd, out, err);
}

/* An incomplete last line, which a failed write left, is cut off: it has no effect yet. */
static int append(struct cbx_tokens *tokens, json_t *record, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, LINE_MAX_BYTES);
    int failed = cbx_json_write(&line, record);
    if (!failed) {
        failed = cbx_buf_add_char(&line, '\n');
    }
    json_decref(record);
    if (failed || ftruncate(tokens->fd, tokens->read) < 0 ||
        write(tokens->fd, line.p, line.len) != (ssize_t)line.len || fsync(tokens->fd) < 0) {
        int why = errno;
        if (ftruncate(tokens->fd, tokens->read) < 0) {
            why = errno;
        }
        return cbx_fail(err, CBX_EIO, "the file of tokens cannot be written: %s", strerror(why));
    }
    return 0;
}

/* Returns random bytes as text: 43 characters. */
static void make_secret(char *out, size_t size)
{
    char secret[SECRET_BYTES];
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 64);
    cbx_random(secret, sizeof(secret));
    cbx_base64url_encode((struct cbx_str){ .p = secret, .len = sizeof(secret) }, &text);
    snprintf(out, size, "%s", text.p);
}

int cbx_tokens_create(const char *state_dir, const struct cbx_token *token,
                      char id[CBX_TOKEN_ID_CHARS + 1], char text[CBX_TOKEN_CHARS + 1],
                      struct cbx_err *err)
{
    CBX_AUTO(tokens) tokens = NULL;
    uint8_t bytes[CBX_TOKEN_ID_CHARS / 2];
    char secret[44], hex[CBX_SHA256_HEX + 1];
    int failed = cbx_principal_check(cbx_str_of(token->principal), err);
    if (failed) {
        return failed;
    }
    failed = open_to_write(state_dir, true, &tokens, err);
    if (failed) {
        return failed;
    }
    if (tokens->count >= CBX_TOKENS_MAX || tokens->read > CBX_TOKENS_FILE_MAX - LINE_MAX_BYTES) {
        return cbx_fail(err, CBX_ETOOBIG, "there are %zu tokens, the most is %d", tokens->count,
                        CBX_TOKENS_MAX);
    }
    cbx_random(bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++) {
        snprintf(id + 2 * i, 3, "%02x", bytes[i]);
    }
    make_secret(secret, sizeof(secret));
    snprintf(text, CBX_TOKEN_CHARS + 1, "cbx_%s_%s", id, secret);
    struct cbx_sha256 hash = cbx_sha256_of(cbx_str_of(text));
    cbx_sha256_hex(&hash, hex);
    return append(tokens,
                  json_pack("{s:s,s:s,s:s,s:s,s:s,s:I,s:I}", "op", "create", "id", id, "principal",
                            token->principal, "sha256", hex, "note", token->note, "time_ms",
                            (json_int_t)cbx_time_ms(), "expires_ms", (json_int_t)token->expires_ms),
                  err);
}

int cbx_tokens_revoke(const char *state_dir, struct cbx_str id, struct cbx_err *err)
{
    CBX_AUTO(tokens) tokens = NULL;
    int failed = open_to_write(state_dir, false, &tokens, err);
    if (failed) {
        return failed;
    }
    const struct entry *entry = tokens != NULL ? find_id(tokens, id) : NULL;
    if (entry == NULL) {
        return cbx_fail(err, CBX_ENOTFOUND,
                        "there is no token '%.64s'; 'codebox token list' has their ids",
                        id.len > 0 ? id.p : "");
    }
    if (entry->token.revoked_ms > 0) {
        return cbx_fail(err, CBX_ESTATE, "token %s was revoked before", entry->token.id);
    }
    return append(tokens,
                  json_pack("{s:s,s:s,s:I}", "op", "revoke", "id", entry->token.id, "time_ms",
                            (json_int_t)cbx_time_ms()),
                  err);
}

int cbx_tokens_stop(const char *state_dir, const struct cbx_stop *stop, struct cbx_tokens *shared,
                    struct cbx_err *err)
{
    CBX_AUTO(tokens) tokens = NULL;
    int failed = open_to_write(state_dir, false, &tokens, err);
    if (failed) {
        return failed;
    }
    if (tokens == NULL) {
        return cbx_fail(
            err, CBX_ENOTFOUND,
            "this gateway authenticates no callers, so work has no owner to stop it by: POST "
            "/v1/executions/ID/cancel ends one, the end of the gateway all");
    }
    const struct cbx_tokens *named = shared != NULL ? shared : tokens;
    if (stop->id[0] != '\0' && find_id(named, cbx_str_of(stop->id)) == NULL) {
        return cbx_fail(err, CBX_ENOTFOUND,
                        "there is no token '%s'; 'codebox token list' has their ids", stop->id);
    }
    if (tokens->read > CBX_TOKENS_FILE_MAX - LINE_MAX_BYTES) {
        return cbx_fail(err, CBX_ETOOBIG, "the file of tokens has %lld bytes, the most is %d",
                        (long long)tokens->read, CBX_TOKENS_FILE_MAX);
    }
    json_t *record = json_pack("{s:s,s:I}", "op", "stop", "time_ms", (json_int_t)cbx_time_ms());
    if (stop->principal[0] != '\0') {
        json_object_set_new(record, "principal", json_string(stop->principal));
    }
    if (stop->id[0] != '\0') {
        json_object_set_new(record, "id", json_string(stop->id));
    }
    return append(tokens, record, err);
}
