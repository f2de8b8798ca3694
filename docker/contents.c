/* SPDX-License-Identifier: MIT
 * The contents of an image. */
#include "docker/contents.h"

#include "policies/versions/version.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NAME_MAX_BYTES = 128, VERSION_MAX_BYTES = 64, MODULES_MAX = 64, NEAREST_MAX = 3 };

/* The text is used unchanged in texts for people and models. */
static bool is_word(struct cbx_str text, size_t max)
{
    bool good = text.len > 0 && text.len <= max;
    for (size_t i = 0; good && i < text.len; i++) {
        char c = text.p[i], low = (char)(c | 32);
        good = (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') ||
               (c != '\0' && strchr(".-_+~@/!", c) != NULL);
    }
    return good;
}

static bool are_modules(const json_t *modules)
{
    bool good = json_is_array(modules) && json_array_size(modules) <= MODULES_MAX;
    for (size_t i = 0; good && i < json_array_size(modules); i++) {
        good = is_word(cbx_json_str(json_array_get(modules, i)), NAME_MAX_BYTES);
    }
    return good;
}

struct label {
    int64_t version;
    const json_t *runtime, *packages;
};
struct named {
    struct cbx_str name, version;
    const json_t *modules;
};

static int read_runtime(const json_t *json, struct cbx_contents *out, struct cbx_err *err)
{
    static const struct cbx_json_field fields[] = {
        { "name", CBX_JSON_STR, offsetof(struct named, name), true, false, 1, NAME_MAX_BYTES },
        { "version", CBX_JSON_STR, offsetof(struct named, version), true, false, 1,
          VERSION_MAX_BYTES },
    };
    struct named runtime = { 0 };
    int failed = cbx_json_read(json, fields, 2, &runtime, err);
    if (!failed &&
        (!is_word(runtime.name, NAME_MAX_BYTES) || !is_word(runtime.version, VERSION_MAX_BYTES))) {
        failed = cbx_fail(err, CBX_EINVAL, "'runtime' has a name that is none");
    }
    out->runtime = runtime.name;
    out->runtime_version = runtime.version;
    return failed;
}

static int read_package(const json_t *json, struct cbx_image_package *out, struct cbx_err *err)
{
    static const struct cbx_json_field fields[] = {
        { "name", CBX_JSON_STR, offsetof(struct named, name), true, false, 1, NAME_MAX_BYTES },
        { "version", CBX_JSON_STR, offsetof(struct named, version), true, false, 1,
          VERSION_MAX_BYTES },
        { "modules", CBX_JSON_ARRAY, offsetof(struct named, modules), true, false, 0, MODULES_MAX },
    };
    struct named package = { 0 };
    int failed;
    if (json_is_object(json)) {
        failed = cbx_json_read(json, fields, 3, &package, err);
    } else {
        failed = cbx_fail(err, CBX_EINVAL, "it is no object");
    }
    if (!failed &&
        (!is_word(package.name, NAME_MAX_BYTES) || !is_word(package.version, VERSION_MAX_BYTES) ||
         !are_modules(package.modules))) {
        failed = cbx_fail(err, CBX_EINVAL, "it has a name that is none");
    }
    *out = (struct cbx_image_package){ package.name, package.version, package.modules };
    return failed;
}

static int read_packages(const json_t *list, struct cbx_contents *out, struct cbx_err *err)
{
    size_t count = json_array_size(list);
    if (count > CBX_CONTENTS_PACKAGES_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "it has %zu packages, allowed are %d", count,
                        CBX_CONTENTS_PACKAGES_MAX);
    }
    out->packages = calloc(count + 1, sizeof(*out->packages));
    int failed = 0;
    for (out->count = 0; !failed && out->count < count; out->count++) {
        char where[32];
        snprintf(where, sizeof(where), "packages[%zu]", out->count);
        failed = read_package(json_array_get(list, out->count), &out->packages[out->count], err);
        if (failed) {
            cbx_wrap(err, "%s", where);
            return failed;
        }
    }
    return failed;
}

