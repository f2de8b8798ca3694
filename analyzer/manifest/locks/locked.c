/* SPDX-License-Identifier: MIT
 * Packages of lock files. */
#include "analyzer/manifest/locks/locked.h"

struct cbx_locked_text cbx_locked_value(const struct cbx_doc_node *node)
{
    if (node == NULL || node->kind != CBX_DOC_TEXT) {
        return (struct cbx_locked_text){ 0 };
    }
    return (struct cbx_locked_text){ node->text, node->start, node->end };
}

struct cbx_locked_text cbx_locked_key(const struct cbx_doc_node *node)
{
    return (struct cbx_locked_text){ node->key, node->key_start, node->key_end };
}

static int add_word(struct cbx_locking *l, enum cbx_word_role role, struct cbx_str text,
                    const struct cbx_locked_text *place)
{
    struct cbx_manifest_word word = {
        .role = role, .kind = l->kind, .text = text, .start = place->start, .end = place->end
    };
    if (text.p == NULL) {
        return cbx_fail(l->err, CBX_ETOOBIG, "out of the analysis's memory");
    }
    return cbx_manifest_add_word(l->out, l->arena, &word, l->err);
}

static int check_name(struct cbx_locking *l, const struct cbx_locked_text *name)
{
    if (name->text.len > 0) {
        return 0;
    }
    return cbx_manifest_fail(l->out->text, name->start, "a package without a name", l->err);
}

int cbx_locked_add(struct cbx_locking *l, struct cbx_locked_text name, struct cbx_str version)
{
    int failed = check_name(l, &name);
    if (failed) {
        return failed;
    }
    struct cbx_str between = l->kind == CBX_SPEC_NPM ? CBX_STR("@") : CBX_STR("==");
    struct cbx_str text =
        version.len > 0 ? CBX_JOIN(l->arena, name.text, between, version) : name.text;
    return add_word(l, CBX_WORD_LOCKED, text, &name);
}

int cbx_locked_add_direct(struct cbx_locking *l, struct cbx_locked_text name,
                          struct cbx_str address)
{
    int failed = check_name(l, &name);
    if (failed) {
        return failed;
    }
    struct cbx_str between = l->kind == CBX_SPEC_NPM ? CBX_STR("@") : CBX_STR(" @ ");
    return add_word(l, CBX_WORD_LOCKED, CBX_JOIN(l->arena, name.text, between, address), &name);
}

int cbx_locked_add_index(struct cbx_locking *l, struct cbx_locked_text index)
{
    for (size_t i = 0; i < l->index_count; i++) {
        if (cbx_str_equal(l->indexes[i], index.text)) {
            return 0;
        }
    }
    if (index.text.len == 0) {
        return 0;
    }
    if (l->index_count < CBX_LOCKED_INDEXES_MAX) {
        l->indexes[l->index_count++] = index.text;
    }
    return add_word(l, CBX_WORD_INDEX, index.text, &index);
}

/* Returns "https://host:port" of a URL; empty if it is none. */
static struct cbx_str host_of(struct cbx_str url)
{
    const char *mark = url.len > 0 ? memmem(url.p, url.len, "://", 3) : NULL;
    if (mark == NULL) {
        return CBX_STR("");
    }
    size_t end = (size_t)(mark - url.p) + 3;
    while (end < url.len && strchr("/?#\\", url.p[end]) == NULL) {
        end++;
    }
    return cbx_str_sub(url, 0, end);
}

int cbx_locked_add_file(struct cbx_locking *l, struct cbx_locked_text url, struct cbx_str index)
{
    struct cbx_str host = host_of(index);
    if (url.text.len == 0 || (host.len > 0 && cbx_str_equal(host_of(url.text), host))) {
        return 0;
    }
    return add_word(l, CBX_WORD_FILE, url.text, &url);
}

static bool starts_with_any(struct cbx_str text, const char *const *starts)
{
    while (*starts != NULL && !cbx_str_starts(text, cbx_str_of(*starts))) {
        starts++;
    }
    return *starts != NULL;
}

int cbx_locked_add_npm(struct cbx_locking *l, struct cbx_locked_text name, struct cbx_str version,
                       struct cbx_locked_text resolved)
{
    static const char *const own[] = {
        "file:", "link:", "workspace:", "portal:", "./", "../", NULL
    };
    static const char *const remote[] = { "git",        "http:", "https:", "ssh:",
                                          "bitbucket:", "gist:", NULL };
    static const char *const web[] = { "http:", "https:", NULL };
    if (starts_with_any(resolved.text, own) || starts_with_any(version, own)) {
        return 0;
    }
    if (starts_with_any(version, remote)) { /* lockfileVersion 1 */
        return cbx_locked_add_direct(l, name, version);
    }
    if (resolved.text.len > 0 && !starts_with_any(resolved.text, web)) {
        return cbx_locked_add_direct(l, name, resolved.text);
    }
    int failed = cbx_locked_add(l, name, version);
    if (failed) {
        return failed;
    }
    return cbx_locked_add_file(l, resolved, CBX_STR(""));
}
