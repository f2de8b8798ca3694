/* SPDX-License-Identifier: MIT
 * Reads package-lock.json (and npm-shrinkwrap.json), pnpm-lock.yaml, and yarn.lock as newer
 * versions of yarn write it. */
#include "analyzer/manifest/locks/locked.h"
#include "analyzer/manifest/locks/yarn.h"
#include "analyzer/manifest/readers.h"

/* --- npm -------------------------------------------------------------------------------------- */

static bool is_true(const struct cbx_doc_node *node)
{
    return node != NULL && node->kind == CBX_DOC_OTHER && cbx_str_is(node->text, "true");
}

/* Returns the package of a path: "node_modules/a/node_modules/@s/b" is @s/b; empty for the
 * project and its members. */
static struct cbx_locked_text name_of_path(const struct cbx_doc_node *entry)
{
    static const char folder[] = "node_modules/";
    struct cbx_locked_text name = cbx_locked_key(entry);
    struct cbx_str path = entry->key;
    bool found = false;
    for (;;) {
        const char *at = path.len > 0 ? memmem(path.p, path.len, folder, sizeof(folder) - 1) : NULL;
        if (at == NULL) {
            break;
        }
        found = true;
        path = cbx_str_sub(path, (size_t)(at - path.p) + sizeof(folder) - 1, path.len);
    }
    name.text = found ? path : CBX_STR("");
    return name;
}

/* Reads an entry of "packages": lockfileVersion 2 and 3. */
static int read_npm_package(void *context, const struct cbx_doc_node *entry)
{
    struct cbx_locking *l = context;
    struct cbx_locked_text name = name_of_path(entry);
    struct cbx_str alias = cbx_doc_text(entry, "name");
    if (entry->kind != CBX_DOC_MAP) {
        return cbx_doc_fail(l->doc, entry, "a package that is no table", l->err);
    }
    if (name.text.len == 0 || is_true(cbx_doc_get(entry, "link"))) {
        return 0;
    }
    name.text = alias.len > 0 ? alias : name.text;
    return cbx_locked_add_npm(l, name, cbx_doc_text(entry, "version"),
                              cbx_locked_value(cbx_doc_get(entry, "resolved")));
}

/* Reads the entries of "dependencies", which have "dependencies" themselves: lockfileVersion 1.
 * The depth is bounded by the text's. */
static int read_npm_tree(struct cbx_locking *l, const struct cbx_doc_node *map)
{
    const struct cbx_doc_node *entry = map != NULL ? map->first : NULL;
    for (; entry != NULL; entry = entry->next) {
        struct cbx_locked_text name = cbx_locked_key(entry);
        struct cbx_str version = cbx_doc_text(entry, "version");
        const char *at = cbx_str_starts(version, CBX_STR("npm:")) && version.len > 5
                             ? memrchr(version.p + 5, '@', version.len - 5)
                             : NULL;
        if (entry->kind != CBX_DOC_MAP) {
            return cbx_doc_fail(l->doc, entry, "a package that is no table", l->err);
        }
        if (at != NULL) { /* another name for a package: "npm:name@1.2.3" */
            name.text = cbx_str_sub(version, 4, (size_t)(at - version.p));
            version = cbx_str_sub(version, (size_t)(at - version.p) + 1, version.len);
        }
        int failed =
            cbx_locked_add_npm(l, name, version, cbx_locked_value(cbx_doc_get(entry, "resolved")));
        if (!failed) {
            failed = read_npm_tree(l, cbx_doc_get(entry, "dependencies"));
        }
        if (failed) {
            return failed;
        }
    }
    return 0;
}

