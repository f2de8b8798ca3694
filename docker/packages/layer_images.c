/* SPDX-License-Identifier: MIT
 * Layers: images made of a kernel's sandbox image and a folder of packages. An installer writes
 * the folder, and the engine makes the image of it. No code of the layer is executed meanwhile. */
#include "docker/contents.h"
#include "docker/packages/packages_internal.h"
#include "docker/sandbox/container.h"
#include "policies/base/hash.h"
#include "policies/base/memory.h"
#include "policies/base/text/json.h"
#include "policies/base/time/clock.h"
#include "policies/versions/version.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

enum { DIGEST_CHARS = 32, FIELDS = 5 };

/* A set for one sandbox image. */
struct wanted {
    struct cbx_package_images images;
    struct cbx_str set;
    size_t count;
    char set_hex[CBX_SHA256_HEX + 1];
    char name[CBX_LAYER_NAME_BYTES];
};

static void name_layer(const char *prefix, const char *kernel, struct wanted *wanted)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_PACKAGE_SET_BYTES_MAX + 1024);
    cbx_buf_printf(&text, "%s\n%s\n", kernel, wanted->images.base);
    struct cbx_sha256 set = cbx_sha256_of(wanted->set);
    struct cbx_sha256 all = cbx_sha256_of2(cbx_buf_str(&text), wanted->set);
    char hex[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&set, wanted->set_hex);
    cbx_sha256_hex(&all, hex);
    snprintf(wanted->name, sizeof(wanted->name), "%.64s-%.32s-layer:%.*s",
             prefix != NULL ? prefix : "codebox", kernel, DIGEST_CHARS, hex);
}

/* Checks the set before any request to the engine. */
static int read_set(const char *kernel, struct cbx_str set, struct wanted *out, struct cbx_err *err)
{
    out->set = set;
    out->images.manager = cbx_packages_manager(kernel);
    if (out->images.manager == CBX_MANAGER_NONE) {
        return cbx_fail(err, CBX_EINVAL, "packages cannot be installed for the kernel '%s'",
                        kernel);
    }
    return cbx_package_set_check(out->images.manager, set, &out->count, err);
}

/* Reads the requested layer, for the kernel's current sandbox image. */
static int read_wanted(struct cbx_engine *engine, const struct cbx_packages_config *config,
                       const char *kernel, struct cbx_str set, struct wanted *out,
                       struct cbx_err *err)
{
    int failed = read_set(kernel, set, out, err);
    if (failed) {
        return failed;
    }
    failed = cbx_packages_base(engine, config, kernel, &out->images, err);
    if (failed) {
        return failed;
    }
    name_layer(config->sandbox->image_prefix, kernel, out);
    return 0;
}

/* --- find ------------------------------------------------------------------------------------- */

/* Another program made an image of this name that is not this layer: it counts as missing. */
static int find(struct cbx_engine *engine, const struct wanted *wanted, struct cbx_layer *out,
                struct cbx_err *err)
{
    struct cbx_layer layer = { 0 };
    char set[CBX_SHA256_HEX + 1], base[CBX_IMAGE_ID_CHARS + 1];
    snprintf(layer.name, sizeof(layer.name), "%s", wanted->name);
    int failed = cbx_engine_image_id(engine, wanted->name, layer.id, err);
    if (!failed) {
        failed = cbx_engine_image_label(engine, layer.id, CBX_LABEL_LAYER, set, sizeof(set), err);
    }
    if (!failed) {
        failed = cbx_engine_image_label(engine, layer.id, CBX_LABEL_BASE, base, sizeof(base), err);
    }
    bool same =
        !failed && strcmp(set, wanted->set_hex) == 0 && strcmp(base, wanted->images.base) == 0;
    if (failed == CBX_ENOTFOUND || (!failed && !same)) {
        return cbx_fail(err, CBX_ENOTFOUND, "there is no layer with these packages");
    }
    if (!failed) {
        *out = layer;
    }
    return failed;
}

int cbx_layer_find(struct cbx_engine *engine, const struct cbx_packages_config *config,
                   const char *kernel, struct cbx_str set, struct cbx_layer *out,
                   struct cbx_err *err)
{
    struct wanted wanted;
    int failed = read_wanted(engine, config, kernel, set, &wanted, err);
    if (failed) {
        return failed;
    }
    return find(engine, &wanted, out, err);
}

