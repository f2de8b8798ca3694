/* SPDX-License-Identifier: MIT
 * TLS records, the ClientHello in them, its extensions. */
#include "docker/egress/relay/client_hello.h"

#include <stdbool.h>
#include <string.h>

enum {
    RECORD_MAX = 16 * 1024,
    MESSAGE_HEAD = 4,
    VERSION_MAJOR = 3, /* of SSL 3.0 and every version of TLS */
    RANDOM_BYTES = 32,
    SESSION_MAX = 32,
    EXTENSION_SERVER_NAME = 0,
    EXTENSION_EARLY_DATA = 42,
    EXTENSION_ENCRYPTED_CLIENT_HELLO = 0xfe0d, /* RFC 9849 */
    NAME_TYPE_HOST = 0,
    EXTENSIONS_MAX = 64,
};

/* Bytes to read. A read beyond the end sets `broken`, and every later read gives 0. */
struct reader {
    const uint8_t *p;
    size_t len;
    bool broken;
};

static const uint8_t *take_bytes(struct reader *r, size_t n)
{
    if (r->broken || n > r->len) {
        r->broken = true;
        return NULL;
    }
    const uint8_t *at = r->p;
    r->p += n;
    r->len -= n;
    return at;
}

/* Takes a big-endian number of `n` bytes, at most 4. */
static uint32_t take_number(struct reader *r, size_t n)
{
    const uint8_t *at = take_bytes(r, n);
    uint32_t value = 0;
    for (size_t i = 0; at != NULL && i < n; i++) {
        value = value << 8 | at[i];
    }
    return value;
}

/* Takes a vector (RFC 8446 3.4) whose length has `n` bytes. */
static struct reader take_vector(struct reader *r, size_t n)
{
    size_t len = take_number(r, n);
    const uint8_t *at = take_bytes(r, len);
    return (struct reader){ .p = at, .len = at != NULL ? len : 0, .broken = at == NULL };
}

/* --- records ---------------------------------------------------------------------------------- */

/* Copies the handshake message at the beginning of `records` to `message`, sets `len` to its
 * length, and `used` to the length of its records. */
static enum cbx_hello join_records(struct reader records, uint8_t message[CBX_HELLO_MAX_BYTES],
                                   size_t *len, size_t *used)
{
    const uint8_t *first = records.p;
    size_t have = 0, want = MESSAGE_HEAD;
    while (have < want) {
        if ((records.len > 0 && records.p[0] != CBX_TLS_HANDSHAKE) ||
            (records.len > 1 && records.p[1] != VERSION_MAJOR)) {
            return CBX_HELLO_BAD;
        }
        if (records.len < CBX_TLS_RECORD_HEAD_BYTES) {
            return CBX_HELLO_INCOMPLETE;
        }
        take_bytes(&records, 3);
        size_t part = take_number(&records, 2), here = part < records.len ? part : records.len;
        if (part == 0 || part > RECORD_MAX || here > CBX_HELLO_MAX_BYTES - have) {
            return CBX_HELLO_BAD;
        }
        memcpy(message + have, take_bytes(&records, here), here);
        have += here;
        if (have > 0 && message[0] != CBX_TLS_CLIENT_HELLO) {
            return CBX_HELLO_BAD;
        }
        if (have >= MESSAGE_HEAD) {
            want = MESSAGE_HEAD + ((size_t)message[1] << 16 | message[2] << 8 | message[3]);
        }
        if (want > CBX_HELLO_MAX_BYTES || have > want || (have == want && here < part)) {
            return CBX_HELLO_BAD;
        }
        if (here < part) {
            return CBX_HELLO_INCOMPLETE;
        }
    }
    *len = want;
    *used = (size_t)(records.p - first);
    return CBX_HELLO_NAMED;
}

/* --- the name --------------------------------------------------------------------------------- */

static bool copy_name(struct reader text, char name[CBX_HELLO_NAME_BYTES])
{
    if (text.broken || text.len == 0 || text.len >= CBX_HELLO_NAME_BYTES) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.p[i];
        if (c >= 'A' && c <= 'Z') {
            c = (uint8_t)(c - 'A' + 'a');
        }
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
              c == '_')) {
            return false;
        }
        name[i] = (char)c;
    }
    name[text.len] = '\0';
    return true;
}

/* The list has one name of each type (RFC 6066 3), and there is one type. */
static bool read_server_name(struct reader extension, char name[CBX_HELLO_NAME_BYTES])
{
    struct reader list = take_vector(&extension, 2);
    bool host = take_number(&list, 1) == NAME_TYPE_HOST;
    struct reader text = take_vector(&list, 2);
    return !list.broken && list.len == 0 && extension.len == 0 && host && copy_name(text, name);
}

static enum cbx_hello read_extensions(struct reader extensions, char name[CBX_HELLO_NAME_BYTES])
{
    uint32_t seen[EXTENSIONS_MAX];
    char found[CBX_HELLO_NAME_BYTES] = "";
    bool known = true;
    for (size_t count = 0; extensions.len > 0; count++) {
        uint32_t type = take_number(&extensions, 2);
        struct reader extension = take_vector(&extensions, 2);
        if (extensions.broken || count == EXTENSIONS_MAX) {
            return CBX_HELLO_BAD;
        }
        for (size_t i = 0; i < count; i++) {
            if (seen[i] == type) {
                return CBX_HELLO_BAD;
            }
        }
        seen[count] = type;
        if (type == EXTENSION_SERVER_NAME) {
            known &= read_server_name(extension, found);
        } else if (type == EXTENSION_ENCRYPTED_CLIENT_HELLO || type == EXTENSION_EARLY_DATA) {
            known = false;
        }
    }
    if (!known || found[0] == '\0') {
        return CBX_HELLO_UNNAMED;
    }
    memcpy(name, found, sizeof(found));
    return CBX_HELLO_NAMED;
}

enum cbx_hello cbx_client_hello_read(const uint8_t *bytes, size_t len,
                                     char name[CBX_HELLO_NAME_BYTES], size_t *used_bytes)
{
    uint8_t message[CBX_HELLO_MAX_BYTES];
    size_t message_len = 0, used = 0;
    enum cbx_hello joined =
        join_records((struct reader){ .p = bytes, .len = len }, message, &message_len, &used);
    if (joined != CBX_HELLO_NAMED) {
        return joined;
    }
    struct reader hello = { .p = message + MESSAGE_HEAD, .len = message_len - MESSAGE_HEAD };
    bool good = take_number(&hello, 1) == VERSION_MAJOR;
    take_bytes(&hello, 1 + RANDOM_BYTES);
    struct reader session = take_vector(&hello, 1), ciphers = take_vector(&hello, 2),
                  compressions = take_vector(&hello, 1);
    good &= !hello.broken && session.len <= SESSION_MAX && ciphers.len >= 2 &&
            ciphers.len % 2 == 0 && compressions.len >= 1;
    if (!good) {
        return CBX_HELLO_BAD;
    }
    if (hello.len == 0) { /* before TLS 1.3 extensions may be absent */
        return CBX_HELLO_UNNAMED;
    }
    struct reader extensions = take_vector(&hello, 2);
    enum cbx_hello result =
        extensions.broken || hello.len > 0 ? CBX_HELLO_BAD : read_extensions(extensions, name);
    if (result == CBX_HELLO_NAMED) {
        *used_bytes = used;
    }
    return result;
}