int cbx_manifest_read_package_lock(struct cbx_str text, struct cbx_arena *arena,
                                   struct cbx_manifest *out, struct cbx_err *err)
{
    struct cbx_doc doc;
    *out = (struct cbx_manifest){ .text = text };
    int failed = cbx_doc_read_json(text, arena, &doc, err);
    if (failed) {
        return failed;
    }
    struct cbx_locking l = {
        .doc = &doc, .arena = arena, .out = out, .err = err, .kind = CBX_SPEC_NPM
    };
    if (cbx_doc_get(doc.root, "packages") != NULL) {
        return cbx_doc_each(&doc, "packages.*", read_npm_package, &l, err);
    }
    if (doc.root->kind != CBX_DOC_MAP) {
        return cbx_fail(err, CBX_EINVAL, "it is no JSON object");
    }
    return read_npm_tree(&l, cbx_doc_get(doc.root, "dependencies"));
}

/* --- pnpm ------------------------------------------------------------------------------------- */

static struct cbx_str before(struct cbx_str text, char c)
{
    const char *at = text.len > 0 ? memchr(text.p, c, text.len) : NULL;
    return cbx_str_sub(text, 0, at != NULL ? (size_t)(at - text.p) : text.len);
}

/* Reads "name@1.2.3", "/name@1.2.3", "/name/1.2.3_peer"; the suffix for peers is cut off. */
static void split_pnpm_key(struct cbx_str key, struct cbx_str *name, struct cbx_str *version)
{
    key = cbx_str_sub(key, cbx_str_starts(key, CBX_STR("/")), key.len);
    key = before(key, '(');
    const char *at = key.len > 1 ? memchr(key.p + 1, '@', key.len - 1) : NULL;
    const char *slash = key.len > 0 ? memrchr(key.p, '/', key.len) : NULL;
    const char *underscore = key.len > 0 ? memchr(key.p, '_', key.len) : NULL;
    bool old = at == NULL || (underscore != NULL && underscore < at && slash != NULL &&
                              slash < underscore && slash[1] >= '0' && slash[1] <= '9');
    if (!old) {
        *name = cbx_str_sub(key, 0, (size_t)(at - key.p));
        *version = cbx_str_sub(key, name->len + 1, key.len);
        return;
    }
    size_t end = slash != NULL ? (size_t)(slash - key.p) : key.len;
    *name = cbx_str_sub(key, 0, end);
    *version = before(cbx_str_sub(key, end + 1, key.len), '_');
}

static int read_pnpm_package(void *context, const struct cbx_doc_node *entry)
{
    struct cbx_locking *l = context;
    const struct cbx_doc_node *resolution = cbx_doc_get(entry, "resolution");
    struct cbx_str named = cbx_doc_text(entry, "name");
    struct cbx_locked_text name = cbx_locked_key(entry);
    struct cbx_locked_text tarball = cbx_locked_value(cbx_doc_get(resolution, "tarball"));
    struct cbx_str repository = cbx_doc_text(resolution, "repo"), version;
    if (entry->kind != CBX_DOC_MAP) {
        return cbx_doc_fail(l->doc, entry, "a package that is no table", l->err);
    }
    split_pnpm_key(entry->key, &name.text, &version);
    name.text = named.len > 0 ? named : name.text;
    version = named.len > 0 ? cbx_doc_text(entry, "version") : version;
    if (cbx_doc_get(resolution, "directory") != NULL) {
        return 0;
    }
    if (repository.len > 0) {
        bool has = cbx_str_starts(repository, CBX_STR("git"));
        return cbx_locked_add_direct(
            l, name, CBX_JOIN(l->arena, has ? CBX_STR("") : CBX_STR("git+"), repository));
    }
    return cbx_locked_add_npm(l, name, version, tarball);
}

int cbx_manifest_read_pnpm_lock(struct cbx_str text, struct cbx_arena *arena,
                                struct cbx_manifest *out, struct cbx_err *err)
{
    struct cbx_doc doc;
    *out = (struct cbx_manifest){ .text = text };
    int failed = cbx_doc_read_yaml(text, arena, &doc, err);
    if (failed) {
        return failed;
    }
    struct cbx_locking l = {
        .doc = &doc, .arena = arena, .out = out, .err = err, .kind = CBX_SPEC_NPM
    };
    return cbx_doc_each(&doc, "packages.*", read_pnpm_package, &l, err);
}

/* --- yarn, from its version 2 on -------------------------------------------------------------- */

