/* SPDX-License-Identifier: MIT
 * Open documents. */
#include "analyzer/lint/lsp/lsp_store.h"

#include "analyzer/lint/files/kind.h"
#include "policies/base/list.h"
#include "policies/base/memory.h"

#include <ctype.h>
#include <stdlib.h>

struct cbx_lsp_document *cbx_lsp_store_find(const struct cbx_lsp_store *store, struct cbx_str uri)
{
    struct cbx_lsp_document *d = store->first;
    while (d != NULL && !cbx_str_is(uri, d->uri)) {
        d = d->next;
    }
    return d;
}

static int hex_digit(char c)
{
    if (isdigit((unsigned char)c)) {
        return c - '0';
    }
    return isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

/* The path of a file: URI; any other URI as it is, for its ending. */
static char *path_of(struct cbx_str uri)
{
    CBX_AUTO_DONE(buf) path;
    cbx_buf_init(&path, CBX_LSP_TEXT_MAX);
    bool file = cbx_str_starts(uri, CBX_STR("file://"));
    struct cbx_str rest = file ? cbx_str_sub(uri, 7, uri.len) : uri;
    for (size_t i = 0; i < rest.len; i++) {
        int high = rest.p[i] == '%' && i + 2 < rest.len ? hex_digit(rest.p[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(rest.p[i + 2]) : -1;
        char c = low >= 0 ? (char)(high * 16 + low) : rest.p[i];
        i += low >= 0 ? 2 : 0;
        cbx_buf_add_char(&path, c != '\0' ? c : '?');
    }
    return cbx_buf_take(&path);
}

/* The language by the name of the file, else by the editor's word for it. */
static const char *language_of(const char *path, struct cbx_str language_id)
{
    static const struct {
        const char *id, *language;
    } ids[] = { { "shellscript", "shell" },
                { "javascriptreact", "javascript" },
                { "typescriptreact", "typescript" } };
    struct cbx_lint_kind kind;
    cbx_lint_kind_of_name(path, &kind);
    if (kind.language != NULL || kind.foreign.len > 0) {
        return kind.language;
    }
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        if (cbx_str_is(language_id, ids[i].id)) {
            return ids[i].language;
        }
    }
    const struct cbx_lang *lang = cbx_lang_find(language_id);
    return lang != NULL ? lang->name : NULL;
}

void cbx_lsp_store_touch(struct cbx_lsp_document *d)
{
    if (cbx_lsp_judge_runs(&d->judge)) {
        cbx_lsp_judge_stop(&d->judge);
    }
    json_decref(d->findings);
    d->findings = NULL;
    d->changed = true;
}

static void free_document(struct cbx_lsp_document *d)
{
    cbx_lsp_store_touch(d);
    cbx_buf_done(&d->text);
    free(d->uri);
    free(d->path);
    free(d);
}

void cbx_lsp_store_close(struct cbx_lsp_store *store, struct cbx_lsp_document *document)
{
    if (CBX_LIST_REMOVE(store->first, document, next)) {
        store->count--;
        free_document(document);
    }
}

void cbx_lsp_store_done(struct cbx_lsp_store *store)
{
    while (store->first != NULL) {
        cbx_lsp_store_close(store, store->first);
    }
}

struct cbx_lsp_document *cbx_lsp_store_open(struct cbx_lsp_store *store, struct cbx_str uri,
                                            struct cbx_str language_id, json_int_t version,
                                            struct cbx_str text, struct cbx_err *err)
{
    struct cbx_lsp_document *old = cbx_lsp_store_find(store, uri);
    if (old != NULL) {
        cbx_lsp_store_close(store, old);
    }
    if (store->count == CBX_LSP_DOCUMENTS_MAX) {
        cbx_fail(err, CBX_ETOOBIG, "more open documents than are kept, allowed are %d",
                 CBX_LSP_DOCUMENTS_MAX);
        return NULL;
    }
    struct cbx_lsp_document *d = cbx_new(sizeof(*d));
    d->uri = strndup(cbx_str_bytes(uri), uri.len);
    d->path = path_of(uri);
    d->language = language_of(d->path, language_id);
    d->version = version;
    cbx_buf_init(&d->text, CBX_LSP_TEXT_MAX);
    if (cbx_buf_add(&d->text, text) != 0) {
        cbx_fail(err, CBX_ETOOBIG, "a document of more than %d bytes", CBX_LSP_TEXT_MAX);
        free_document(d);
        return NULL;
    }
    d->changed = true;
    d->next = store->first;
    store->first = d;
    store->count++;
    return d;
}

static size_t list_children(const struct cbx_lsp_store *store,
                            struct cbx_lint_child children[CBX_LSP_JUDGEMENTS_MAX])
{
    size_t count = 0;
    for (const struct cbx_lsp_document *d = store->first; d != NULL; d = d->next) {
        if (cbx_lsp_judge_runs(&d->judge) && count < CBX_LSP_JUDGEMENTS_MAX) {
            children[count++] = d->judge.child;
        }
    }
    return count;
}

void cbx_lsp_store_judge(struct cbx_lsp_store *store, const struct cbx_lint_run *how)
{
    for (struct cbx_lsp_document *d = store->first; d != NULL; d = d->next) {
        struct cbx_lint_child children[CBX_LSP_JUDGEMENTS_MAX];
        size_t count = list_children(store, children);
        if (!d->changed || d->lost || d->language == NULL || count == CBX_LSP_JUDGEMENTS_MAX) {
            continue;
        }
        const struct cbx_lint_path path = { .held = true,
                                            .text = cbx_buf_str(&d->text),
                                            .path = cbx_str_of(d->path),
                                            .normal = cbx_str_of(d->path),
                                            .language = d->language };
        d->changed = !cbx_lsp_judge_start(&d->judge, how, &path, children, count);
    }
}