static int read_label(struct cbx_str label, struct cbx_contents *out, struct cbx_err *err)
{
    static const struct cbx_json_field fields[] = {
        { "version", CBX_JSON_INT, offsetof(struct label, version), true, false, 1, 1 },
        { "runtime", CBX_JSON_OBJECT, offsetof(struct label, runtime), true, false, 0, 0 },
        { "packages", CBX_JSON_ARRAY, offsetof(struct label, packages), true, false, 0, 0 },
    };
    struct label top = { 0 };
    int failed = cbx_json_parse(label, CBX_CONTENTS_MAX_BYTES, &out->json, err);
    if (!failed && !json_is_object(out->json)) {
        failed = cbx_fail(err, CBX_EINVAL, "it is no object");
    }
    if (failed) {
        return failed;
    }
    failed = cbx_json_read(out->json, fields, 3, &top, err);
    if (failed) {
        return failed;
    }
    failed = read_runtime(top.runtime, out, err);
    if (failed) {
        return failed;
    }
    return read_packages(top.packages, out, err);
}

int cbx_contents_read(struct cbx_str label, struct cbx_contents *out, struct cbx_err *err)
{
    *out = (struct cbx_contents){ 0 };
    int failed = read_label(label, out, err);
    if (failed) {
        cbx_contents_done(out);
        cbx_wrap(err, "the list of what the image has");
    }
    return failed;
}

void cbx_contents_done(struct cbx_contents *contents)
{
    json_decref(contents->json);
    free(contents->packages);
    *contents = (struct cbx_contents){ 0 };
}

/* --- questions -------------------------------------------------------------------------------- */

const struct cbx_image_package *cbx_contents_find(const struct cbx_contents *contents,
                                                  struct cbx_str name)
{
    for (size_t i = 0; i < contents->count; i++) {
        if (cbx_package_same(name, contents->packages[i].name)) {
            return &contents->packages[i];
        }
    }
    return NULL;
}

static bool same_module(struct cbx_str a, struct cbx_str b)
{
    return a.len == b.len && a.len > 0 && strncasecmp(a.p, b.p, a.len) == 0;
}

const struct cbx_image_package *cbx_contents_provider(const struct cbx_contents *contents,
                                                      struct cbx_str module)
{
    for (size_t i = 0; i < contents->count; i++) {
        const json_t *modules = contents->packages[i].modules;
        for (size_t k = 0; k < json_array_size(modules); k++) {
            if (same_module(module, cbx_json_str(json_array_get(modules, k)))) {
                return &contents->packages[i];
            }
        }
    }
    return NULL;
}

/* Returns the least edit distance of the package's name and modules to a name; limit + 1 = too
 * far. */
static size_t distance(const struct cbx_image_package *package, struct cbx_str name, size_t limit)
{
    size_t least = cbx_str_distance(name, package->name, limit);
    for (size_t k = 0; k < json_array_size(package->modules); k++) {
        size_t one =
            cbx_str_distance(name, cbx_json_str(json_array_get(package->modules, k)), limit);
        least = one < least ? one : least;
    }
    return least;
}

bool cbx_contents_add_nearest(const struct cbx_contents *contents, struct cbx_str name,
                              struct cbx_buf *out)
{
    size_t limit = name.len < 6 ? 1 : 2, found = 0;
    for (size_t d = 0; d <= limit; d++) { /* nearest first */
        for (size_t i = 0; i < contents->count && found < NEAREST_MAX; i++) {
            if (distance(&contents->packages[i], name, limit) == d) {
                cbx_buf_printf(out, "%s'%.*s'", found > 0 ? " or " : "",
                               CBX_STR_ARG(contents->packages[i].name));
                found++;
            }
        }
    }
    return found > 0;
}

void cbx_image_package_add(const struct cbx_image_package *package, struct cbx_buf *out)
{
    cbx_buf_printf(out, "%.*s %.*s", CBX_STR_ARG(package->name), CBX_STR_ARG(package->version));
    size_t count = json_array_size(package->modules);
    for (size_t k = 0; k < count; k++) {
        if (cbx_package_same(package->name, cbx_json_str(json_array_get(package->modules, k)))) {
            return;
        }
    }
    for (size_t k = 0; k < count; k++) {
        cbx_buf_printf(out, "%s%s", k > 0 ? ", " : " (import ",
                       json_string_value(json_array_get(package->modules, k)));
    }
    cbx_buf_add_cstr(out, count > 0 ? ")" : "");
}
