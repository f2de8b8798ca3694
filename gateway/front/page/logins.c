/* SPDX-License-Identifier: MIT
 * Logins. The table has the SHA-256 of a cookie's value, like the file of tokens for a token. */
#include "gateway/front/page/logins.h"

#include "policies/base/memory.h"
#include "policies/base/text/hex.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct login {
    struct cbx_sha256 hash;
    int64_t until_ms; /* 0 = free */
    char *token;
};

struct cbx_logins {
    pthread_mutex_t lock;
    struct login items[CBX_LOGINS_MAX];
};

struct cbx_logins *cbx_logins_new(void)
{
    struct cbx_logins *logins = cbx_new(sizeof(*logins));
    pthread_mutex_init(&logins->lock, NULL);
    return logins;
}

static void forget(struct login *login)
{
    if (login->token != NULL) {
        explicit_bzero(login->token, strlen(login->token));
        free(login->token);
    }
    *login = (struct login){ 0 };
}

void cbx_logins_free(struct cbx_logins *logins)
{
    if (logins != NULL) {
        for (size_t i = 0; i < CBX_LOGINS_MAX; i++) {
            forget(&logins->items[i]);
        }
        pthread_mutex_destroy(&logins->lock);
        free(logins);
    }
}

bool cbx_logins_add(struct cbx_logins *logins, struct cbx_str token, int64_t clock_ms,
                    char out[CBX_LOGIN_CHARS + 1])
{
    char random[CBX_LOGIN_CHARS / 2];
    if (token.len > CBX_LOGIN_TOKEN_MAX) {
        return false;
    }
    cbx_random(random, sizeof(random));
    cbx_hex_encode(random, sizeof(random), out);
    cbx_tag_mark(out);
    char *copy = cbx_str_copy(token);
    pthread_mutex_lock(&logins->lock);
    struct login *room = &logins->items[0];
    for (size_t i = 1; i < CBX_LOGINS_MAX; i++) {
        room = logins->items[i].until_ms < room->until_ms ? &logins->items[i] : room;
    }
    forget(room);
    *room = (struct login){ .hash = cbx_sha256_of(cbx_str_of(out)),
                            .until_ms = clock_ms + (int64_t)CBX_LOGIN_S * 1000,
                            .token = copy };
    pthread_mutex_unlock(&logins->lock);
    return true;
}

bool cbx_logins_find(struct cbx_logins *logins, struct cbx_str value, int64_t clock_ms,
                     char out[CBX_LOGIN_TOKEN_MAX + 16])
{
    struct cbx_sha256 hash = cbx_sha256_of(value);
    bool found = false;
    pthread_mutex_lock(&logins->lock);
    for (size_t i = 0; i < CBX_LOGINS_MAX; i++) {
        struct login *login = &logins->items[i];
        if (login->token != NULL && login->until_ms <= clock_ms) {
            forget(login);
        }
        if (login->token != NULL && cbx_sha256_equal(&login->hash, &hash)) {
            snprintf(out, CBX_LOGIN_TOKEN_MAX + 16, "Bearer %s", login->token);
            found = true;
        }
    }
    pthread_mutex_unlock(&logins->lock);
    return found && value.len == CBX_LOGIN_CHARS;
}

void cbx_logins_remove(struct cbx_logins *logins, struct cbx_str value)
{
    struct cbx_sha256 hash = cbx_sha256_of(value);
    pthread_mutex_lock(&logins->lock);
    for (size_t i = 0; i < CBX_LOGINS_MAX; i++) {
        struct login *login = &logins->items[i];
        if (login->token != NULL && cbx_sha256_equal(&login->hash, &hash)) {
            forget(login);
        }
    }
    pthread_mutex_unlock(&logins->lock);
}

struct cbx_str cbx_logins_cookie(struct cbx_str header, const char *name)
{
    size_t at = 0, len = strlen(name);
    while (at < header.len) {
        const char *semicolon = memchr(header.p + at, ';', header.len - at);
        size_t end = semicolon != NULL ? (size_t)(semicolon - header.p) : header.len;
        struct cbx_str pair = cbx_str_sub(header, at, end);
        if (pair.len > len && pair.p[len] == '=' && memcmp(pair.p, name, len) == 0) {
            return cbx_str_sub(pair, len + 1, pair.len);
        }
        for (at = end + 1; at < header.len && header.p[at] == ' ';) {
            at++;
        }
    }
    return CBX_STR("");
}
