/* SPDX-License-Identifier: MIT
 * Bearer tokens (RFC 6750). The file CBX_TOKENS_FILE of the state directory has a line of JSON
 * for each new token, with its SHA-256 and never the token itself (it has 256 random bits, so a
 * fast hash is enough), and one for each revocation. A line `stop` ends operations begun before
 * it. Lines are only appended: a gateway that has the file open reads a token and its revocation
 * with the next request. A file in the same format that several gateways share (--tokens) is
 * read as a whole instead (cbx_tokens_read). */
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
    int64_t revoked_ms;             /* 0 = not revoked */
};

struct cbx_tokens;

/* Opens the file in the state directory for reading; created with mode 0600 if it is absent and
 * `create`. *out is NULL, with 0, if it is absent and not `create`. CBX_EIO; CBX_EINVAL for a
 * file that is not the user's, or that others can write; CBX_EPROTO, with the line, for a
 * damaged file: no token of it is accepted. */
int cbx_tokens_open(const char *state_dir, bool create, struct cbx_tokens **out,
                    struct cbx_err *err);
/* The same for a check: creates nothing, not even the directory. */
int cbx_tokens_try(const char *state_dir, struct cbx_tokens **out, struct cbx_err *err);
/* Makes the set of the tokens, revocations and stops in a text with the lines of such a file,
 * which has no file from then on. The last line counts also without its newline: it may revoke a
 * token. CBX_EPROTO, with the line, for a damaged text; CBX_ETOOBIG. */
int cbx_tokens_read(struct cbx_str text, struct cbx_tokens **out, struct cbx_err *err);
void cbx_tokens_free(struct cbx_tokens *tokens);
CBX_DEFINE_AUTO(tokens)

/* Finds the token with this text, after reading lines appended to the file. CBX_ENOTFOUND if
 * there is none of this text, it is revoked or it has expired (err->detail has the reason, for
 * the log); CBX_EIO, CBX_EPROTO if the file cannot be read any more, or was replaced: no token
 * is valid then. Takes the same time for every text that has an id. Thread-safe. */
int cbx_tokens_find(struct cbx_tokens *tokens, struct cbx_str text, int64_t now_ms,
                    struct cbx_token *out, struct cbx_err *err);

/* Checks that cbx_tokens_find would find the token with this id. The same errors. */
int cbx_tokens_check(struct cbx_tokens *tokens, struct cbx_str id, int64_t now_ms,
                     struct cbx_err *err);

/* The scope of a stop: operations of a principal, operations begun with a token, or, if both are
 * empty, all. */
struct cbx_stop {
    char principal[CBX_NAME_MAX + 1];
    char id[CBX_TOKEN_ID_CHARS + 1];
    int64_t time_ms; /* wall clock time: ends operations begun until then */
};

/* Checks that no stop ended an operation that this principal began at begun_ms, with the token
 * of this id (empty = none). CBX_EFORBIDDEN if one did; the errors of cbx_tokens_check if the
 * file cannot be read. */
int cbx_tokens_stopped(struct cbx_tokens *tokens, struct cbx_str principal, struct cbx_str id,
                       int64_t begun_ms, struct cbx_err *err);

/* Returns the descriptor of the file; -1 for a set of cbx_tokens_read. */
int cbx_tokens_fd(const struct cbx_tokens *tokens);

/* Return the number of all tokens, in the order of their creation, and each by its index. */
size_t cbx_tokens_count(struct cbx_tokens *tokens);
bool cbx_tokens_at(struct cbx_tokens *tokens, size_t index, struct cbx_token *out);

/* Makes a token of this principal and appends it to the file, durably; `token` is its record
 * without the id. The caller shows *id and *text: the text is stored nowhere. CBX_EINVAL for a
 * principal's name that cbx_principal_check refuses; CBX_ETOOBIG if there are CBX_TOKENS_MAX;
 * CBX_EIO. */
int cbx_tokens_create(const char *state_dir, const struct cbx_token *token,
                      char id[CBX_TOKEN_ID_CHARS + 1], char text[CBX_TOKEN_CHARS + 1],
                      struct cbx_err *err);

/* Revokes the token with this id. CBX_ENOTFOUND if there is none, CBX_ESTATE if it is revoked
 * already. */
int cbx_tokens_revoke(const char *state_dir, struct cbx_str id, struct cbx_err *err);

/* Appends a stop of operations begun until now; time_ms is not read. The id must be that of a
 * token of `shared`, the set of the gateway's option --tokens; NULL = a token of the file itself.
 * CBX_ENOTFOUND if there is no token with the id, and if there is no file: then no gateway of this
 * directory authenticates callers. */
int cbx_tokens_stop(const char *state_dir, const struct cbx_stop *stop, struct cbx_tokens *shared,
                    struct cbx_err *err);

/* Checks a principal's name: 1 to CBX_NAME_MAX printable characters of ASCII except quotes, '<',
 * '>', '&', '\\', '*' and ','. CBX_EINVAL. */
int cbx_principal_check(struct cbx_str name, struct cbx_err *err);

#endif
