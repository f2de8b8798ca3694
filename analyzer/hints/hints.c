/* SPDX-License-Identifier: MIT
 * Chooses hints. The order for a finding: computed replacements, rows of the table, the rule's own
 * hint. */
#include "analyzer/hints/hints_internal.h"

#include "analyzer/downloads.h"
#include "analyzer/syntax/syntax_error.h"
#include "policies/language.h"
#include "policies/load/index.h"

enum {
    HINTED_MAX = 16, /* findings that get a hint; the text of a denial has room for fewer */
    TRIED_MAX = 256, /* calls that are considered for a finding */
};

static const struct cbx_hint_row rows[] = {
#define CBX_HINT(language, symbol, hint, example) { CBX_##language, symbol, hint, example },
#include "analyzer/hints/hints.def"
};

bool cbx_hints_row(size_t index, struct cbx_hint_row *out)
{
    if (index >= sizeof(rows) / sizeof(rows[0])) {
        return false;
    }
    *out = rows[index];
    return true;
}

static void add_row(const struct cbx_hints *h, const struct cbx_finding *f,
                    const struct cbx_hint_row *row, struct cbx_buf *out)
{
    struct cbx_str hint = cbx_str_of(row->hint);
    if (memmem(out->p, out->len, hint.p, hint.len) != NULL ||
        (row->example[0] != '\0' &&
         !cbx_hints_allow(h, cbx_str_of(cbx_language_name(row->language)),
                          cbx_str_of(row->example)))) {
        return;
    }
    cbx_buf_add_cstr(out, out->len > 0 ? "; " : "");
    for (size_t i = 0; i < hint.len; i++) {
        if (cbx_str_starts(cbx_str_sub(hint, i, hint.len), CBX_STR("{line}"))) {
            cbx_buf_printf(out, "%u", f->span.line);
            i += sizeof("{line}") - 2;
        } else {
            cbx_buf_add_char(out, hint.p[i]);
        }
    }
}

static const struct cbx_hint_row *find_row(enum cbx_language language, struct cbx_str symbol)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if ((cbx_language_likes(rows[i].language) >> language & 1) != 0 &&
            cbx_str_glob(cbx_str_of(rows[i].symbol), symbol)) {
            return &rows[i];
        }
    }
    return NULL;
}

/* Returns the language of the fact that a finding was made from: a notebook may have a line of
 * shell. */
static enum cbx_language language_of(const struct cbx_hints *h, const struct cbx_finding *f)
{
    for (size_t i = 0; i < h->facts->count; i++) {
        const struct cbx_fact *fact = &h->facts->items[i];
        if (fact->start == f->span.start_byte && cbx_str_equal(fact->name, f->symbol)) {
            return fact->language;
        }
    }
    return h->facts->source;
}

/* Returns true if each call of an imported module has a row: rows that name another module are
 * wrong for calls that have none. */
static bool have_rows(const struct cbx_hints *h, enum cbx_language language, struct cbx_str module)
{
    int tried = 0;
    for (size_t i = 0; i < h->facts->count && tried < TRIED_MAX; i++) {
        const struct cbx_fact *fact = &h->facts->items[i];
        bool within = fact->kind == CBX_IS_CALL && cbx_name_is_within(fact->name, module);
        tried += within;
        if (within && find_row(language, fact->name) == NULL) {
            return false;
        }
    }
    return true;
}

/* Finds rows for what is used of an imported module, else for the symbol itself. */
static void add_rows(const struct cbx_hints *h, const struct cbx_finding *f, struct cbx_buf *out)
{
    enum cbx_language language = language_of(h, f);
    const struct cbx_hint_row *own = find_row(language, f->symbol);
    int used = 0, tried = 0;
    bool covered = have_rows(h, language, f->symbol);
    for (size_t i = 0;
         covered && i < h->facts->count && used < CBX_HINT_CALLS_MAX && tried < TRIED_MAX; i++) {
        const struct cbx_fact *fact = &h->facts->items[i];
        bool within = fact->kind == CBX_IS_CALL && cbx_name_is_within(fact->name, f->symbol);
        tried += within;
        const struct cbx_hint_row *row = within ? find_row(language, fact->name) : NULL;
        if (row != NULL && row != own) {
            add_row(h, f, row, out);
            used++;
        }
    }
    if (own != NULL && out->len == 0) {
        add_row(h, f, own, out);
    }
}

/* Returns true if the rule, and so its hint, is unchanged from a preset. */
static bool is_of_a_preset(const struct cbx_rule *rule)
{
    size_t count;
    const struct cbx_preset *presets = cbx_preset_list(&count);
    for (size_t i = 0; i < count; i++) {
        if (cbx_str_is(rule->origin, presets[i].name)) {
            return true;
        }
    }
    return false;
}

/* Returns true for code that a build downloads and runs (analyzer/build.h). */
static bool is_download_of_build(const struct cbx_hints *h, const struct cbx_finding *f)
{
    bool runs = cbx_str_is(f->symbol, "code") || cbx_str_is(f->symbol, CBX_DOWNLOADS_RUN);
    return h->request->build != CBX_BUILD_NONE && runs && language_of(h, f) == CBX_SHELL;
}

static struct cbx_str choose(const struct cbx_hints *h, const struct cbx_finding *f)
{
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 4 * CBX_HINT_BYTES);
    if (h->syntax_name.len > 0 && f->symbol.p == h->syntax_name.p) {
        return h->syntax_hint;
    }
    if (cbx_str_is(h->syntax_name, CBX_SYNTAX_LANGUAGE)) {
        return CBX_STR(""); /* the code was read as another language */
    }
    if (!is_of_a_preset(f->rule)) {
        cbx_buf_add(&out, cbx_hints_allowed(h, f->rule->hint));
    }
    if (out.len == 0 && is_download_of_build(h, f)) {
        return CBX_STR("download to a file, compare its hash or its signature in the same step "
                       "(sha256sum, gpg), and run the file then");
    }
    bool own = out.len > 0; /* the author of a policy knows more than the table */
    cbx_hints_replace(h, f, &out);
    if (out.len == 0 && !own) {
        add_rows(h, f, &out);
    }
    return out.len > 0 && out.len <= CBX_HINT_BYTES ? cbx_arena_copy(h->arena, cbx_buf_str(&out))
                                                    : cbx_hints_allowed(h, f->rule->hint);
}

/* Returns true if another rule's finding has this hint, or the same first clause. */
static bool is_given(const struct cbx_finding *findings, size_t index)
{
    struct cbx_str hint = findings[index].hint;
    struct cbx_str clause = cbx_str_sub(hint, 0, cbx_hints_clause_end(hint, 0));
    for (size_t i = 0; i < index; i++) {
        struct cbx_str other = findings[i].hint;
        if (findings[i].rule != findings[index].rule && clause.len > 0 && other.len > 0 &&
            memmem(other.p, other.len, clause.p, clause.len) != NULL) {
            return true;
        }
    }
    return false;
}

void cbx_hints_choose(const struct cbx_hints *h, struct cbx_finding *findings, size_t count)
{
    int hinted = 0;
    for (size_t i = 0; i < count && hinted < HINTED_MAX; i++) {
        if (findings[i].effect < CBX_EFFECT_WARN) {
            findings[i].hint = choose(h, &findings[i]);
            hinted++;
            if (is_given(findings, i)) {
                findings[i].hint = CBX_STR("");
            }
        }
    }
}