/* --- what a layer has ------------------------------------------------------------------------- */

/* Splits a checked line into its fields. */
static void split(struct cbx_str line, struct cbx_str field[FIELDS])
{
    for (size_t i = 0; i < FIELDS; i++) {
        field[i] = cbx_package_take_until(&line, ' ');
    }
}

/* Reads the package as programs see it; false for an npm package that only another package can
 * load. */
static bool read_package(enum cbx_manager manager, struct cbx_str line, struct cbx_str *name,
                         struct cbx_str *version)
{
    struct cbx_str field[FIELDS];
    split(line, field);
    if (manager == CBX_MANAGER_PIP) {
        *name = field[0];
        *version = field[1];
        return true;
    }
    *name = cbx_str_sub(field[0], sizeof("node_modules/") - 1, field[0].len);
    *version = field[2];
    return memmem(name->p, name->len, "/node_modules/", 14) == NULL;
}

/* Removes the image's package of the same name, which a package of the set replaces, and returns
 * its modules (new reference). */
static json_t *take_package(json_t *packages, enum cbx_manager manager, struct cbx_str name)
{
    for (size_t i = json_array_size(packages); i-- > 0;) {
        const json_t *each = json_array_get(packages, i);
        struct cbx_str has = cbx_json_str(json_object_get(each, "name"));
        if (manager == CBX_MANAGER_PIP ? cbx_package_same(name, has) : cbx_str_equal(name, has)) {
            json_t *modules = json_deep_copy(json_object_get(each, "modules"));
            json_array_remove(packages, i);
            return modules;
        }
    }
    return json_array();
}

/* Adds the label of the layer's contents: the sandbox image's label, and the packages of the
 * set. The modules of a Python package are not known before its installation, except for the
 * image's packages; npm modules have the name of the package. */
static int add_contents(const struct cbx_contents *contents, const struct wanted *wanted,
                        struct cbx_buf *out, struct cbx_err *err)
{
    json_t *packages = json_object_get(contents->json, "packages");
    for (struct cbx_str rest = wanted->set, name, version; rest.len > 0;) {
        enum cbx_manager manager = wanted->images.manager;
        if (read_package(manager, cbx_package_take_until(&rest, '\n'), &name, &version)) {
            json_t *modules = take_package(packages, manager, name);
            if (manager == CBX_MANAGER_NPM) {
                json_array_clear(modules);
                json_array_append_new(modules, cbx_json_text(name));
            }
            json_array_append_new(packages,
                                  json_pack("{s:o,s:o,s:o}", "name", cbx_json_text(name), "version",
                                            cbx_json_text(version), "modules", modules));
        }
    }
    CBX_AUTO_DONE(contents) checked = { 0 };
    if (cbx_json_write(out, contents->json) != 0) {
        return cbx_fail(err, CBX_ETOOBIG, "the list of the packages has more than %d bytes",
                        CBX_CONTENTS_MAX_BYTES);
    }
    return cbx_contents_read(cbx_buf_str(out), &checked, err);
}

/* *image is the list of the sandbox image's packages (new reference). */
static int list_contents(struct cbx_engine *engine, const struct wanted *wanted,
                         struct cbx_buf *out, json_t **image, struct cbx_err *err)
{
    struct cbx_image base;
    CBX_AUTO_DONE(contents) contents = { 0 };
    int failed = cbx_engine_image(engine, wanted->images.base, &base, err);
    if (!failed) {
        failed = cbx_contents_read(cbx_str_of(base.contents != NULL ? base.contents : ""),
                                   &contents, err);
    }
    free(base.contents);
    if (failed) {
        return failed;
    }
    json_t *packages = json_deep_copy(json_object_get(contents.json, "packages"));
    failed = add_contents(&contents, wanted, out, err);
    if (failed) {
        json_decref(packages);
    } else {
        *image = packages;
    }
    return failed;
}

/* --- install ---------------------------------------------------------------------------------- */

/* "packages": [[NAME, VERSION, HASH], ...], or the five fields of npm. "image": the contents of
 * the sandbox image. */
