/* SPDX-License-Identifier: MIT
 * Reads the reports of pip and npm. */
#include "analyzer/packages/resolved.h"

#include "analyzer/packages/resolved_internal.h"
#include "policies/base/memory.h"
#include "policies/versions/requirement.h"
#include "policies/versions/version.h"

#include <stdlib.h>
#include <string.h>

enum { VERSION_MAX = 128, URL_MAX = 2048, EDGES_MAX = 20000, SHA256_DIGITS = 64 };

struct reader {
    struct cbx_resolved *out;
    struct cbx_resolved_edge *edges;
    size_t edge_count;
    struct cbx_err *err;
};

static int refuse(struct reader *r, const char *what, struct cbx_str text)
{
    return cbx_fail(r->err, CBX_EINVAL, "the report of the package manager is refused: %s '%.*s'",
                    what, CBX_STR_SHOWN(cbx_str_sub(text, 0, text.len < 80 ? text.len : 80)));
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
    return is_of(name, CBX_PACKAGE_NAME_MAX, kind == CBX_SPEC_NPM ? "-_.@/~" : "-_.") &&
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

/* Returns true for a URL in the form of RFC 3986: bytes with another meaning for a shell or a
 * terminal are percent-encoded there. */
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

static int check_texts(struct reader *r, const struct cbx_resolved_package *package)
{
    enum cbx_spec_kind kind = r->out->kind;
    if (!is_name(kind, package->name)) {
        return refuse(r, "name", package->name);
    }
    if (!is_version(kind, package->version)) {
        return refuse(r, "version", package->version);
    }
    if (package->url.len > 0 && !is_url(package->url)) {
        return refuse(r, "URL", package->url);
    }
    if (package->hash.len > 0 && !is_hash(kind, package->hash)) {
        return refuse(r, "hash", package->hash);
    }
    return 0;
}

/* Returns a package whose texts are valid; NULL with an error. */
static struct cbx_resolved_package *add(struct reader *r, struct cbx_resolved_package package)
{
    if (r->out->count == CBX_PACKAGE_SET_MAX) {
        cbx_fail(r->err, CBX_ETOOBIG, "more than %d packages would be installed",
                 CBX_PACKAGE_SET_MAX);
        return NULL;
    }
    if (check_texts(r, &package)) {
        return NULL;
    }
    struct cbx_resolved_package *added = &r->out->items[r->out->count++];
    *added = package;
    return added;
}

static bool add_edge(struct reader *r, size_t from, struct cbx_str name, bool is_url)
{
    if (r->edge_count == EDGES_MAX) {
        cbx_fail(r->err, CBX_ETOOBIG, "the packages need more than %d others in all", EDGES_MAX);
        return false;
    }
    r->edges[r->edge_count++] =
        (struct cbx_resolved_edge){ .from = from, .name = name, .is_url = is_url };
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
    if (url.len == 0) {
        return refuse(r, "a package without a URL",
                      cbx_json_str(json_object_get(metadata, "name")));
    }
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
        if (good && !requirement.never &&
            !add_edge(r, r->out->count - 1, requirement.name, false)) {
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

/* --- npm -------------------------------------------------------------------------------------- */

static bool is_path(struct cbx_str path)
{
    bool good = path.len > 0 && path.len <= CBX_NPM_PATH_MAX;
    while (path.len > 0 && good) {
        struct cbx_str name = cbx_npm_path_name(path), outer = cbx_npm_path_outer(path);
        size_t whole = outer.len + (outer.len > 0) + CBX_NPM_FOLDER_BYTES + name.len;
        good = is_name(CBX_SPEC_NPM, name) && whole == path.len;
        path = outer;
    }
    return good;
}

/* Ranges of versions and tags have no colon; in a dependency it means an alias. */
static bool is_url_range(struct cbx_str range)
{
    return !cbx_str_starts(range, CBX_STR("npm:")) && range.len > 0 &&
           memchr(range.p, ':', range.len) != NULL;
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
            if (!add_edge(r, from, cbx_str_of(name), is_url_range(cbx_json_str(range)))) {
                return CBX_ETOOBIG;
            }
        }
    }
    return 0;
}

/* Without "resolved" the package is of the registry (npm's option omit-lockfile-registry-
 * resolved); "name" is the package behind an alias. */
static int read_npm_package(struct reader *r, const char *key, const json_t *item)
{
    struct cbx_str path = cbx_str_of(key), name = cbx_npm_path_name(path),
                   real = cbx_json_str(json_object_get(item, "name")),
                   url = cbx_json_str(json_object_get(item, "resolved"));
    bool elsewhere = url.len > 0 && !cbx_str_starts(url, CBX_STR("http")); /* git+ssh:, file: */
    if (!is_path(path) || json_is_true(json_object_get(item, "link")) || elsewhere) {
        return refuse(r, "a package that is of no registry", cbx_str_of(key));
    }
    if (add(r, (struct cbx_resolved_package){
                   .name = real.len > 0 ? real : name,
                   .version = cbx_json_str(json_object_get(item, "version")),
                   .url = url,
                   .path = path,
                   .hash = cbx_json_str(json_object_get(item, "integrity")) }) == NULL) {
        return CBX_EINVAL;
    }
    return add_npm_edges(r, r->out->count - 1, item);
}

/* Reads "os", "cpu" and "libc" of package.json like npm: a list of names, or of names that '!'
 * excludes. */
static bool lists_platform(const json_t *list, const char *name)
{
    size_t i;
    const json_t *item;
    bool any = false, named = false;
    json_array_foreach(list, i, item)
    {
        struct cbx_str text = cbx_json_str(item);
        bool excludes = text.len > 0 && text.p[0] == '!';
        if (excludes && cbx_str_is(cbx_str_sub(text, 1, text.len), name)) {
            return false;
        }
        any = any || !excludes;
        named = named || cbx_str_is(text, name);
    }
    return named || !any;
}

/* Recognises an optional package for another platform, which npm lists and does not install. */
static bool is_elsewhere(const json_t *item)
{
#if defined(__aarch64__)
    const char *cpu = "arm64";
#else
    const char *cpu = "x64";
#endif
    return json_is_true(json_object_get(item, "optional")) &&
           !(lists_platform(json_object_get(item, "os"), "linux") &&
             lists_platform(json_object_get(item, "cpu"), cpu) &&
             lists_platform(json_object_get(item, "libc"), "glibc"));
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
        bool skipped = key[0] == '\0' || is_elsewhere(item);
        int failed = skipped ? 0 : read_npm_package(r, key, item);
        if (failed) {
            return failed;
        }
    }
    return add_npm_edges(r, CBX_RESOLVED_ASKED, json_object_get(packages, ""));
}

