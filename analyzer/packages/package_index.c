/* SPDX-License-Identifier: MIT
 * Indexes, registries and channels. */
#include "analyzer/packages/package_check.h"

#include <strings.h>

/* The meaning of "default" in a policy, by kind. */
static const struct {
    enum cbx_spec_kind kind;
    const char *index;
} defaults[] = {
#define CBX_DEFAULT_INDEX(kind, index) { CBX_SPEC_##kind, index },
#include "analyzer/packages/managers.def"
};

static const struct {
    enum cbx_spec_kind kind;
    struct cbx_str domain;
} publics[] = {
#define CBX_PUBLIC_INDEX(kind, name, top)                                                          \
    { CBX_SPEC_##kind, { name "." top, sizeof(name "." top) - 1 } },
#include "analyzer/packages/managers.def"
};

struct url {
    struct cbx_str scheme, host, port, path;
};

static bool same(struct cbx_str a, struct cbx_str b)
{
    return a.len == b.len && (a.len == 0 || strncasecmp(a.p, b.p, a.len) == 0);
}

static struct cbx_str cut_slashes(struct cbx_str text)
{
    while (text.len > 0 && text.p[text.len - 1] == '/') {
        text.len--;
    }
    return text;
}

static struct cbx_str default_port(struct cbx_str scheme)
{
    return same(scheme, CBX_STR("https"))  ? CBX_STR("443")
           : same(scheme, CBX_STR("http")) ? CBX_STR("80")
                                           : (struct cbx_str){ 0 };
}

/* A path that a server may normalise to another path never matches an index. */
static bool is_plain(struct cbx_str path)
{
    for (size_t i = 0; i < path.len; i++) {
        if (path.p[i] == '%' || path.p[i] == '\\' || (unsigned char)path.p[i] <= ' ') {
            return false;
        }
    }
    return path.len == 0 || memmem(path.p, path.len, "/.", 2) == NULL;
}

static bool read_url(struct cbx_str text, struct url *out)
{
    const char *mark = text.len > 0 ? memmem(text.p, text.len, "://", 3) : NULL;
    if (mark == NULL) {
        return false;
    }
    out->scheme = cbx_str_sub(text, 0, (size_t)(mark - text.p));
    struct cbx_str rest = cbx_str_sub(text, out->scheme.len + 3, text.len);
    size_t end = 0;
    while (end < rest.len && strchr("/?#\\", rest.p[end]) == NULL) {
        end++;
    }
    struct cbx_str authority = cbx_str_sub(rest, 0, end);
    const char *at = authority.len > 0 ? memrchr(authority.p, '@', authority.len) : NULL;
    out->host = at != NULL ? cbx_str_sub(authority, (size_t)(at - authority.p) + 1, authority.len)
                           : authority;
    const char *colon = out->host.len > 0 ? memrchr(out->host.p, ':', out->host.len) : NULL;
    bool port = colon != NULL && memchr(colon, ']', (size_t)(authority.p + end - colon)) == NULL;
    size_t host = port ? (size_t)(colon - out->host.p) : out->host.len;
    out->port = cbx_str_sub(out->host, host + 1, out->host.len);
    out->port = out->port.len > 0 ? out->port : default_port(out->scheme);
    out->host.len = host;
    out->path = cut_slashes(cbx_str_sub(rest, end, rest.len));
    return out->host.len > 0 && is_plain(out->path);
}

static bool is_within(struct cbx_str index, struct cbx_str allowed)
{
    struct url a, b;
    if (!read_url(allowed, &b)) {
        return same(cut_slashes(index), cut_slashes(allowed)); /* the name of a channel */
    }
    return read_url(index, &a) && same(a.scheme, b.scheme) && same(a.host, b.host) &&
           cbx_str_equal(a.port, b.port) && cbx_str_starts(a.path, b.path) &&
           (a.path.len == b.path.len || a.path.p[b.path.len] == '/');
}

static bool is_default(enum cbx_spec_kind kind, struct cbx_str index)
{
    kind = kind == CBX_SPEC_PROJECT ? CBX_SPEC_PIP : kind;
    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
        if (defaults[i].kind == kind && is_within(index, cbx_str_of(defaults[i].index))) {
            return true;
        }
    }
    return false;
}

bool cbx_packages_index(const struct cbx_packages *packages, enum cbx_spec_kind kind,
                        struct cbx_str index)
{
    /* uv gives them names: --index corp=https://... */
    const char *equals = index.len > 0 ? memchr(index.p, '=', index.len) : NULL;
    const char *mark = index.len > 0 ? memmem(index.p, index.len, "://", 3) : NULL;
    if (equals != NULL && mark != NULL && equals < mark) {
        index = cbx_str_sub(index, (size_t)(equals - index.p) + 1, index.len);
    }
    for (size_t i = 0; i < packages->indexes.count; i++) {
        struct cbx_str allowed = packages->indexes.items[i];
        if (cbx_str_is(allowed, "default") ? is_default(kind, index) : is_within(index, allowed)) {
            return true;
        }
    }
    return false;
}

/* Returns true for a host of the domain, and for the domain itself. */
static bool is_host_of(struct cbx_str host, struct cbx_str domain)
{
    if (host.len < domain.len) {
        return false;
    }
    size_t front = host.len - domain.len;
    return same(cbx_str_sub(host, front, host.len), domain) &&
           (front == 0 || host.p[front - 1] == '.');
}

static bool is_public(enum cbx_spec_kind kind, struct cbx_str index)
{
    struct url url;
    kind = kind == CBX_SPEC_PROJECT ? CBX_SPEC_PIP : kind;
    if (!read_url(index, &url) || !same(url.scheme, CBX_STR("https")) ||
        !cbx_str_is(url.port, "443")) {
        return false;
    }
    for (size_t i = 0; i < sizeof(publics) / sizeof(publics[0]); i++) {
        if (publics[i].kind == kind && is_host_of(url.host, publics[i].domain)) {
            return true;
        }
    }
    return false;
}

bool cbx_packages_takes_index(const struct cbx_parsed *parsed, const struct cbx_packages *packages,
                              enum cbx_spec_kind kind, struct cbx_str index)
{
    if (cbx_packages_index(packages, kind, index)) {
        return true;
    }
    bool by_default = false;
    for (size_t i = 0; i < packages->indexes.count; i++) {
        by_default |= cbx_str_is(packages->indexes.items[i], "default");
    }
    return parsed->project && by_default && is_public(kind, index);
}