static json_t *make_job(const struct wanted *wanted, json_t *image)
{
    size_t fields = wanted->images.manager == CBX_MANAGER_PIP ? 3 : FIELDS;
    json_t *packages = json_array();
    for (struct cbx_str rest = wanted->set; rest.len > 0;) {
        struct cbx_str field[FIELDS];
        split(cbx_package_take_until(&rest, '\n'), field);
        json_t *package = json_array();
        for (size_t i = 0; i < fields; i++) {
            json_array_append_new(package, cbx_json_text(field[i]));
        }
        json_array_append_new(packages, package);
    }
    return json_pack("{s:s,s:o,s:O}", "task", "install", "packages", packages, "image", image);
}

/* The folder of an installer's packages, and its place in a layer: Python and Node search it before
 * the image's. */
struct place {
    const char *from;
    char to[64];
};

static int find_place(const struct wanted *wanted, struct cbx_str label, struct place *out,
                      struct cbx_err *err)
{
    CBX_AUTO_DONE(contents) contents = { 0 };
    struct cbx_pep440 version;
    if (wanted->images.manager == CBX_MANAGER_NPM) {
        *out = (struct place){ "node_modules", "/usr/local/lib/node_modules" };
        return 0;
    }
    int failed = cbx_contents_read(label, &contents, err);
    if (failed) {
        return failed;
    }
    const char *minor = memchr(contents.runtime_version.p, '.', contents.runtime_version.len);
    if (minor == NULL || !cbx_pep440_parse(contents.runtime_version, &version)) {
        return cbx_fail(err, CBX_EENGINE, "the sandbox image does not say which Python it has");
    }
    size_t digits = strspn(minor + 1, "0123456789");
    int len = (int)(minor + 1 + digits - contents.runtime_version.p);
    out->from = "python";
    snprintf(out->to, sizeof(out->to), "/usr/local/lib/python%.*s/dist-packages", len,
             contents.runtime_version.p);
    return 0;
}

static int make_layer(struct cbx_engine *engine, const struct cbx_packages_config *config,
                      const struct wanted *wanted, const char *container, struct cbx_str contents,
                      const struct cbx_engine_stop *stop, struct cbx_err *err)
{
    struct place place;
    int failed = find_place(wanted, contents, &place, err);
    if (failed) {
        cbx_engine_container_remove(engine, container, NULL);
        return failed;
    }
    CBX_AUTO_JSON labels =
        json_pack("{s:s,s:s,s:o}", CBX_LABEL_LAYER, wanted->set_hex, CBX_LABEL_BASE,
                  wanted->images.base, CBX_LABEL_CONTENTS, cbx_json_text(contents));
    const struct cbx_layer_recipe recipe = { .name = wanted->name,
                                             .base = wanted->images.base,
                                             .container = container,
                                             .from = place.from,
                                             .to = place.to,
                                             .labels = labels,
                                             .bytes_max = cbx_packages_unpacked_bytes(config),
                                             .files_max = cbx_packages_files(config) };
    return cbx_engine_layer_make(engine, &recipe, stop, err);
}

/* A layer with another version of a package that is built into the image would mix their files.
 * `line` is of the image's set. */
static int check_line(const struct wanted *wanted, struct cbx_str line, struct cbx_err *err)
{
    struct cbx_str set = wanted->set, field[FIELDS], other[FIELDS], name, version;
    split(line, field);
    while (set.len > 0) {
        struct cbx_str each = cbx_package_take_until(&set, '\n');
        split(each, other);
        if (cbx_str_equal(other[0], field[0]) && !cbx_str_equal(each, line)) {
            read_package(wanted->images.manager, line, &name, &version);
            return cbx_fail(err, CBX_EINVAL,
                            "the image has %.*s %.*s built in, and a sandbox cannot have another "
                            "version of it",
                            CBX_STR_SHOWN(name), CBX_STR_SHOWN(version));
        }
    }
    return 0;
}