/* --- both ------------------------------------------------------------------------------------- */

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
    int failed = cbx_json_parse(report, CBX_REPORT_BYTES_MAX, &read.json, err);
    if (failed) {
        return failed;
    }
    struct reader r = { .out = &read, .err = err };
    read.items = cbx_new_array(CBX_PACKAGE_SET_MAX, sizeof(*read.items));
    r.edges = cbx_new_array(EDGES_MAX, sizeof(*r.edges));
    failed = kind == CBX_SPEC_NPM ? read_npm(&r) : read_pip(&r);
    if (!failed) {
        cbx_resolved_connect(&read, r.edges, r.edge_count);
        *out = read;
        read = (struct cbx_resolved){ 0 };
    }
    free(r.edges);
    return failed;
}

/* --- the text of a set ------------------------------------------------------------------------ */

/* Returns the next field of a line; one blank separates fields. */
static struct cbx_str next_field(struct cbx_str *rest)
{
    const char *blank = memchr(rest->p, ' ', rest->len);
    size_t len = blank != NULL ? (size_t)(blank - rest->p) : rest->len;
    struct cbx_str field = cbx_str_sub(*rest, 0, len);
    *rest = cbx_str_sub(*rest, len + 1, rest->len);
    return field;
}

static int read_line(struct reader *r, struct cbx_str line)
{
    bool npm = r->out->kind == CBX_SPEC_NPM;
    struct cbx_str rest = line;
    struct cbx_resolved_package p = { .by = CBX_RESOLVED_ASKED };
    p.path = npm ? next_field(&rest) : p.path;
    p.name = next_field(&rest);
    p.version = next_field(&rest);
    p.hash = next_field(&rest);
    p.url = npm ? next_field(&rest) : p.url;
    p.url = cbx_str_is(p.url, "-") ? CBX_STR("") : p.url;
    if (!npm) {
        p.hash = cbx_str_starts(p.hash, CBX_STR("sha256:")) ? cbx_str_sub(p.hash, 7, p.hash.len)
                                                            : CBX_STR("");
    }
    bool good = rest.len == 0 && is_hash(r->out->kind, p.hash) && (!npm || is_path(p.path));
    if (!good) {
        return refuse(r, "a line of the set is malformed:", line);
    }
    return add(r, p) != NULL ? 0 : CBX_EINVAL;
}

int cbx_resolved_read_set(enum cbx_spec_kind kind, struct cbx_str text, struct cbx_resolved *out,
                          struct cbx_err *err)
{
    CBX_AUTO_DONE(resolved) read = { .kind = kind };
    CBX_AUTO_DONE(buf) again;
    cbx_buf_init(&again, text.len + 1);
    struct reader r = { .out = &read, .err = err };
    *out = (struct cbx_resolved){ .kind = kind };
    read.items = cbx_new_array(CBX_PACKAGE_SET_MAX, sizeof(*read.items));
    struct cbx_str rest = text;
    while (rest.len > 0) {
        const char *end = memchr(rest.p, '\n', rest.len);
        if (end == NULL) {
            return refuse(&r, "the set does not end with a line feed:", rest);
        }
        size_t len = (size_t)(end - rest.p);
        int failed = read_line(&r, cbx_str_sub(rest, 0, len));
        if (failed) {
            return failed;
        }
        rest = cbx_str_sub(rest, len + 1, rest.len);
    }
    cbx_resolved_write(&read, &again);
    if (!cbx_str_equal(cbx_buf_str(&again), text)) {
        return refuse(&r, "the set is not in its canonical form:", text);
    }
    *out = read;
    read = (struct cbx_resolved){ 0 };
    return 0;
}

bool cbx_resolved_is_nested(const struct cbx_resolved_package *package)
{
    return cbx_npm_path_outer(package->path).len > 0;
}
