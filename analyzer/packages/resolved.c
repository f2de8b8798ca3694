/* SPDX-License-Identifier: MIT
 * Reads what pip and npm resolved. */
#include "analyzer/packages/resolved.h"

#include "analyzer/packages/requirement.h"
#include "policies/base/sort.h"
#include "policies/version.h"

#include <stdlib.h>
#include <string.h>

enum {
    NAME_MAX_BYTES = 214,
    VERSION_MAX = 128,
    URL_MAX = 2048,
    EDGES_MAX = 20000,
    SHA256_DIGITS = 64
};

/* Edges while a report is read: `from` pulls in the package of this name. */
struct edge {
    size_t from;
    struct cbx_str name; /* borrowed; of npm the key in "packages" is found by it */
};

struct reader {
    struct cbx_resolved *out;
    const char **keys; /* npm: of each package, its place in "packages" */
    struct edge *edges;
    size_t edge_count;
    struct cbx_err *err;
};

static int refuse(struct reader *r, const char *what, struct cbx_str text)
{
    return cbx_fail(r->err, CBX_EINVAL, "the report of the package manager is refused: %s '%.*s'",
                    what, CBX_STR_ARG(cbx_str_sub(text, 0, text.len < 80 ? text.len : 80)));
}

static bool is_of(struct cbx_str text, size_t max, const char *also)
{
    bool good = text.len > 0 && text.len <= max;
    for (size_t i = 0; i < text.len && good; i++) {
        char c = text.p[i];
        good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               (c != '\0' && strchr(also, c) != NULL);
    }
    return good;
}

static bool is_name(enum cbx_spec_kind kind, struct cbx_str name)
{
    struct cbx_spec spec;
    cbx_spec_read(kind, name, &spec);
    return is_of(name, NAME_MAX_BYTES, kind == CBX_SPEC_NPM ? "-_.@/~" : "-_.") &&
           !spec.malformed && spec.origin == CBX_FROM_INDEX && cbx_str_equal(spec.name, name);
}

static bool is_version(enum cbx_spec_kind kind, struct cbx_str version)
{
    struct cbx_pep440 pep;
    struct cbx_semver semver;
    return is_of(version, VERSION_MAX, ".-_+!") &&
           (kind == CBX_SPEC_NPM ? cbx_semver_parse(version, &semver)
                                 : cbx_pep440_parse(version, &pep));
}

/* A URL as RFC 3986 writes it: what a shell or a terminal could read otherwise is percent-encoded there. */
static bool is_url(struct cbx_str url)
{
    bool secure =
        cbx_str_starts(url, CBX_STR("https://")) || cbx_str_starts(url, CBX_STR("http://"));
    return secure && is_of(url, URL_MAX, "-._~:/?#[]@!$&()*+,;=%");
}

static bool is_hash(enum cbx_spec_kind kind, struct cbx_str hash)
{
    return kind == CBX_SPEC_NPM
               ? cbx_str_starts(hash, CBX_STR("sha512-")) && is_of(hash, 7 + 88, "+/=-") &&
                     hash.len == 7 + 88
               : hash.len == SHA256_DIGITS && strspn(hash.p, "0123456789abcdef") >= SHA256_DIGITS;
}

/* A package whose texts are valid; NULL with an error. */
static struct cbx_resolved_package *add(struct reader *r, struct cbx_resolved_package package)
{
    enum cbx_spec_kind kind = r->out->kind;
    if (r->out->count == CBX_RESOLVED_PACKAGES_MAX) {
        cbx_fail(r->err, CBX_ETOOBIG, "more than %d packages would be installed",
                 CBX_RESOLVED_PACKAGES_MAX);
        return NULL;
    }
    int failed = !is_name(kind, package.name)         ? refuse(r, "name", package.name)
                 : !is_version(kind, package.version) ? refuse(r, "version", package.version)
                 : (kind != CBX_SPEC_NPM || package.url.len > 0) && !is_url(package.url)
                     ? refuse(r, "URL", package.url)
                 : package.hash.len > 0 && !is_hash(kind, package.hash)
                     ? refuse(r, "hash", package.hash)
                     : 0;
    if (failed) {
        return NULL;
    }
    struct cbx_resolved_package *added = &r->out->items[r->out->count++];
    *added = package;
    return added;
}

static bool add_edge(struct reader *r, size_t from, struct cbx_str name)
{
    if (r->edge_count == EDGES_MAX) {
        cbx_fail(r->err, CBX_ETOOBIG, "the packages need more than %d others in all", EDGES_MAX);
        return false;
    }
    r->edges[r->edge_count++] = (struct edge){ from, name };
    return true;
}

/* --- pip -------------------------------------------------------------------------------------- */