static int check_built_in(struct cbx_engine *engine, const struct wanted *wanted,
                          struct cbx_err *err)
{
    CBX_AUTO_MEM char *text = cbx_renew(NULL, 1, CBX_PACKAGE_SET_BYTES_MAX);
    int failed = cbx_engine_image_label(engine, wanted->images.base, CBX_LABEL_BUILT_IN, text,
                                        CBX_PACKAGE_SET_BYTES_MAX, err);
    struct cbx_str built_in = failed ? CBX_STR("") : cbx_str_of(text);
    while (!failed && built_in.len > 0) {
        failed = check_line(wanted, cbx_package_take_until(&built_in, '\n'), err);
    }
    return failed;
}

/* The container and the images during the making of a layer. */
struct making {
    const struct cbx_packages_progress *progress; /* may be NULL */
    int64_t deadline_ms;                          /* time of cbx_clock_ms */
    bool late;
};

static bool is_over(void *context)
{
    struct making *m = context;
    m->late = cbx_clock_ms() >= m->deadline_ms;
    return m->late || (m->progress != NULL && m->progress->cancelled != NULL &&
                       m->progress->cancelled(m->progress->context));
}

static int install(struct cbx_engine *engine, const struct cbx_packages_config *config,
                   const char *kernel, const struct wanted *wanted, const char *index,
                   const struct cbx_packages_progress *progress, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) contents;
    CBX_AUTO_DONE(buf) report;
    cbx_buf_init(&contents, CBX_CONTENTS_MAX_BYTES);
    cbx_buf_init(&report, CBX_REPORT_BYTES_MAX);
    CBX_AUTO_JSON image = NULL;
    int64_t timeout_ms = config->timeout_ms > 0 ? config->timeout_ms : CBX_PACKAGES_TIMEOUT_MS;
    int failed = list_contents(engine, wanted, &contents, &image, err);
    if (failed) {
        if (failed == CBX_ENOTFOUND) {
            return cbx_fail(err, CBX_EENGINE, "the sandbox image was replaced meanwhile");
        }
        return failed;
    }
    CBX_AUTO_JSON job = make_job(wanted, image);
    struct cbx_installer_run run = { .kernel = kernel,
                                     .images = &wanted->images,
                                     .job = job,
                                     .index = index,
                                     .progress = progress };
    char container[CBX_CONTAINER_ID_CHARS + 1];
    failed = cbx_installer_run(engine, config, &run, &report, container, err);
    if (failed) {
        return failed;
    }
    struct making making = { .progress = progress, .deadline_ms = cbx_clock_ms() + timeout_ms };
    const struct cbx_engine_stop stop = { is_over, &making };
    failed = make_layer(engine, config, wanted, container, cbx_buf_str(&contents), &stop, err);
    if (failed && making.late) {
        return cbx_fail(err, CBX_ETIMEDOUT, "the packages could not be made a layer in time");
    }
    return failed;
}

/* An absent layer is no failure of an install; other failures of a search are. */
static int pass_on(int failed, const struct cbx_err *found, struct cbx_err *err)
{
    if (failed && err != NULL) {
        *err = *found;
    }
    return failed;
}

int cbx_layer_install(struct cbx_engine *engine, const struct cbx_packages_config *config,
                      const char *kernel, struct cbx_str set, const char *index,
                      const struct cbx_packages_progress *progress, struct cbx_layer *out,
                      struct cbx_err *err)
{
    struct wanted wanted;
    int failed = read_wanted(engine, config, kernel, set, &wanted, err);
    if (failed) {
        return failed;
    }
    failed = check_built_in(engine, &wanted, err);
    if (failed) {
        return failed;
    }
    struct cbx_err absent = { 0 };
    failed = find(engine, &wanted, out, &absent);
    if (failed != CBX_ENOTFOUND) {
        return pass_on(failed, &absent, err);
    }
    char base[CBX_IMAGE_ID_CHARS + 1];
    memcpy(base, wanted.images.base, sizeof(base));
    failed = cbx_packages_images(engine, config, kernel, &wanted.images, err);
    if (!failed && strcmp(base, wanted.images.base) != 0) {
        failed = cbx_fail(err, CBX_EENGINE, "the sandbox image was replaced meanwhile");
    }
    if (failed) {
        return failed;
    }
    failed = install(engine, config, kernel, &wanted, index, progress, err);
    if (failed) {
        return failed;
    }
    failed = find(engine, &wanted, out, &absent);
    if (failed == CBX_ENOTFOUND) {
        return cbx_fail(err, CBX_EENGINE, "the sandbox engine made a layer that is not there");
    }
    return pass_on(failed, &absent, err);
}

