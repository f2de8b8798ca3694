/* SPDX-License-Identifier: MIT
 * Bearer tokens (RFC 6750). The file CBX_TOKENS_FILE of the state directory has a line of JSON
 * for each token that was made, with its SHA-256 and never the token itself (it has 256 random
 * bits, so that a fast hash is enough), and one for each that was revoked. A line `stop` ends
 * what was begun before it. Lines are only appended: a gateway that has the file open sees a
 * token and its revocation with the next request. */
#ifndef CBX_GATEWAY_IDENTITY_TOKENS_H
#define CBX_GATEWAY_IDENTITY_TOKENS_H

#include "policies/base/auto.h"
#include "policies/base/err.h"
#include "policies/permit.h"

#include <jansson.h>
#include <stdint.h>

#define CBX_TOKENS_FILE "tokens.jsonl"

enum {
    CBX_TOKEN_ID_CHARS = 12,
    CBX_TOKEN_CHARS = 4 + CBX_TOKEN_ID_CHARS + 1 + 43, /* cbx_ID_SECRET */
    CBX_TOKENS_MAX = 10000,
    CBX_TOKENS_FILE_MAX = 8 << 20
};

/* One token. */
struct cbx_token {
    char id[CBX_TOKEN_ID_CHARS + 1]; /* hexadecimal; not secret */
    char principal[CBX_NAME_MAX + 1];
    char note[129];
    int64_t created_ms, expires_ms; /* of the wall clock; expires_ms 0 = never */
    int64_t revoked_ms;             /* 0 = it is not */
};

struct cbx_tokens;

/* Opens the file in the state directory for reading; made with mode 0600 when it is absent and
 * `create`. *out is NULL, with 0, when it is absent and not to be made. CBX_EIO; CBX_EINVAL for
 * a file that is not the user's, or that others can write; CBX_EPROTO, with the line, for one
 * that is damaged: nobody is let in by half of a file. */
int cbx_tokens_open(const char *state_dir, bool create, struct cbx_tokens **out,
                    struct cbx_err *err);
/* The same for a check: makes nothing, not even the directory. */
int cbx_tokens_try(const char *state_dir, struct cbx_tokens **out, struct cbx_err *err);
void cbx_tokens_free(struct cbx_tokens *tokens);
CBX_DEFINE_AUTO(tokens)

/* Finds the token with this text, after reading what was appended to the file. CBX_ENOTFOUND
 * when there is none of this text, it is revoked or it has expired (err->detail says which, for
 * the log); CBX_EIO, CBX_EPROTO when the file cannot be read any more, or was replaced: no token
 * is valid then. Takes the same time for every text that has an id. Thread-safe. */
int cbx_tokens_find(struct cbx_tokens *tokens, struct cbx_str text, int64_t now_ms,
                    struct cbx_token *out, struct cbx_err *err);

/* Is the token with this id still one that cbx_tokens_find would find? The same errors. */
int cbx_tokens_check(struct cbx_tokens *tokens, struct cbx_str id, int64_t now_ms,
                     struct cbx_err *err);

/* What a stop ends: what a principal began, what was begun with a token, or, where both are
 * empty, all. */
struct cbx_stop {
    char principal[CBX_NAME_MAX + 1];
    char id[CBX_TOKEN_ID_CHARS + 1];
    int64_t time_ms; /* of the wall clock: what was begun until then */
};

/* Was what this principal began at begun_ms, with the token of this id (empty = with none),
 * stopped since? CBX_EFORBIDDEN when it was; the errors of cbx_tokens_check when the file cannot
 * be read. */
int cbx_tokens_stopped(struct cbx_tokens *tokens, struct cbx_str principal, struct cbx_str id,
                       int64_t begun_ms, struct cbx_err *err);

/* The descriptor of the file. */
int cbx_tokens_fd(const struct cbx_tokens *tokens);

/* All of them, in the order in which they were made: the number, and each by its index. */
size_t cbx_tokens_count(struct cbx_tokens *tokens);
bool cbx_tokens_at(struct cbx_tokens *tokens, size_t index, struct cbx_token *out);

/* Makes a token of this principal and appends it to the file, durably; `token` is its record
 * without the id. *id and *text are what the caller shows: the text is nowhere else. CBX_EINVAL
 * for a principal's name that cbx_principal_check refuses; CBX_ETOOBIG when there are
 * CBX_TOKENS_MAX; CBX_EIO. */
int cbx_tokens_create(const char *state_dir, const struct cbx_token *token,
                      char id[CBX_TOKEN_ID_CHARS + 1], char text[CBX_TOKEN_CHARS + 1],
                      struct cbx_err *err);

/* Revokes the token with this id. CBX_ENOTFOUND when there is none, CBX_ESTATE when it is
 * revoked already. */
int cbx_tokens_revoke(const char *state_dir, struct cbx_str id, struct cbx_err *err);

/* Appends that what was begun until now ends; time_ms is not read. CBX_ENOTFOUND when there is
 * no token with the id, and when there is no file: then no gateway of this directory knows who
 * begins what. */
int cbx_tokens_stop(const char *state_dir, const struct cbx_stop *stop, struct cbx_err *err);

/* May a principal have this name? 1 to CBX_NAME_MAX printable characters of ASCII but quotes,
 * '<', '>', '&', '\\', '*' and ','. CBX_EINVAL. */
int cbx_principal_check(struct cbx_str name, struct cbx_err *err);

#endif
