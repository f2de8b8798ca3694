/* SPDX-License-Identifier: MIT
 * package-lock.json: converts it to the part that `npm ci` installs, and refuses packages that are
 * not of an index. */
#include "analyzer/manifest/documents/doc.h"
#include "analyzer/manifest/locks/lockfile_internal.h"
#include "policies/base/text/json.h"

struct reading {
    struct cbx_lockfile *lockfile;
    struct cbx_err *err;
    size_t count;
};

static bool is_true(const struct cbx_doc_node *node)
{
    return node != NULL && node->kind == CBX_DOC_OTHER && cbx_str_is(node->text, "true");
}

static int refuse(struct reading *r, const struct cbx_doc_node *entry, const char *found,
                  struct cbx_str what)
{
    return cbx_lockfile_fail(r->lockfile, entry->key_start, r->err,
                             "'%.*s' %s%.*s, allowed are packages of the registry with an "
                             "integrity 'sha512-...'",
                             CBX_STR_SHOWN(entry->key), found, CBX_STR_SHOWN(what));
}

static int check_package(void *context, const struct cbx_doc_node *entry)
{
    struct reading *r = context;
    struct cbx_str resolved = cbx_doc_text(entry, "resolved");
    struct cbx_str integrity = cbx_doc_text(entry, "integrity");
    if (entry->key.len == 0) {
        return 0; /* the project itself */
    }
    r->count++;
    if (entry->kind != CBX_DOC_MAP || is_true(cbx_doc_get(entry, "link")) ||
        !cbx_str_starts(entry->key, CBX_STR("node_modules/"))) {
        return refuse(r, entry, "is a folder of the project", CBX_STR(""));
    }
    if (resolved.len > 0 && !cbx_str_starts(resolved, CBX_STR("https:")) &&
        !cbx_str_starts(resolved, CBX_STR("http:"))) {
        return refuse(r, entry, "comes from ", resolved);
    }
    if (is_true(cbx_doc_get(entry, "inBundle"))) {
        return refuse(r, entry, "lies in the archive of another package (inBundle)", CBX_STR(""));
    }
    if (integrity.len == 0) {
        return refuse(r, entry, "has no integrity", CBX_STR(""));
    }
    if (!cbx_str_starts(integrity, CBX_STR("sha512-")) || integrity.len != 7 + 88) {
        return refuse(r, entry, "has the integrity ", integrity);
    }
    return 0;
}

/* The address of an archive is judged (cbx_lockfile_judge_sources) and then removed: a package
 * is requested by name and version from the configured index, as npm does with a lock file of
 * its public registry, and its hash shows whether it is the same. */
static int write_without_addresses(json_t *root, struct cbx_buf *out, struct cbx_err *err)
{
    const char *key;
    json_t *entry;
    json_object_foreach(json_object_get(root, "packages"), key, entry)
    {
        json_object_del(entry, "resolved");
    }
    json_object_del(root, "dependencies"); /* lockfileVersion 2 has every package twice */
    json_object_set_new(root, "lockfileVersion", json_integer(3));
    if (cbx_json_write(out, root) != 0) {
        return cbx_fail(err, CBX_ETOOBIG, "the lock file has more than %d bytes",
                        CBX_REPORT_BYTES_MAX);
    }
    return 0;
}

int cbx_lockfile_read_npm(struct cbx_lockfile *lockfile, struct cbx_arena *arena,
                          struct cbx_buf *out, struct cbx_err *err)
{
    struct cbx_doc doc;
    CBX_AUTO_JSON root = NULL;
    int failed = cbx_doc_read_json(lockfile->manifest.text, arena, &doc, err);
    if (failed) {
        return failed;
    }
    const struct cbx_doc_node *version = cbx_doc_get(doc.root, "lockfileVersion");
    if (cbx_doc_get(doc.root, "packages") == NULL || version == NULL ||
        (!cbx_str_is(version->text, "2") && !cbx_str_is(version->text, "3"))) {
        return cbx_fail(err, CBX_EINVAL,
                        "lockfileVersion is '%.*s', allowed are 2 and 3 ('npm install "
                        "--package-lock-only' renews the file)",
                        CBX_STR_SHOWN(version != NULL ? version->text : CBX_STR("missing")));
    }
    struct reading r = { .lockfile = lockfile, .err = err };
    failed = cbx_doc_each(&doc, "packages.*", check_package, &r, err);
    if (failed) {
        return failed;
    }
    if (r.count == 0) {
        return 0;
    }
    failed = cbx_json_parse(lockfile->manifest.text, CBX_REPORT_BYTES_MAX, &root, err);
    if (failed) {
        return failed;
    }
    return write_without_addresses(root, out, err);
}
