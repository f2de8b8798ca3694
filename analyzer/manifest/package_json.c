/* SPDX-License-Identifier: MIT
 * Reads package.json: packages of npm, their replacements (overrides of npm and pnpm, resolutions
 * of yarn), and scripts, which npm passes to a shell. Reads pnpm-workspace.yaml: catalogs, which
 * have the versions of packages, and overrides. */
#include "analyzer/manifest/documents/doc.h"
#include "analyzer/manifest/readers.h"

struct reading {
    const struct cbx_doc *doc;
    struct cbx_arena *arena;
    struct cbx_manifest *out;
    struct cbx_err *err;
};

static bool starts_with_any(struct cbx_str text, const char *const *starts)
{
    while (*starts != NULL && !cbx_str_starts(text, cbx_str_of(*starts))) {
        starts++;
    }
    return *starts != NULL;
}

/* --- packages --------------------------------------------------------------------------------- */

/* Returns the end of an entry, behind the quote of its text. */
static uint32_t end_of(const struct reading *r, const struct cbx_doc_node *entry)
{
    struct cbx_str file = r->doc->file;
    bool quoted = entry->end < file.len && strchr("\"'", file.p[entry->end]) != NULL;
    return entry->end + quoted;
}

/* Adds NAME@RANGE with the place of the entry. */
static int add_package(struct reading *r, struct cbx_str name, const struct cbx_doc_node *entry)
{
    /* members of the project: protocols of pnpm and yarn */
    static const char *const own[] = { "workspace:", "link:", "portal:", "file:", NULL };
    /* the version stands elsewhere: in a catalog of pnpm, or it is the patched one */
    static const char *const elsewhere[] = { "catalog:", "patch:", NULL };
    struct cbx_str range = entry->text;
    if (starts_with_any(range, own)) {
        return 0;
    }
    if (starts_with_any(range, elsewhere)) {
        range = CBX_STR("");
    }
    struct cbx_str at = range.len > 0 ? CBX_STR("@") : CBX_STR("");
    struct cbx_manifest_word word = { .kind = CBX_SPEC_NPM,
                                      .text = CBX_JOIN(r->arena, name, at, range),
                                      .start = entry->key_start,
                                      .end = end_of(r, entry) };
    if (word.text.p == NULL) {
        return cbx_fail(r->err, CBX_ETOOBIG, "out of the analysis's memory");
    }
    return cbx_manifest_add_word(r->out, r->arena, &word, r->err);
}

static int read_dependency(void *context, const struct cbx_doc_node *entry)
{
    struct reading *r = context;
    if (entry->kind != CBX_DOC_TEXT) {
        return cbx_doc_fail(r->doc, entry, "a dependency that is no text", r->err);
    }
    return add_package(r, entry->key, entry);
}

/* --- what replaces packages ------------------------------------------------------------------- */

/* Returns the name of the package in the key of an override: "a", "@s/a", "a@^1" (npm), "x>a",
 * "x@1>a@>=2" (pnpm), "x/a", "x/@s/a", with asterisks for x (yarn). */
static struct cbx_str name_of_key(struct cbx_str key)
{
    size_t start = 0;
    for (size_t i = 1; i < key.len; i++) { /* ">" behind one of these is a part of a range */
        start = key.p[i] == '>' && strchr(" |@", key.p[i - 1]) == NULL ? i + 1 : start;
    }
    key = cbx_str_sub(key, start, key.len);
    size_t end = 1;
    while (end < key.len && (key.p[end] != '@' || key.p[end - 1] == '/')) {
        end++;
    }
    struct cbx_str path = cbx_str_sub(key, 0, end < key.len ? end : key.len);
    const char *slash = path.len > 0 ? memrchr(path.p, '/', path.len) : NULL;
    size_t name = slash != NULL ? (size_t)(slash - path.p) + 1 : 0;
    const char *before = name > 1 ? memrchr(path.p, '/', name - 1) : NULL;
    size_t scope = before != NULL ? (size_t)(before - path.p) + 1 : 0;
    bool scoped = name > 0 && path.p[scope] == '@';
    return cbx_str_sub(path, scoped ? scope : name, path.len);
}

