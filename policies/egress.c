/* SPDX-License-Identifier: MIT
 * Patterns of permitted hosts. A text that another program could interpret differently (an
 * address in any notation, user information, a path) is refused, not interpreted. */
#include "policies/egress.h"

static const uint16_t web_ports[] = { CBX_EGRESS_HTTP, CBX_EGRESS_HTTPS };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

/* Reads 1..65535 without a leading zero or sign. */
static bool read_port(struct cbx_str text, uint16_t *out)
{
    uint32_t port = 0;
    if (text.len == 0 || text.len > 5 || text.p[0] == '0') {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (!is_digit(text.p[i])) {
            return false;
        }
        port = port * 10 + (uint32_t)(text.p[i] - '0');
    }
    if (port > UINT16_MAX) {
        return false;
    }
    *out = (uint16_t)port;
    return true;
}

static int fail(struct cbx_str pattern, struct cbx_err *err, const char *reason)
{
    return cbx_fail(err, CBX_EINVAL, "the host '%.*s' %s", CBX_STR_SHOWN(pattern), reason);
}

/* Returns the reason why bytes of the pattern form no name, with details for the operator; NULL
 * = none. */
static const char *foreign_bytes(struct cbx_str name)
{
    if (name.len > 0 && memmem(name.p, name.len, "://", 3) != NULL) {
        return "is a URL, allowed is a host without scheme and path";
    }
    if (name.len > 0 && memchr(name.p, '@', name.len) != NULL) {
        return "has user information, allowed is a host alone";
    }
    for (size_t i = 0; i < name.len; i++) {
        char c = name.p[i];
        if ((unsigned char)c >= 0x80) {
            return "has letters beyond ASCII; write it as DNS has it, xn--...";
        }
        if (c >= 'A' && c <= 'Z') {
            return "has upper-case letters; write it in lower case";
        }
        if (c == '/') {
            return "has a path or a prefix length, allowed is a host alone";
        }
        if (c == '[' || c == ']' || c == ':') {
            return "is no name; addresses are not allowed, and a port is 1..65535";
        }
        if (c == '*') {
            return "has a '*' that is not its first label; allowed are NAME and *.DOMAIN";
        }
        if (!is_lower(c) && !is_digit(c) && c != '-' && c != '.') {
            return "has other characters than letters, digits, '-' and '.'";
        }
    }
    return NULL;
}

static const char *check_labels(struct cbx_str name)
{
    size_t from = 0;
    for (size_t i = 0; i <= name.len; i++) {
        if (i < name.len && name.p[i] != '.') {
            continue;
        }
        if (i == from) {
            return "has an empty label; a dot at the end is left out";
        }
        if (i - from > 63) {
            return "has a label of more than 63 characters";
        }
        if (name.p[from] == '-' || name.p[i - 1] == '-') {
            return "has a label that begins or ends with '-'";
        }
        from = i + 1;
    }
    return NULL;
}

/* Browsers and resolvers read a name whose last label is a number, in any base, as an IPv4 address
 * (WHATWG URL, "ends in a number"). */
static bool ends_in_a_number(struct cbx_str name)
{
    size_t at = name.len;
    while (at > 0 && name.p[at - 1] != '.') {
        at--;
    }
    struct cbx_str last = cbx_str_sub(name, at, name.len);
    bool hexadecimal = cbx_str_starts(last, CBX_STR("0x")), decimal = last.len > 0;
    for (size_t i = 0; i < last.len; i++) {
        char c = last.p[i];
        decimal &= is_digit(c);
        hexadecimal &= i < 2 || is_digit(c) || (c >= 'a' && c <= 'f');
    }
    return decimal || hexadecimal;
}