static bool is_of_project(struct cbx_str reference)
{
    static const char *const own[] = { "workspace:", "link:", "portal:", "file:" };
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (cbx_str_starts(reference, cbx_str_of(own[i]))) {
            return true;
        }
    }
    return false;
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c != '\0' ? strchr(digits, c | 0x20) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

/* Decodes %XX. */
static struct cbx_str decode_percent(struct cbx_arena *arena, struct cbx_str text)
{
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, CBX_MANIFEST_MAX_BYTES);
    for (size_t i = 0; i < text.len; i++) {
        int high = text.p[i] == '%' && i + 2 < text.len ? hex_digit(text.p[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(text.p[i + 2]) : -1;
        cbx_buf_add_char(&out, low >= 0 ? (char)(high * 16 + low) : text.p[i]);
        i += low >= 0 ? 2 : 0;
    }
    return cbx_arena_copy(arena, cbx_buf_str(&out));
}

/* Reads "npm:1.2.3", and the address of its archive if the registry does not have it:
 * "::__archiveUrl=https%3A..." */
static int add_yarn_version(struct cbx_locking *l, struct cbx_locked_text name,
                            struct cbx_str reference)
{
    static const char mark[] = "::__archiveUrl=";
    const char *at = memmem(reference.p, reference.len, mark, sizeof(mark) - 1);
    size_t end = at != NULL ? (size_t)(at - reference.p) : reference.len;
    int failed = cbx_locked_add(l, name, cbx_str_sub(reference, 4, end));
    if (failed || at == NULL) {
        return failed;
    }
    struct cbx_locked_text url = name;
    url.text = cbx_str_sub(reference, end + sizeof(mark) - 1, reference.len);
    url.text = decode_percent(l->arena, before(url.text, '&'));
    return cbx_locked_add_file(l, url, CBX_STR(""));
}

static int read_berry_package(void *context, const struct cbx_doc_node *entry)
{
    struct cbx_locking *l = context;
    struct cbx_locked_text name = cbx_locked_key(entry);
    struct cbx_locked_text resolution = cbx_locked_value(cbx_doc_get(entry, "resolution"));
    struct cbx_str text = resolution.text;
    if (cbx_str_is(entry->key, "__metadata")) {
        return 0;
    }
    const char *at = text.len > 1 ? memchr(text.p + 1, '@', text.len - 1) : NULL;
    if (at == NULL) {
        return cbx_doc_fail(l->doc, entry, "a package without a resolution", l->err);
    }
    name.text = cbx_str_sub(text, 0, (size_t)(at - text.p));
    struct cbx_str reference = cbx_str_sub(text, name.text.len + 1, text.len);
    if (is_of_project(reference)) {
        return 0;
    }
    if (cbx_str_starts(reference, CBX_STR("npm:"))) {
        return add_yarn_version(l, name, reference);
    }
    if (cbx_str_starts(reference, CBX_STR("patch:"))) { /* a package with an entry of its own */
        return cbx_locked_add(l, name, cbx_doc_text(entry, "version"));
    }
    return cbx_locked_add_direct(l, name, reference);
}

int cbx_manifest_read_yarn_lock(struct cbx_str text, struct cbx_arena *arena,
                                struct cbx_manifest *out, struct cbx_err *err)
{
    static const char mark[] = "\n__metadata:";
    struct cbx_doc doc;
    *out = (struct cbx_manifest){ .text = text };
    struct cbx_locking l = { .arena = arena, .out = out, .err = err, .kind = CBX_SPEC_NPM };
    bool berry = cbx_str_starts(text, CBX_STR("__metadata:")) ||
                 (text.len > 0 && memmem(text.p, text.len, mark, sizeof(mark) - 1) != NULL);
    if (!berry) {
        return cbx_yarn_read_classic(&l, text);
    }
    int failed = cbx_doc_read_yaml(text, arena, &doc, err);
    if (failed) {
        return failed;
    }
    l.doc = &doc;
    return cbx_doc_each(&doc, "*", read_berry_package, &l, err);
}
