/* SPDX-License-Identifier: MIT
 * Reads packages and commands in the tables of pyproject.toml and Pipfile. */
#include "analyzer/manifest/python_words.h"

#include "policies/versions/version.h"

static int fail_form(const struct cbx_python_words *w, const struct cbx_doc_node *node,
                     const char *allowed)
{
    char what[160];
    snprintf(what, sizeof(what), "%s stands here, allowed is %s", cbx_doc_kind_name(node->kind),
             allowed);
    return cbx_doc_fail(w->doc, node, what, w->err);
}

/* Adds a word from the key of its entry, or from the text alone, to the end of the text. */
static int add_word(struct cbx_python_words *w, enum cbx_spec_kind kind, struct cbx_str text,
                    const struct cbx_doc_node *node)
{
    struct cbx_manifest_word word = { .kind = kind,
                                      .text = text,
                                      .start = node->key.p != NULL ? node->key_start : node->start,
                                      .end = node->end };
    if (text.p == NULL) {
        return cbx_fail(w->err, CBX_ETOOBIG, "out of the analysis's memory");
    }
    return cbx_manifest_add_word(w->out, w->arena, &word, w->err);
}

/* --- requirements ----------------------------------------------------------------------------- */

static bool is_own(const struct cbx_python_words *w, struct cbx_str requirement)
{
    struct cbx_spec spec;
    cbx_spec_read(CBX_SPEC_PIP, requirement, &spec);
    return w->own.len > 0 && !spec.malformed && spec.origin == CBX_FROM_INDEX &&
           cbx_package_same(spec.name, w->own);
}

int cbx_python_read_pep508(void *context, const struct cbx_doc_node *node)
{
    struct cbx_python_words *w = context;
    if (node->kind != CBX_DOC_TEXT) {
        return fail_form(w, node, "a requirement");
    }
    /* pdm: "-e file:///${PROJECT_ROOT}/x"; hatch: "x @ {root:uri}/x": folders of the project */
    bool editable = cbx_str_starts(node->text, CBX_STR("-e "));
    bool root = node->text.len > 0 && (memmem(node->text.p, node->text.len, "{root:", 6) != NULL ||
                                       memmem(node->text.p, node->text.len, "${PROJECT_ROOT}", 15));
    bool path = editable && memmem(node->text.p, node->text.len, "file:", 5) != NULL;
    if (path || root || is_own(w, node->text)) {
        return 0;
    }
    struct cbx_str text = editable ? cbx_str_sub(node->text, 3, node->text.len) : node->text;
    return add_word(w, CBX_SPEC_PIP, text, node);
}

int cbx_python_read_group(void *context, const struct cbx_doc_node *node)
{
    struct cbx_python_words *w = context;
    if (cbx_doc_get(node, "include-group") != NULL) {
        return 0;
    }
    if (node->kind == CBX_DOC_TEXT) {
        return cbx_python_read_pep508(w, node);
    }
    return fail_form(w, node, "a requirement or {include-group = NAME}");
}

/* --- tables ----------------------------------------------------------------------------------- */

/* Makes "name @ ADDRESS" from a table with an address; a repository of git counts as version
 * control whatever its scheme is. */
static int add_address(struct cbx_python_words *w, struct cbx_str name, const char *scheme,
                       struct cbx_str address, const struct cbx_doc_node *node)
{
    bool has = cbx_str_starts(address, cbx_str_of(scheme));
    return add_word(
        w, CBX_SPEC_PIP,
        CBX_JOIN(w->arena, name, CBX_STR(" @ "), has ? CBX_STR("") : cbx_str_of(scheme), address),
        node);
}

static int read_source(struct cbx_python_words *w, struct cbx_str name,
                       const struct cbx_doc_node *table, const struct cbx_doc_node *place,
                       bool *found)
{
    static const struct {
        const char *key, *scheme;
    } addresses[] = { { "git", "git+" }, { "hg", "hg+" }, { "svn", "svn+" },
                      { "bzr", "bzr+" }, { "url", "" },   { "file", "" } };
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        const struct cbx_doc_node *entry = cbx_doc_get(table, addresses[i].key);
        if (entry == NULL) {
            continue;
        }
        *found = true;
        if (entry->kind != CBX_DOC_TEXT) {
            return fail_form(w, entry, "an address");
        }
        bool path = i == 5 && memmem(entry->text.p, entry->text.len, "://", 3) == NULL;
        return path ? 0 : add_address(w, name, addresses[i].scheme, entry->text, place);
    }
    return 0;
}

static bool is_of_project(const struct cbx_doc_node *table)
{
    return cbx_doc_get(table, "path") != NULL || cbx_doc_get(table, "workspace") != NULL;
}

