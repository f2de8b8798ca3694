/* SPDX-License-Identifier: MIT
 * The request at the beginning of a connection, and the TLS handshake after it.
 *
 * The proxy must read the same request. So its form is narrow: forms that Squid might repair or
 * skip are refused here. A request that is not CONNECT needs no second check, because the proxy
 * itself sends it on, to the host of its own URL. */
#include "docker/egress/relay/tunnel.h"

#include <string.h>

enum {
    METHOD_MAX = 32,
    PORT_DIGITS_MAX = 5,
    PORT_MAX = 65535,
};

static size_t refuse(struct cbx_tunnel *tunnel, enum cbx_tunnel_refusal refusal)
{
    tunnel->refusal = refusal;
    cbx_bytes_free(&tunnel->held);
    return 0;
}

static bool is_upper(uint8_t c)
{
    return c >= 'A' && c <= 'Z';
}

static uint8_t lower(uint8_t c)
{
    return is_upper(c) ? (uint8_t)(c - 'A' + 'a') : c;
}

static bool is_name_character(uint8_t c)
{
    c = lower(c);
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* --- the request ------------------------------------------------------------------------------ */

/* Returns the length of the method at the beginning, 0 if more bytes are needed, -1 if it is
 * malformed. */
static int method_length(const uint8_t *p, size_t len)
{
    size_t i = 0;
    for (; i < len && i <= METHOD_MAX; i++) {
        if (p[i] == ' ' && i > 0) {
            return (int)i;
        }
        if (!is_upper(p[i]) && !(i > 0 && p[i] == '-')) {
            return -1;
        }
    }
    return i > METHOD_MAX ? -1 : 0;
}

/* Reads "HOST:PORT" into the tunnel. Another target leaves `host` empty: the proxy refuses most
 * of them, and no ClientHello has that name. */
static void read_target(struct cbx_tunnel *tunnel, const uint8_t *p, size_t len)
{
    size_t colon = 0;
    while (colon < len && (is_name_character(p[colon]) || p[colon] == '.')) {
        colon++;
    }
    unsigned port = 0;
    bool good = colon > 0 && colon < sizeof(tunnel->host) && colon < len && p[colon] == ':' &&
                len - colon - 1 >= 1 && len - colon - 1 <= PORT_DIGITS_MAX;
    for (size_t i = colon + 1; good && i < len; i++) {
        good = p[i] >= '0' && p[i] <= '9';
        port = port * 10 + (unsigned)(p[i] - '0');
    }
    if (!good || port == 0 || port > PORT_MAX) {
        return;
    }
    size_t name = colon > 1 && p[colon - 1] == '.' ? colon - 1 : colon; /* a root label */
    for (size_t i = 0; i < name; i++) {
        tunnel->host[i] = (char)lower(p[i]);
    }
    tunnel->host[name] = '\0';
    tunnel->port = port;
}

static bool starts_without_case(const uint8_t *p, size_t len, const char *word)
{
    size_t i = 0;
    for (; word[i] != '\0' && i < len && lower(p[i]) == (uint8_t)word[i]; i++) {
    }
    return word[i] == '\0';
}

/* Checks a field line, without its end. A body would precede the tunnel's bytes, so no field may
 * announce one. */
static bool is_field(const uint8_t *p, size_t len)
{
    size_t name = 0;
    while (name < len && is_name_character(p[name])) {
        name++;
    }
    return name > 0 && name < len && p[name] == ':' &&
           !starts_without_case(p, len, "content-length:") &&
           !starts_without_case(p, len, "transfer-encoding:");
}

/* Reads CONNECT TARGET HTTP/1.x, without its end. */
static bool read_request_line(struct cbx_tunnel *tunnel, const uint8_t *p, size_t len)
{
    static const char method[] = "CONNECT ", version[] = " HTTP/1.";
    const size_t before = sizeof(method) - 1, behind = sizeof(version); /* with the digit */
    if (len <= before + behind || memcmp(p + len - behind, version, behind - 1) != 0 ||
        (p[len - 1] != '0' && p[len - 1] != '1')) {
        return false;
    }
    for (size_t i = before; i < len - behind; i++) {
        if (p[i] <= ' ' || p[i] > '~') {
            return false;
        }
    }
    read_target(tunnel, p + before, len - before - behind);
    return true;
}

/* Returns the length of the first line without CR LF, or `len` if its end is missing. Sets
 * `good` to false for a lone CR or LF, and for NUL. */
static size_t line_length(const uint8_t *p, size_t len, bool *good)
{
    for (size_t i = 0; i < len; i++) {
        if (p[i] == '\0' || p[i] == '\n' || (p[i] == '\r' && i + 1 < len && p[i + 1] != '\n')) {
            *good = false;
            return len;
        }
        if (p[i] == '\r' && i + 1 < len) {
            return i;
        }
    }
    return len;
}

/* Returns the length of the request of a tunnel, or 0: more bytes are needed, or it was refused. */
static size_t read_connect(struct cbx_tunnel *tunnel, const uint8_t *p, size_t len)
{
    size_t at = 0;
    for (bool good = true, first = true;; first = false) {
        size_t line = line_length(p + at, len - at, &good);
        bool complete = line < len - at;
        if (good && !complete && len <= CBX_TUNNEL_REQUEST_MAX_BYTES) {
            return 0;
        }
        if (good && complete && line == 0 && !first) {
            return at + 2;
        }
        if (!good || !complete ||
            !(first ? read_request_line(tunnel, p + at, line) : is_field(p + at, line))) {
            return refuse(tunnel, CBX_TUNNEL_REQUEST);
        }
        at += line + 2;
    }
}

static size_t take_request(struct cbx_tunnel *tunnel, const uint8_t *p, size_t len)
{
    int method = method_length(p, len);
    if (method < 0) {
        return refuse(tunnel, CBX_TUNNEL_REQUEST);
    }
    if (method == 0) {
        return 0;
    }
    if ((size_t)method != strlen("CONNECT") || memcmp(p, "CONNECT", (size_t)method) != 0) {
        tunnel->at = CBX_TUNNEL_OPEN;
        return len;
    }
    size_t request = read_connect(tunnel, p, len);
    tunnel->at = request > 0 ? CBX_TUNNEL_AT_HELLO : tunnel->at;
    return request;
}

/* --- the handshake ---------------------------------------------------------------------------- */

static size_t take_hello(struct cbx_tunnel *tunnel, const uint8_t *p, size_t len)
{
    size_t used = 0;
    switch (cbx_client_hello_read(p, len, tunnel->name, &used)) {
    case CBX_HELLO_INCOMPLETE:
        return 0;
    case CBX_HELLO_BAD:
        return refuse(tunnel, CBX_TUNNEL_NOT_TLS);
    case CBX_HELLO_NAMED:
        if (strcmp(tunnel->name, tunnel->host) == 0) {
            tunnel->at = CBX_TUNNEL_AFTER_HELLO;
            return used;
        }
        break;
    case CBX_HELLO_UNNAMED:
        tunnel->name[0] = '\0';
        break;
    }
    return refuse(tunnel, CBX_TUNNEL_TLS_NAME);
}

/* A server may request a second ClientHello (RFC 8446 4.1.4), before which a client may send
 * change_cipher_spec (appendix D.4). Any other record means that the first ClientHello is the
 * last one. */
static size_t take_after_hello(struct cbx_tunnel *tunnel, const uint8_t *p, size_t len)
{
    static const uint8_t change_cipher_spec[] = { 0, 1, 1 }; /* length, message */
    size_t whole = CBX_TLS_RECORD_HEAD_BYTES + 1;
    if (len < whole && (p[0] == CBX_TLS_CHANGE_CIPHER_SPEC || p[0] == CBX_TLS_HANDSHAKE)) {
        return 0;
    }
    if (p[0] == CBX_TLS_CHANGE_CIPHER_SPEC &&
        memcmp(p + 3, change_cipher_spec, sizeof(change_cipher_spec)) == 0) {
        return whole;
    }
    if (p[0] == CBX_TLS_HANDSHAKE && p[CBX_TLS_RECORD_HEAD_BYTES] == CBX_TLS_CLIENT_HELLO) {
        return take_hello(tunnel, p, len);
    }
    tunnel->at = CBX_TUNNEL_OPEN;
    return len;
}

/* --- all of it -------------------------------------------------------------------------------- */

size_t cbx_tunnel_take(struct cbx_tunnel *tunnel, const uint8_t *bytes, size_t len)
{
    static size_t (*const takes[])(struct cbx_tunnel *, const uint8_t *, size_t) = {
        [CBX_TUNNEL_AT_REQUEST] = take_request,
        [CBX_TUNNEL_AT_HELLO] = take_hello,
        [CBX_TUNNEL_AFTER_HELLO] = take_after_hello,
    };
    if (tunnel->refusal != CBX_TUNNEL_NOT_REFUSED) {
        return 0;
    }
    cbx_bytes_add(&tunnel->held, bytes, len);
    size_t pass = 0, taken = 1;
    while (tunnel->at != CBX_TUNNEL_OPEN && pass < tunnel->held.len && taken > 0) {
        taken = takes[tunnel->at](tunnel, tunnel->held.p + pass, tunnel->held.len - pass);
        pass = tunnel->refusal == CBX_TUNNEL_NOT_REFUSED ? pass + taken : 0;
    }
    return tunnel->at == CBX_TUNNEL_OPEN ? tunnel->held.len : pass;
}

void cbx_tunnel_drop(struct cbx_tunnel *tunnel, size_t n)
{
    size_t left = tunnel->held.len - n;
    if (left == 0) {
        cbx_bytes_free(&tunnel->held);
        return;
    }
    memmove(tunnel->held.p, tunnel->held.p + n, left);
    tunnel->held.len = left;
}

void cbx_tunnel_done(struct cbx_tunnel *tunnel)
{
    cbx_bytes_free(&tunnel->held);
}
