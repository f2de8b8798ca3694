/* SPDX-License-Identifier: MIT
 * The strict request check. */
#include "gateway/front/http/http_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static bool is_token(struct cbx_str name)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < name.len; i++) {
        char c = name.p[i], low = (char)(c | 32);
        if (!((low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') ||
              memchr(others, c, sizeof(others) - 1) != NULL)) {
            return false;
        }
    }
    return name.len > 0;
}

static bool has_control(struct cbx_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.p[i];
        if ((c < 0x20 && c != '\t') || c == 0x7F) {
            return true;
        }
    }
    return false;
}

static bool has_blank(struct cbx_str target)
{
    return target.len > 0 && (memchr(target.p, ' ', target.len) != NULL ||
                              memchr(target.p, '\t', target.len) != NULL);
}

void cbx_http_check_field(struct cbx_http_headers *h, struct cbx_str name, struct cbx_str value)
{
    const struct {
        const char *name;
        int *count;
        struct cbx_str *value;
    } known[] = {
        { "Host", &h->hosts, &h->host },
        { "Content-Length", &h->lengths, &h->content_length },
        { "Transfer-Encoding", &h->encodings, &h->transfer_encoding },
        { "Origin", &h->origins, &h->origin },
        { "Authorization", &h->authorizations, &h->authorization },
        { "Cookie", &h->cookies, &h->cookie },
        { "Content-Encoding", &h->codings, &h->content_encoding },
        { "Expect", &h->expects, NULL },
        { "Idempotency-Key", &h->keys, &h->idempotency_key },
        { "Content-Type", &h->types, &h->content_type },
        { "Accept", &h->accepts, &h->accept },
        { "traceparent", &h->traces, &h->trace },
        { CBX_HTTP_REPLICA, &h->replicas, &h->replica },
        { CBX_HTTP_CLIENT, &h->clients, &h->client },
        { "X-Request-Id", &h->request_ids, &h->request_id },
        { "MCP-Protocol-Version", &h->mcps[0], &h->mcp.version },
        { "Mcp-Method", &h->mcps[1], &h->mcp.method },
        { "Mcp-Name", &h->mcps[2], &h->mcp.name },
        { "Mcp-Session-Id", &h->mcps[3], &h->mcp.session },
    };
    h->malformed |= !is_token(name) || has_control(value);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (cbx_str_is_nocase(name, known[i].name)) {
            ++*known[i].count;
            if (known[i].value != NULL) {
                *known[i].value = cbx_str_trim(value);
            }
        }
    }
}

/* A page in a browser can reach loopback under any name that it controls (DNS rebinding); only
 * these names are the server's. */
static bool is_our_host(struct cbx_str host, const struct cbx_http_names *names)
{
    static const char *const local[] = { "localhost", "127.0.0.1", "[::1]" };
    enum { LOCAL = sizeof(local) / sizeof(local[0]) };
    const int own_port = names->https ? 443 : 80;
    char with_port[300];
    for (size_t i = 0; i < LOCAL + names->host_count; i++) {
        const char *name = i < LOCAL ? local[i] : names->hosts[i - LOCAL];
        bool alone = i >= LOCAL || names->port == own_port;
        snprintf(with_port, sizeof(with_port), "%s:%u", name, names->port);
        if (cbx_str_is_nocase(host, with_port) || (alone && cbx_str_is_nocase(host, name))) {
            return true;
        }
    }
    return false;
}

static bool is_our_origin(struct cbx_str origin, const struct cbx_http_names *names)
{
    struct cbx_str scheme = names->https ? CBX_STR("https://") : CBX_STR("http://");
    return (names->origin != NULL && cbx_str_is_nocase(origin, names->origin)) ||
           (cbx_str_starts(origin, scheme) &&
            is_our_host(cbx_str_sub(origin, scheme.len, origin.len), names));
}

/* Returns 0 = valid, 1 = not a number, 2 = too large. */
static int check_length(struct cbx_str length, size_t max)
{
    size_t value = 0;
    for (size_t i = 0; i < length.len; i++) {
        if (length.p[i] < '0' || length.p[i] > '9') {
            return 1;
        }
        value = value > max ? value : value * 10 + (size_t)(length.p[i] - '0');
    }
    return length.len == 0 ? 1 : value > max ? 2 : 0;
}

