/* SPDX-License-Identifier: MIT
 * Keys of issuers and tokens, both as they come from outside: the first line is a set of keys, the rest a token. Nothing that is
 * made up passes. */
#include "gateway/identity/jwt.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct cbx_issuer issuer = {
        .name = "a", .issuer = "b", .audience = "c", .claim = "sub"
    };
    const char *text = (const char *)data, *end = memchr(text, '\n', size);
    size_t len = end != NULL ? (size_t)(end - text) : size;
    CBX_AUTO(jwks) keys = NULL;
    struct cbx_str token =
        cbx_str_sub((struct cbx_str){ .p = text, .len = size }, len < size ? len + 1 : len, size);
    char name[513];
    CBX_AUTO_DONE(jwt) jwt = { 0 };
    struct cbx_err err = { 0 };
    cbx_jwt_issuer(token, name, &err);
    bool read = cbx_jwks_read((struct cbx_str){ .p = text, .len = len }, &keys, &err) == 0;
    if (read) {
        cbx_jwt_lacks_key(token, keys);
    }
    if (read && cbx_jwt_verify(token, &issuer, keys, 1000, &jwt, &err) == 0) {
        abort(); /* a signature was found by chance */
    }
    return 0;
}
