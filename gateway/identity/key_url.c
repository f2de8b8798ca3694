/* SPDX-License-Identifier: MIT
 * URLs of keys. */
#include "gateway/identity/key_url.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <strings.h>

enum { HOST_MAX = 253, LABEL_MAX = 63, PORT_DIGITS = 5, PORT_MAX = 65535 };

static bool is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

/* Returns the bytes before the first of `stops`, or all. */
static size_t until(struct cbx_str text, const char *stops)
{
    size_t n = 0;
    while (n < text.len && (text.p[n] == '\0' || strchr(stops, text.p[n]) == NULL)) {
        n++;
    }
    return n;
}

bool cbx_key_url_is(struct cbx_str text)
{
    size_t n = 0;
    while (n < text.len &&
           (is_alphanumeric(text.p[n]) ||
            (n > 0 && (text.p[n] == '+' || text.p[n] == '-' || text.p[n] == '.')))) {
        n++;
    }
    return n > 0 && n < text.len && text.p[n] == ':';
}

static bool is_name(struct cbx_str host)
{
    size_t label = 0;
    for (size_t i = 0; i < host.len; i++) {
        char c = host.p[i];
        bool dot = c == '.' && label > 0;
        if (!is_alphanumeric(c) && c != '-' && c != '_' && !dot) {
            return false;
        }
        label = dot ? 0 : label + 1;
        if (label > LABEL_MAX) {
            return false;
        }
    }
    return label > 0 && host.len <= HOST_MAX;
}

static bool is_address(struct cbx_str brackets)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr address;
    size_t len = brackets.len - 2;
    if (brackets.len < 4 || brackets.p[brackets.len - 1] != ']' || len >= sizeof(text)) {
        return false;
    }
    memcpy(text, brackets.p + 1, len);
    text[len] = '\0';
    return strlen(text) == len && inet_pton(AF_INET6, text, &address) == 1;
}

static bool is_port(struct cbx_str digits)
{
    unsigned port = 0;
    for (size_t i = 0; i < digits.len && i <= PORT_DIGITS; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9') {
            return false;
        }
        port = port * 10 + (unsigned)(digits.p[i] - '0');
    }
    return digits.len > 0 && digits.len <= PORT_DIGITS && port > 0 && port <= PORT_MAX;
}

/* Checks path and query (RFC 3986, sections 3.3 and 3.4). */
static bool is_path(struct cbx_str path)
{
    for (size_t i = 0; i < path.len; i++) {
        char c = path.p[i];
        bool escape =
            c == '%' && path.len - i > 2 && is_hex(path.p[i + 1]) && is_hex(path.p[i + 2]);
        if (!is_alphanumeric(c) && !escape &&
            (c == '\0' || strchr("-._~!$&'()*+,;=:@/?", c) == NULL)) {
            return false;
        }
    }
    return true;
}

const char *cbx_key_url_problem(struct cbx_str url)
{
    struct cbx_str scheme = CBX_STR("https://");
    if (url.len < scheme.len || strncasecmp(url.p, scheme.p, scheme.len) != 0) {
        return "a URL of another scheme";
    }
    struct cbx_str rest = cbx_str_sub(url, scheme.len, url.len);
    size_t end = until(rest, "/?#\\");
    struct cbx_str authority = cbx_str_sub(rest, 0, end), path = cbx_str_sub(rest, end, rest.len);
    if (until(authority, "@") < authority.len) {
        return "a URL with user information";
    }
    if (until(path, "#") < path.len) {
        return "a URL with a fragment";
    }
    bool literal = authority.len > 0 && authority.p[0] == '[';
    size_t host = literal ? until(authority, "]") + 1 : until(authority, ":");
    struct cbx_str name = cbx_str_sub(authority, 0, host),
                   port = cbx_str_sub(authority, host, authority.len);
    if (literal ? !is_address(name) : !is_name(name)) {
        return "a URL whose host is no name and no address";
    }
    if (port.len > 0 && (port.p[0] != ':' || !is_port(cbx_str_sub(port, 1, port.len)))) {
        return "a URL whose port is no number from 1 to 65535";
    }
    if (path.len == 0 || path.p[0] != '/') {
        return "a URL without a path";
    }
    return is_path(path) ? NULL : "a URL with a character that must be escaped";
}