static int read_pip_package(struct reader *r, const json_t *item)
{
    const json_t *metadata = json_object_get(item, "metadata"), *one,
                 *download = json_object_get(item, "download_info"),
                 *archive = json_object_get(download, "archive_info"),
                 *requires = json_object_get(metadata, "requires_dist");
    struct cbx_str url = cbx_json_str(json_object_get(download, "url"));
    struct cbx_str path = url;
    const char *query = url.len > 0 ? strpbrk(url.p, "?#") : NULL;
    size_t i;
    path.len = query != NULL ? (size_t)(query - url.p) : url.len;
    bool asked = json_is_true(json_object_get(item, "requested"));
    if (add(r,
            (struct cbx_resolved_package){
                .name = cbx_json_str(json_object_get(metadata, "name")),
                .version = cbx_json_str(json_object_get(metadata, "version")),
                .url = url,
                .hash = cbx_json_str(json_object_get(json_object_get(archive, "hashes"), "sha256")),
                .by = asked ? CBX_RESOLVED_ASKED : 0,
                .is_source = archive == NULL || !cbx_str_ends(path, CBX_STR(".whl")),
                .is_direct = !json_is_false(json_object_get(item, "is_direct")),
                .is_yanked = json_is_true(json_object_get(item, "is_yanked")) }) == NULL) {
        return CBX_EINVAL;
    }
    json_array_foreach(requires, i, one)
    {
        struct cbx_requirement requirement;
        bool good = cbx_requirement_parse(cbx_json_str(one), &requirement);
        if (good && !requirement.never && !add_edge(r, r->out->count - 1, requirement.name)) {
            return CBX_ETOOBIG;
        }
    }
    return 0;
}