static int add_constraint(struct cbx_python_words *w, struct cbx_str name,
                          struct cbx_str constraint, const struct cbx_doc_node *node)
{
    bool any = constraint.len == 0 || cbx_str_is(constraint, "*");
    return add_word(w, CBX_SPEC_PROJECT,
                    any ? name : CBX_JOIN(w->arena, name, CBX_STR("@"), constraint), node);
}

/* Reads the constraint of one package: a text, or a table. */
static int read_one(struct cbx_python_words *w, struct cbx_str name,
                    const struct cbx_doc_node *node, const struct cbx_doc_node *place)
{
    bool found = false;
    if (node->kind == CBX_DOC_TEXT) {
        return add_constraint(w, name, node->text, place);
    }
    if (node->kind != CBX_DOC_MAP) {
        return fail_form(w, node, "a constraint or a table");
    }
    if (is_of_project(node)) {
        return 0;
    }
    int failed = read_source(w, name, node, place, &found);
    if (failed || found) {
        return failed;
    }
    return add_constraint(w, name, cbx_doc_text(node, "version"), place);
}

int cbx_python_read_poetry(void *context, const struct cbx_doc_node *node)
{
    struct cbx_python_words *w = context;
    if (cbx_str_is(node->key, "python")) {
        return 0;
    }
    if (node->kind != CBX_DOC_LIST) {
        return read_one(w, node->key, node, node);
    }
    int failed = 0;
    for (const struct cbx_doc_node *one = node->first; one != NULL && !failed; one = one->next) {
        failed = read_one(w, node->key, one, node);
    }
    return failed;
}

int cbx_python_read_uv_source(void *context, const struct cbx_doc_node *node)
{
    struct cbx_python_words *w = context;
    const struct cbx_doc_node *one = node->kind == CBX_DOC_LIST ? node->first : node;
    bool found = false;
    for (; one != NULL; one = node->kind == CBX_DOC_LIST ? one->next : NULL) {
        if (one->kind != CBX_DOC_MAP) {
            return fail_form(w, one, "a table");
        }
        int failed = read_source(w, node->key, one, node, &found);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

/* --- indexes ---------------------------------------------------------------------------------- */

int cbx_python_read_index(void *context, const struct cbx_doc_node *node)
{
    struct cbx_python_words *w = context;
    if (node->kind != CBX_DOC_TEXT) {
        return fail_form(w, node, "the URL of an index");
    }
    struct cbx_manifest_word word = { .role = CBX_WORD_INDEX,
                                      .kind = CBX_SPEC_PIP,
                                      .text = node->text,
                                      .start = node->start,
                                      .end = node->end };
    return cbx_manifest_add_word(w->out, w->arena, &word, w->err);
}

int cbx_python_read_indexes(void *context, const struct cbx_doc_node *node)
{
    if (node->kind != CBX_DOC_LIST) {
        return cbx_python_read_index(context, node);
    }
    int failed = 0;
    for (const struct cbx_doc_node *one = node->first; one != NULL && !failed; one = one->next) {
        failed = cbx_python_read_index(context, one);
    }
    return failed;
}

/* --- commands --------------------------------------------------------------------------------- */

static int add_command(struct cbx_python_words *w, const struct cbx_doc_node *text)
{
    CBX_AUTO_DONE(piece_maker) maker;
    cbx_piece_maker_init(&maker, w->arena, w->doc->file);
    cbx_doc_take(&maker, text);
    return cbx_piece_maker_end(&maker, "shell", w->out, w->err);
}

/* Reads the words of a table whose text is a command; other tables name functions of Python, or
 * other scripts. */
static int read_script_table(struct cbx_python_words *w, const struct cbx_doc_node *table)
{
    static const char *const keys[] = { "shell", "cmd", "chain", "composite", "sequence" };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct cbx_doc_node *entry = cbx_doc_get(table, keys[i]);
        int failed = 0;
        if (entry == NULL) {
            continue;
        }
        if (entry->kind == CBX_DOC_TEXT) {
            failed = add_command(w, entry);
        }
        for (const struct cbx_doc_node *one = entry->first; one != NULL && !failed;
             one = one->next) {
            failed = one->kind == CBX_DOC_TEXT && i >= 2 ? add_command(w, one) : 0;
        }
        if (failed) {
            return failed;
        }
    }
    return 0;
}

int cbx_python_read_script(void *context, const struct cbx_doc_node *node)
{
    struct cbx_python_words *w = context;
    if (node->kind == CBX_DOC_TEXT) {
        return add_command(w, node);
    }
    if (node->kind == CBX_DOC_MAP) {
        return read_script_table(w, node);
    }
    int failed = 0;
    for (const struct cbx_doc_node *one = node->first; one != NULL && !failed; one = one->next) {
        if (one->kind == CBX_DOC_TEXT) {
            failed = add_command(w, one);
        } else if (one->kind == CBX_DOC_MAP) {
            failed = read_script_table(w, one);
        }
    }
    return failed;
}