/* --- list, remove, reap ----------------------------------------------------------------------- */

/* True for "PREFIX-KERNEL-layer:DIGEST" with this prefix; the kernel is in *kernel. */
static bool is_layer_name(const char *prefix, struct cbx_str name, struct cbx_str *kernel)
{
    struct cbx_str start = cbx_str_of(prefix != NULL ? prefix : "codebox");
    const char *end = memmem(name.p, name.len, "-layer:", 7);
    if (!cbx_str_starts(name, start) || end == NULL || name.len < start.len + 1 ||
        name.p[start.len] != '-' || end <= name.p + start.len) {
        return false;
    }
    *kernel = cbx_str_sub(name, start.len + 1, (size_t)(end - name.p));
    char text[33];
    snprintf(text, sizeof(text), "%.*s", CBX_STR_ARG(*kernel));
    return cbx_packages_manager(text) != CBX_MANAGER_NONE;
}

/* Returns the size of a layer without its sandbox image; the full size if that image was
 * removed. */
static int64_t own_bytes(struct cbx_engine *engine, const char *base, int64_t size_bytes)
{
    struct cbx_image image;
    if (cbx_engine_image(engine, base, &image, NULL) != 0) {
        return size_bytes;
    }
    free(image.contents);
    return size_bytes > image.size_bytes ? size_bytes - image.size_bytes : 0;
}

static void add_layer(struct cbx_engine *engine, const char *prefix, const json_t *image,
                      json_t *out)
{
    const json_t *names = json_object_get(image, "RepoTags");
    for (size_t i = 0; i < json_array_size(names); i++) {
        struct cbx_str name = cbx_json_str(json_array_get(names, i)), kernel;
        if (name.len < CBX_LAYER_NAME_BYTES && is_layer_name(prefix, name, &kernel)) {
            const char *base = json_string_value(
                json_object_get(json_object_get(image, "Labels"), CBX_LABEL_BASE));
            int64_t size_bytes = json_integer_value(json_object_get(image, "Size"));
            json_array_append_new(
                out, json_pack("{s:o,s:O,s:o,s:s,s:I,s:I,s:I}", "name", cbx_json_text(name), "id",
                               json_object_get(image, "Id"), "kernel", cbx_json_text(kernel),
                               "base", base != NULL ? base : "", "size_bytes",
                               (json_int_t)size_bytes, "own_bytes",
                               (json_int_t)own_bytes(engine, base != NULL ? base : "", size_bytes),
                               "created", json_integer_value(json_object_get(image, "Created"))));
        }
    }
}

int cbx_layer_list(struct cbx_engine *engine, const struct cbx_packages_config *config,
                   json_t **out, struct cbx_err *err)
{
    CBX_AUTO_JSON images = NULL;
    int failed = cbx_engine_image_list(engine, CBX_LABEL_LAYER, &images, err);
    if (failed) {
        return failed;
    }
    *out = json_array();
    size_t i;
    const json_t *image;
    json_array_foreach(images, i, image)
    {
        add_layer(engine, config->sandbox->image_prefix, image, *out);
    }
    return 0;
}

int cbx_layer_remove(struct cbx_engine *engine, const char *id, struct cbx_err *err)
{
    return cbx_engine_image_remove(engine, id, err);
}

int cbx_packages_reap(struct cbx_engine *engine, const char *instance, int64_t age_s,
                      size_t *removed, struct cbx_err *err)
{
    char label[128];
    snprintf(label, sizeof(label), CBX_LABEL_INSTANCE "=%.64s", instance);
    CBX_AUTO_JSON images = NULL;
    int failed = cbx_engine_image_list(engine, label, &images, err);
    *removed = 0;
    size_t i;
    const json_t *image;
    json_array_foreach(images, i, image)
    {
        if (json_integer_value(json_object_get(image, "Created")) <= (int64_t)time(NULL) - age_s) {
            const char *id = json_string_value(json_object_get(image, "Id"));
            int kept = cbx_engine_image_remove(engine, id, failed ? NULL : err);
            if (!failed) {
                failed = kept;
            }
            *removed += kept ? 0 : 1;
        }
    }
    return failed;
}