static int read_pip(struct reader *r)
{
    const json_t *install = json_object_get(r->out->json, "install"), *item;
    size_t i;
    if (!cbx_str_is(cbx_json_str(json_object_get(r->out->json, "version")), "1") ||
        !json_is_array(install)) {
        return refuse(r, "it is no installation report of version", CBX_STR("1"));
    }
    json_array_foreach(install, i, item)
    {
        int failed = read_pip_package(r, item);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

static size_t find_pip(const struct reader *r, const struct edge *edge)
{
    for (size_t i = 0; i < r->out->count; i++) {
        if (cbx_package_same(r->out->items[i].name, edge->name)) {
            return i;
        }
    }
    return CBX_RESOLVED_ASKED;
}

/* --- npm -------------------------------------------------------------------------------------- */

static const char folder[] = "node_modules/";

/* "node_modules/a/node_modules/@b/c" is "@b/c". Empty for another key, as that of a workspace. */
static struct cbx_str name_of_key(struct cbx_str key)
{
    const char *last = NULL;
    for (const char *at = key.p; (at = strstr(at, folder)) != NULL; at += sizeof(folder) - 1) {
        last = at;
    }
    return last == NULL || (last != key.p && last[-1] != '/')
               ? CBX_STR("")
               : cbx_str_sub(key, (size_t)(last - key.p) + sizeof(folder) - 1, key.len);
}

static int add_npm_edges(struct reader *r, size_t from, const json_t *package)
{
    static const char *const lists[] = { "dependencies", "optionalDependencies",
                                         "peerDependencies" };
    for (size_t l = 0; l < sizeof(lists) / sizeof(lists[0]); l++) {
        const char *name;
        json_t *range;
        json_object_foreach(json_object_get(package, lists[l]), name, range)
        {
            if (!add_edge(r, from, cbx_str_of(name))) {
                return CBX_ETOOBIG;
            }
        }
    }
    return 0;
}

/* Without "resolved" it is of the registry (npm's option omit-lockfile-registry-resolved); "name" is that of the package behind an alias. */
static int read_npm_package(struct reader *r, const char *key, const json_t *item)
{
    struct cbx_str name = name_of_key(cbx_str_of(key)),
                   real = cbx_json_str(json_object_get(item, "name")),
                   url = cbx_json_str(json_object_get(item, "resolved"));
    bool elsewhere = url.len > 0 && !cbx_str_starts(url, CBX_STR("http")); /* git+ssh:, file: */
    if (!is_name(CBX_SPEC_NPM, name) || json_is_true(json_object_get(item, "link")) || elsewhere) {
        return refuse(r, "a package that is of no registry", cbx_str_of(key));
    }
    if (add(r,
            (struct cbx_resolved_package){
                .name = real.len > 0 ? real : name,
                .version = cbx_json_str(json_object_get(item, "version")),
                .url = url,
                .hash = cbx_json_str(json_object_get(item, "integrity")),
                .has_scripts = json_is_true(json_object_get(item, "hasInstallScript")) }) == NULL) {
        return CBX_EINVAL;
    }
    r->keys[r->out->count - 1] = key;
    return add_npm_edges(r, r->out->count - 1, item);
}

static int read_npm(struct reader *r)
{
    const json_t *packages = json_object_get(r->out->json, "packages"),
                 *version = json_object_get(r->out->json, "lockfileVersion");
    const char *key;
    json_t *item;
    if (json_integer_value(version) != 3 || !json_is_object(packages)) {
        return refuse(r, "it is no lock file of version", CBX_STR("3"));
    }
    json_object_foreach((json_t *)(uintptr_t)packages, key, item)
    {
        int failed = key[0] != '\0' ? read_npm_package(r, key, item) : 0;
        if (failed) {
            return failed;
        }
    }
    return add_npm_edges(r, CBX_RESOLVED_ASKED, json_object_get(packages, ""));
}

/* As Node finds a module: in the package's own folder, then in those around it. */
static size_t find_npm(const struct reader *r, const struct edge *edge)
{
    struct cbx_str base =
        edge->from == CBX_RESOLVED_ASKED ? CBX_STR("") : cbx_str_of(r->keys[edge->from]);
    for (;;) {
        for (size_t i = 0; i < r->out->count; i++) {
            struct cbx_str key = cbx_str_of(r->keys[i]), rest = cbx_str_sub(key, base.len, key.len);
            rest = base.len > 0 && rest.len > 0 && rest.p[0] == '/' ? cbx_str_sub(rest, 1, rest.len)
                                                                    : rest;
            if (cbx_str_starts(key, base) && cbx_str_equal(name_of_key(key), edge->name) &&
                rest.len == sizeof(folder) - 1 + edge->name.len) {
                return i;
            }
        }
        struct cbx_str name = name_of_key(base);
        if (base.len == 0 || name.len == 0) {
            return CBX_RESOLVED_ASKED;
        }
        base.len -= name.len + sizeof(folder) - 1;
        base.len -= base.len > 0; /* the slash */
    }
}

/* --- both ------------------------------------------------------------------------------------- */

/* Breadth first from what the caller asked for, so each package is named with a shortest chain. A package that nothing pulls in was asked
 * for. */
static void connect(struct reader *r)
{
    struct cbx_resolved *out = r->out;
    size_t queue[CBX_RESOLVED_PACKAGES_MAX], head = 0, tail = 0;
    bool seen[CBX_RESOLVED_PACKAGES_MAX] = { false };
    bool npm = out->kind == CBX_SPEC_NPM;
    for (size_t e = 0; e < r->edge_count && npm; e++) {
        size_t to =
            r->edges[e].from == CBX_RESOLVED_ASKED ? find_npm(r, &r->edges[e]) : CBX_RESOLVED_ASKED;
        if (to != CBX_RESOLVED_ASKED && !seen[to]) {
            seen[to] = true;
            out->items[to].by = CBX_RESOLVED_ASKED;
            queue[tail++] = to;
        }
    }
    for (size_t i = 0; i < out->count && !npm; i++) {
        if (out->items[i].by == CBX_RESOLVED_ASKED) {
            seen[i] = true;
            queue[tail++] = i;
        }
    }
    while (head < tail) {
        size_t from = queue[head++];
        for (size_t e = 0; e < r->edge_count; e++) {
            size_t to = r->edges[e].from != from ? CBX_RESOLVED_ASKED
                        : npm                    ? find_npm(r, &r->edges[e])
                                                 : find_pip(r, &r->edges[e]);
            if (to != CBX_RESOLVED_ASKED && !seen[to]) {
                seen[to] = true;
                out->items[to].by = from;
                queue[tail++] = to;
            }
        }
    }
    for (size_t i = 0; i < out->count; i++) {
        out->items[i].by = seen[i] ? out->items[i].by : CBX_RESOLVED_ASKED;
    }
}

void cbx_resolved_done(struct cbx_resolved *resolved)
{
    json_decref(resolved->json);
    free(resolved->items);
    *resolved = (struct cbx_resolved){ 0 };
}

int cbx_resolved_read(enum cbx_spec_kind kind, struct cbx_str report, struct cbx_resolved *out,
                      struct cbx_err *err)
{
    CBX_AUTO_DONE(resolved) read = { .kind = kind };
    *out = (struct cbx_resolved){ .kind = kind };
    int failed = cbx_json_parse(report, CBX_RESOLVED_BYTES_MAX, &read.json, err);
    if (failed) {
        return failed;
    }
    struct reader r = { .out = &read, .err = err };
    read.items = calloc(CBX_RESOLVED_PACKAGES_MAX, sizeof(*read.items));
    r.keys = calloc(CBX_RESOLVED_PACKAGES_MAX, sizeof(*r.keys));
    r.edges = calloc(EDGES_MAX, sizeof(*r.edges));
    if (read.items == NULL || r.keys == NULL || r.edges == NULL) {
        abort();
    }
    failed = kind == CBX_SPEC_NPM ? read_npm(&r) : read_pip(&r);
    if (!failed) {
        connect(&r);
        *out = read;
        read = (struct cbx_resolved){ 0 };
    }
    free(r.keys);
    free(r.edges);
    return failed;
}