static const char *check_name(struct cbx_str name, bool subdomains)
{
    if (name.len == 0 || name.len > CBX_EGRESS_NAME_MAX) {
        return "has a name of 0 or more than 253 characters";
    }
    const char *reason = check_labels(name);
    if (reason != NULL) {
        return reason;
    }
    if (ends_in_a_number(name)) {
        return "is an address; allowed are names";
    }
    if (cbx_str_is(name, "localhost") || cbx_str_ends(name, CBX_STR(".localhost"))) {
        return "is the proxy itself; localhost cannot be reached";
    }
    if (subdomains && memchr(name.p, '.', name.len) == NULL) {
        return "grants a whole top-level domain; allowed is *.DOMAIN with two labels or more";
    }
    return NULL;
}

int cbx_egress_parse(struct cbx_str pattern, struct cbx_egress_host *out, struct cbx_err *err)
{
    struct cbx_egress_host host = { .name = pattern };
    const char *colon = pattern.len > 0 ? memrchr(pattern.p, ':', pattern.len) : NULL;
    if (colon != NULL) {
        size_t at = (size_t)(colon - pattern.p);
        if (read_port(cbx_str_sub(pattern, at + 1, pattern.len), &host.port)) {
            host.name = cbx_str_sub(pattern, 0, at);
        }
    }
    if (cbx_str_starts(host.name, CBX_STR("*."))) {
        host.subdomains = true;
        host.name = cbx_str_sub(host.name, 2, host.name.len);
    }
    const char *reason = foreign_bytes(host.name);
    reason = reason != NULL ? reason : check_name(host.name, host.subdomains);
    if (reason != NULL) {
        return fail(pattern, err, reason);
    }
    *out = host;
    return 0;
}

static bool lies_below(struct cbx_str name, struct cbx_str domain)
{
    return name.len > domain.len + 1 && cbx_str_ends(name, domain) &&
           name.p[name.len - domain.len - 1] == '.';
}

/* True if `a` grants every name that `b` grants. */
static bool covers_names(const struct cbx_egress_host *a, const struct cbx_egress_host *b)
{
    bool same = cbx_str_equal(a->name, b->name);
    return a->subdomains ? (same && b->subdomains) || lies_below(b->name, a->name)
                         : same && !b->subdomains;
}

static bool is_web(uint16_t port)
{
    return port == CBX_EGRESS_HTTP || port == CBX_EGRESS_HTTPS;
}

static bool has_port(const struct cbx_egress_host *a, uint16_t port)
{
    return a->port == 0 ? is_web(port) : a->port == port;
}

/* `wanted` must have a port. */
static bool grants(const struct cbx_strs *patterns, const struct cbx_egress_host *wanted)
{
    for (size_t i = 0; i < patterns->count; i++) {
        struct cbx_egress_host host;
        if (cbx_egress_parse(patterns->items[i], &host, NULL) == 0 &&
            has_port(&host, wanted->port) && covers_names(&host, wanted)) {
            return true;
        }
    }
    return false;
}