/* Reads a version, "npm:other@1", an address; "$name" is the version of a dependency, and "-" of
 * pnpm removes the package. */
static int add_override(struct reading *r, struct cbx_str name, const struct cbx_doc_node *entry)
{
    if (entry->kind != CBX_DOC_TEXT) {
        return cbx_doc_fail(r->doc, entry, "an override that is neither a text nor a table",
                            r->err);
    }
    if (cbx_str_starts(entry->text, CBX_STR("$")) || cbx_str_is(entry->text, "-")) {
        return 0;
    }
    return add_package(r, name, entry);
}

/* Reads an entry; in a table "." is the package itself, and the others are what it needs. The depth
 * is bounded by the text's. */
static int read_override(void *context, const struct cbx_doc_node *entry)
{
    struct reading *r = context;
    struct cbx_str name = name_of_key(entry->key);
    if (entry->kind != CBX_DOC_MAP) {
        return add_override(r, name, entry);
    }
    int failed = 0;
    for (const struct cbx_doc_node *item = entry->first; item != NULL && !failed;
         item = item->next) {
        bool itself = cbx_str_is(item->key, ".");
        failed = itself ? add_override(r, name, item) : read_override(r, item);
    }
    return failed;
}

/* --- scripts ---------------------------------------------------------------------------------- */

static int read_script(void *context, const struct cbx_doc_node *entry)
{
    struct reading *r = context;
    if (entry->kind != CBX_DOC_TEXT) {
        return cbx_doc_fail(r->doc, entry, "a script that is no text", r->err);
    }
    CBX_AUTO_DONE(piece_maker) maker;
    cbx_piece_maker_init(&maker, r->arena, r->doc->file);
    cbx_doc_take(&maker, entry);
    return cbx_piece_maker_end(&maker, "shell", r->out, r->err);
}

/* --- files ------------------------------------------------------------------------------------ */

struct row {
    const char *path;
    int (*read)(void *context, const struct cbx_doc_node *entry);
};

static const struct row package_json[] = {
    { "dependencies.*", read_dependency },
    { "devDependencies.*", read_dependency },
    { "optionalDependencies.*", read_dependency },
    { "peerDependencies.*", read_dependency },
    { "overrides.*", read_override },
    { "resolutions.*", read_override },
    { "pnpm.overrides.*", read_override },
    { "scripts.*", read_script },
};

static const struct row pnpm_workspace[] = {
    { "catalog.*", read_dependency },
    { "catalogs.*.*", read_dependency },
    { "overrides.*", read_override },
};

static int read_rows(const struct cbx_doc *doc, struct cbx_arena *arena, struct cbx_manifest *out,
                     const struct row *rows, size_t count, struct cbx_err *err)
{
    struct reading r = { doc, arena, out, err };
    int failed = 0;
    for (size_t i = 0; i < count && !failed; i++) {
        failed = cbx_doc_each(doc, rows[i].path, rows[i].read, &r, err);
    }
    return failed;
}

int cbx_manifest_read_package_json(struct cbx_str text, struct cbx_arena *arena,
                                   struct cbx_manifest *out, struct cbx_err *err)
{
    struct cbx_doc doc;
    *out = (struct cbx_manifest){ .text = text };
    int failed = cbx_doc_read_json(text, arena, &doc, err);
    if (failed) {
        return failed;
    }
    if (doc.root->kind != CBX_DOC_MAP) {
        return cbx_fail(err, CBX_EINVAL, "it is no JSON object");
    }
    return read_rows(&doc, arena, out, package_json, sizeof(package_json) / sizeof(package_json[0]),
                     err);
}

int cbx_manifest_read_pnpm_workspace(struct cbx_str text, struct cbx_arena *arena,
                                     struct cbx_manifest *out, struct cbx_err *err)
{
    struct cbx_doc doc;
    *out = (struct cbx_manifest){ .text = text };
    int failed = cbx_doc_read_yaml(text, arena, &doc, err);
    if (failed) {
        return failed;
    }
    return read_rows(&doc, arena, out, pnpm_workspace,
                     sizeof(pnpm_workspace) / sizeof(pnpm_workspace[0]), err);
}
