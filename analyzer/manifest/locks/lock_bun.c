/* SPDX-License-Identifier: MIT
 * Reads bun.lock: JSON with comments and trailing commas. An entry of "packages" is a list whose
 * first item is "name@version" or "name@source", and whose second one, of a package from a
 * registry, is the registry's address; it is empty for the usual one. */
#include "analyzer/manifest/locks/locked.h"
#include "analyzer/manifest/readers.h"

static int read_package(void *context, const struct cbx_doc_node *entry)
{
    struct cbx_locking *l = context;
    const struct cbx_doc_node *first = entry->kind == CBX_DOC_LIST ? entry->first : NULL;
    if (first == NULL || first->kind != CBX_DOC_TEXT) {
        return cbx_doc_fail(l->doc, entry, "a package that is no list with its name", l->err);
    }
    struct cbx_locked_text name = cbx_locked_value(first), none = name;
    const char *at = name.text.len > 1 ? memchr(name.text.p + 1, '@', name.text.len - 1) : NULL;
    if (at == NULL) {
        return cbx_doc_fail(l->doc, first, "a package without a version", l->err);
    }
    struct cbx_str source = cbx_str_sub(name.text, (size_t)(at - name.text.p) + 1, name.text.len);
    name.text = cbx_str_sub(name.text, 0, (size_t)(at - name.text.p));
    none.text = CBX_STR("");
    if (cbx_str_starts(source, CBX_STR("root:"))) {
        return 0;
    }
    if (cbx_str_starts(source, CBX_STR("github:"))) {
        return cbx_locked_add_direct(l, name, source);
    }
    bool registry = first->next != NULL && first->next->kind == CBX_DOC_TEXT;
    return cbx_locked_add_npm(l, name, source, registry ? cbx_locked_value(first->next) : none);
}

int cbx_manifest_read_bun_lock(struct cbx_str text, struct cbx_arena *arena,
                               struct cbx_manifest *out, struct cbx_err *err)
{
    struct cbx_doc doc;
    *out = (struct cbx_manifest){ .text = text };
    int failed = cbx_doc_read_jsonc(text, arena, &doc, err);
    if (failed) {
        return failed;
    }
    if (doc.root->kind != CBX_DOC_MAP) {
        return cbx_fail(err, CBX_EINVAL, "it is no JSON object");
    }
    struct cbx_locking l = {
        .doc = &doc, .arena = arena, .out = out, .err = err, .kind = CBX_SPEC_NPM
    };
    return cbx_doc_each(&doc, "packages.*", read_package, &l, err);
}