bool cbx_egress_grants(const struct cbx_strs *patterns, struct cbx_str host, uint16_t port)
{
    char lower[CBX_EGRESS_NAME_MAX + 1];
    host.len -= host.len > 0 && host.p[host.len - 1] == '.';
    if (host.len == 0 || host.len > CBX_EGRESS_NAME_MAX || port == 0) {
        return false;
    }
    for (size_t i = 0; i < host.len; i++) {
        char c = host.p[i];
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    struct cbx_str name = { .p = lower, .len = host.len };
    struct cbx_egress_host wanted = { .name = name, .port = port };
    return foreign_bytes(name) == NULL && check_name(name, false) == NULL &&
           grants(patterns, &wanted);
}

/* Returns the number of the target's granted ports; *ports is the number of its ports. */
static size_t count_granted(const struct cbx_strs *patterns, struct cbx_str target, size_t *ports)
{
    uint16_t port = 0;
    const char *colon = target.len > 0 ? memrchr(target.p, ':', target.len) : NULL;
    size_t at = colon != NULL ? (size_t)(colon - target.p) : target.len;
    if (colon != NULL && read_port(cbx_str_sub(target, at + 1, target.len), &port)) {
        *ports = 1;
        return cbx_egress_grants(patterns, cbx_str_sub(target, 0, at), port);
    }
    size_t granted = 0;
    *ports = sizeof(web_ports) / sizeof(web_ports[0]);
    for (size_t i = 0; i < *ports; i++) {
        granted += cbx_egress_grants(patterns, target, web_ports[i]);
    }
    return granted;
}

bool cbx_egress_grants_all(const struct cbx_strs *patterns, struct cbx_str target)
{
    size_t ports;
    return count_granted(patterns, target, &ports) == ports;
}

bool cbx_egress_grants_none(const struct cbx_strs *patterns, struct cbx_str target)
{
    size_t ports;
    return count_granted(patterns, target, &ports) == 0;
}

bool cbx_egress_covers(const struct cbx_strs *patterns, struct cbx_str pattern)
{
    struct cbx_egress_host wanted;
    if (cbx_egress_parse(pattern, &wanted, NULL) != 0) {
        return false;
    }
    if (wanted.port != 0) {
        return grants(patterns, &wanted);
    }
    bool all = true;
    for (size_t i = 0; i < sizeof(web_ports) / sizeof(web_ports[0]); i++) {
        wanted.port = web_ports[i];
        all &= grants(patterns, &wanted);
    }
    return all;
}

/* The intersection of two patterns is a pattern, or empty. */
static bool intersect(const struct cbx_egress_host *a, const struct cbx_egress_host *b,
                      struct cbx_egress_host *out)
{
    const struct cbx_egress_host *names = covers_names(a, b) ? b : covers_names(b, a) ? a : NULL;
    uint16_t port = a->port != 0 ? a->port : b->port;
    bool same = a->port == b->port;
    if (names == NULL || (!same && !(has_port(a, port) && has_port(b, port)))) {
        return false;
    }
    *out = *names;
    out->port = port;
    return true;
}

static bool add_pattern(struct cbx_arena *arena, const struct cbx_egress_host *host,
                        struct cbx_str *items, size_t *count)
{
    char text[CBX_EGRESS_NAME_MAX + 16], port[8] = "";
    if (host->port != 0) {
        snprintf(port, sizeof(port), ":%u", host->port);
    }
    int n = snprintf(text, sizeof(text), "%s%.*s%s", host->subdomains ? "*." : "",
                     (int)host->name.len, host->name.p, port);
    struct cbx_str pattern = { .p = text, .len = n > 0 ? (size_t)n : 0 };
    for (size_t i = 0; i < *count; i++) {
        if (cbx_str_equal(items[i], pattern)) {
            return true;
        }
    }
    char *copy = *count < CBX_EGRESS_MAX ? cbx_arena_array(arena, pattern.len + 1, 1) : NULL;
    if (copy == NULL) {
        return false;
    }
    memcpy(copy, text, pattern.len);
    items[(*count)++] = (struct cbx_str){ .p = copy, .len = pattern.len };
    return true;
}

int cbx_egress_common(const struct cbx_strs *a, const struct cbx_strs *b, struct cbx_arena *arena,
                      struct cbx_strs *out, struct cbx_err *err)
{
    struct cbx_str *items = cbx_arena_array(arena, CBX_EGRESS_MAX, sizeof(*items));
    size_t count = 0;
    bool fits = items != NULL;
    for (size_t i = 0; i < a->count && fits; i++) {
        for (size_t k = 0; k < b->count && fits; k++) {
            struct cbx_egress_host x, y, both;
            if (cbx_egress_parse(a->items[i], &x, NULL) == 0 &&
                cbx_egress_parse(b->items[k], &y, NULL) == 0 && intersect(&x, &y, &both)) {
                fits = add_pattern(arena, &both, items, &count);
            }
        }
    }
    if (!fits) {
        return cbx_fail(err, CBX_ETOOBIG, "the hosts that both policies grant are more than %d",
                        CBX_EGRESS_MAX);
    }
    *out = (struct cbx_strs){ .items = items, .count = count };
    return 0;
}
