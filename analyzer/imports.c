/* SPDX-License-Identifier: MIT
 * Matches all names that could be denied like the imports of one source. */
#include "analyzer/imports.h"

#include "analyzer/facts/facts.h"
#include "analyzer/facts/sinks.h"
#include "analyzer/rules.h"
#include "policies/base/arena.h"
#include "policies/base/sort.h"
#include "policies/guard/guard.h"

#include <string.h>

enum { ARENA_BYTES = 8 * 1024 * 1024, NAMES_MAX = 16384 };

struct name {
    struct cbx_str text;
    char mark; /* 0 = not denied */
};

struct names {
    struct cbx_arena *arena;
    struct name *items;
    size_t count;
    bool failed; /* too many */
};

static bool is_plain(struct cbx_str text)
{
    bool plain = text.len > 0 && text.len <= 255;
    for (size_t i = 0; i < text.len && plain; i++) {
        char c = text.p[i];
        plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                c == '_' || c == '.' || (unsigned char)c >= 0x80;
    }
    return plain;
}

static void add(struct names *names, struct cbx_str text)
{
    if (!is_plain(text)) {
        return;
    }
    names->failed |= names->count == NAMES_MAX;
    if (!names->failed) {
        names->items[names->count++] = (struct name){ .text = text };
    }
}

/* "google.cloud.*" is google.cloud. */
static struct cbx_str plain_part(struct cbx_str pattern)
{
    size_t from = pattern.len > 0 && pattern.p[0] == '!', to = from;
    while (to < pattern.len && strchr("*?[{", pattern.p[to]) == NULL) {
        to++;
    }
    if (to < pattern.len) {
        to = to > from && pattern.p[to - 1] == '.' ? to - 1 : from;
    }
    return cbx_str_sub(pattern, from, to);
}

static int compare_names(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    return cbx_str_compare(x->text, y->text);
}

/* Collects every module of the table of names, and every one that a rule names; each once, in
 * order. */
static int collect(const struct cbx_importer *importer, struct names *names)
{
    struct cbx_str row;
    names->items = cbx_arena_array(names->arena, NAMES_MAX, sizeof(*names->items));
    if (names->items == NULL) {
        return CBX_ETOOBIG;
    }
    for (size_t i = 0; cbx_sinks_name(importer->language, i, &row); i++) {
        add(names, row);
    }
    for (size_t r = 0; r < importer->policy->rule_count; r++) {
        const struct cbx_strs *list = &importer->policy->rules[r].match.import;
        for (size_t i = 0; i < list->count; i++) {
            add(names, plain_part(list->items[i]));
        }
    }
    if (names->failed || !cbx_sort_in(names->arena, names->items, names->count,
                                      sizeof(*names->items), compare_names)) {
        return CBX_ETOOBIG;
    }
    size_t kept = 0;
    for (size_t i = 0; i < names->count; i++) {
        if (kept == 0 || !cbx_str_equal(names->items[kept - 1].text, names->items[i].text)) {
            names->items[kept++] = names->items[i];
        }
    }
    names->count = kept;
    return 0;
}

static bool denies(const struct cbx_importer *importer, const struct cbx_rule *rule)
{
    return rule->effect == CBX_EFFECT_DENY &&
           cbx_policy_exception(importer->policy, rule->id, importer->principal, importer->now) ==
               NULL;
}

/* Matches the names as if a source imported them; the place of each is its number. */
static int match(const struct cbx_importer *importer, const struct names *names,
                 struct cbx_hits *hits)
{
    struct cbx_facts facts = { .arena = names->arena,
                               .language = importer->language,
                               .source = importer->language };
    for (size_t i = 0; i < names->count; i++) {
        struct cbx_fact *fact = cbx_facts_add(&facts, CBX_IS_IMPORT, names->items[i].text,
                                              (uint32_t)i, (uint32_t)i + 1);
        if (fact == NULL) {
            return CBX_ETOOBIG;
        }
    }
    const struct cbx_evidence evidence = { .facts = &facts };
    int failed = cbx_rules_match(importer->policy, &evidence, names->arena, hits);
    if (failed) {
        return failed;
    }
    return hits->truncated ? CBX_ETOOBIG : 0;
}