/* Texts are UTF-8, which includes ASCII. A parameter `charset` as in RFC 9110, section 5.6.6. */
static bool has_other_charset(struct cbx_str type)
{
    static const char *const ours[] = { "utf-8", "\"utf-8\"", "utf8", "us-ascii", "ascii" };
    struct cbx_str charset = CBX_STR("charset=");
    for (size_t i = 0; i + charset.len <= type.len; i++) {
        if (strncasecmp(type.p + i, charset.p, charset.len) != 0 || i == 0 ||
            (type.p[i - 1] != ';' && type.p[i - 1] != ' ' && type.p[i - 1] != '\t')) {
            continue;
        }
        struct cbx_str value = cbx_str_sub(type, i + charset.len, type.len);
        const char *end = value.len > 0 ? memchr(value.p, ';', value.len) : NULL;
        value = cbx_str_trim(end != NULL ? cbx_str_sub(value, 0, (size_t)(end - value.p)) : value);
        bool is_ours = false;
        for (size_t k = 0; k < sizeof(ours) / sizeof(ours[0]); k++) {
            is_ours |= cbx_str_is_nocase(value, ours[k]);
        }
        if (!is_ours) {
            return true;
        }
    }
    return false;
}

static bool has_repeated(const int counts[CBX_HTTP_MCP_HEADERS])
{
    bool repeated = false;
    for (size_t i = 0; i < CBX_HTTP_MCP_HEADERS; i++) {
        repeated |= counts[i] > 1;
    }
    return repeated;
}

int cbx_http_check(const struct cbx_http_headers *h, struct cbx_str method, struct cbx_str target,
                   const struct cbx_http_names *names, size_t max_body_bytes, const char **detail)
{
    int length = h->lengths == 1 ? check_length(h->content_length, max_body_bytes) : 0;
    const struct {
        bool bad;
        int status;
        const char *detail;
    } checks[] = {
        { h->misread, 400,
          "each line of the header must end with CR LF, be one field, and have no NUL" },
        { h->malformed, 400, "a header's name or value has characters that it may not have" },
        { !is_token(method), 400, "the method is no token" },
        { target.len == 0 || target.p[0] != '/' || has_control(target) || has_blank(target), 400,
          "the target must be a path that begins with '/' and has no blanks" },
        { h->hosts != 1, 400, "exactly one Host header is needed" },
        { h->lengths > 1 || h->encodings > 1 || h->origins > 1 || h->authorizations > 1 ||
              h->types > 1 || h->keys > 1 || h->cookies > 1 || h->codings > 1 ||
              has_repeated(h->mcps),
          400,
          "Content-Length, Transfer-Encoding, Origin, Authorization, Cookie, Content-Type, "
          "Content-Encoding and the headers of MCP may be given once" },
        { h->old && h->encodings > 0, 400, "HTTP/1.0 has no Transfer-Encoding" },
        { h->lengths > 0 && h->encodings > 0, 400,
          "Content-Length and Transfer-Encoding must not come together" },
        { h->encodings > 0 && !cbx_str_is_nocase(h->transfer_encoding, "chunked"), 400,
          "the only Transfer-Encoding that is allowed is chunked" },
        { length == 1, 400, "Content-Length is no decimal number" },
        { !names->any && !is_our_host(h->host, names), 421,
          "Host is not this server's; it is reached as localhost, 127.0.0.1 or [::1] with its "
          "port, and by the names of its options --host and --public-url" },
        { !names->any && h->origins > 0 && !is_our_origin(h->origin, names), 403,
          "requests of other origins are not allowed" },
        { h->codings > 0 && !cbx_str_is_nocase(h->content_encoding, "identity"), 415,
          "bodies are read as they are: send this one without Content-Encoding" },
        { has_other_charset(h->content_type), 415, "texts are read as UTF-8 and as nothing else" },
        { length == 2 && h->expects > 0, 413, "the body is larger than this server takes" },
    };
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        if (checks[i].bad) {
            *detail = checks[i].detail;
            return checks[i].status;
        }
    }
    return 0;
}