static bool is_asked(const struct cbx_importer *importer)
{
    const struct cbx_str id = cbx_str_of(cbx_refusal_row(CBX_REFUSE_IMPORT)->id);
    return importer->policy->guard.of[CBX_REFUSE_IMPORT] == CBX_GUARD_REFUSE &&
           cbx_policy_exception(importer->policy, id, importer->principal, importer->now) == NULL;
}

/* Collects the modules that the other rows of the guard can refuse in this language. */
static uint64_t capabilities_of_guard(enum cbx_language language)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < CBX_REFUSALS; i++) {
        const struct cbx_refusal_row *row = cbx_refusal_row((enum cbx_refusal)i);
        bool counts = !row->any && !row->always && (row->languages >> language & 1) != 0;
        all |= counts ? row->capabilities : 0;
    }
    return all;
}

static int mark(const struct cbx_importer *importer, struct names *names)
{
    struct cbx_hits hits;
    bool asked = is_asked(importer);
    uint64_t guarded = asked ? capabilities_of_guard(importer->language) : 0;
    int failed = match(importer, names, &hits);
    for (size_t i = 0; i < hits.count && !failed; i++) {
        if (denies(importer, hits.items[i].rule)) {
            names->items[hits.items[i].start].mark = asked ? CBX_IMPORT_REFUSED : CBX_IMPORT_DENIED;
        }
    }
    for (size_t i = 0; i < names->count && !failed && guarded != 0; i++) {
        struct name *name = &names->items[i];
        if ((cbx_sinks_of_module(importer->language, name->text) & guarded) != 0) {
            name->mark = CBX_IMPORT_REFUSED;
        }
    }
    return failed;
}

/* Returns true if the name is within `around`, by its dots. */
static bool is_in(struct cbx_str name, struct cbx_str around)
{
    return name.len > around.len && name.p[around.len] == '.' && cbx_str_starts(name, around);
}

/* Returns the mark inherited from the nearest preceding prefix: a shorter name that covers this
 * one stands somewhere before it. */
static char mark_around(const struct names *names, size_t at)
{
    for (size_t i = at; i-- > 0;) {
        if (is_in(names->items[at].text, names->items[i].text)) {
            return names->items[i].mark;
        }
        if (names->items[i].text.p[0] != names->items[at].text.p[0]) {
            break;
        }
    }
    return 0;
}

int cbx_imports_list(const struct cbx_importer *importer, struct cbx_buf *out, struct cbx_err *err)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, ARENA_BYTES);
    struct names names = { .arena = &arena };
    int failed = collect(importer, &names);
    if (!failed) {
        failed = mark(importer, &names);
    }
    for (size_t i = 0; i < names.count && !failed; i++) {
        const struct name *name = &names.items[i];
        if (name->mark != mark_around(&names, i)) {
            cbx_buf_add_char(out, name->mark != 0 ? name->mark : CBX_IMPORT_PASSED);
            cbx_buf_add(out, name->text);
            cbx_buf_add_char(out, '\0');
        }
    }
    if (failed || out->overflow) {
        return cbx_fail(err, CBX_ETOOBIG,
                        "the modules that the policy denies need more than %zu bytes",
                        out->max_bytes);
    }
    return 0;
}

const struct cbx_rule *cbx_imports_rule(const struct cbx_importer *importer, struct cbx_str module)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, ARENA_BYTES);
    struct name one = { .text = module };
    const struct names names = { .arena = &arena, .items = &one, .count = 1 };
    struct cbx_hits hits = { 0 };
    int failed = match(importer, &names, &hits);
    for (size_t i = 0; i < hits.count && !failed; i++) {
        if (denies(importer, hits.items[i].rule)) {
            return hits.items[i].rule;
        }
    }
    return NULL;
}
