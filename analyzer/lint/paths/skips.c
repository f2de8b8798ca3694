/* SPDX-License-Identifier: MIT
 * Counts what is skipped. */
#include "analyzer/lint/paths/skips.h"

#include "policies/base/text/printable.h"

static const struct row {
    const char *word, *one, *many;
    bool chosen;
} rows[CBX_LINT_SKIPS] = {
#define CBX_SKIP(id, word, one, many, chosen) { word, one, many, chosen },
#include "analyzer/lint/paths/skips.def"
#undef CBX_SKIP
};

/* Returns true if a comes before b. */
static bool comes_before(const struct cbx_lint_skip_name *a, const struct cbx_lint_skip_name *b)
{
    return a->rank != b->rank ? a->rank > b->rank : cbx_str_compare(a->path, b->path) < 0;
}

/* Inserts the name in its order if it is among the first. */
static void keep_name(struct cbx_lint_skipped *skipped, const struct cbx_lint_skip_name *name,
                      struct cbx_arena *arena)
{
    size_t at = 0;
    while (at < skipped->name_count && !comes_before(name, &skipped->names[at])) {
        at++;
    }
    if (at == CBX_LINT_SKIP_NAMES) {
        return;
    }
    skipped->name_count += skipped->name_count < CBX_LINT_SKIP_NAMES;
    for (size_t i = skipped->name_count - 1; i > at; i--) {
        skipped->names[i] = skipped->names[i - 1];
    }
    skipped->names[at] =
        (struct cbx_lint_skip_name){ .rank = name->rank,
                                     .path = cbx_arena_copy(arena, name->path),
                                     .foreign = cbx_arena_copy(arena, name->foreign) };
}

void cbx_lint_skips_add(struct cbx_lint_skips *skips, enum cbx_lint_skip reason,
                        const struct cbx_lint_skip_name *name, bool counted,
                        struct cbx_arena *arena)
{
    struct cbx_lint_skipped *skipped = &skips->reasons[reason];
    skipped->count += counted;
    skipped->code += name->rank == CBX_LINT_RANK_CODE;
    keep_name(skipped, name, arena);
}

const char *cbx_lint_skip_word(enum cbx_lint_skip reason)
{
    return rows[reason].word;
}

size_t cbx_lint_skips_take(struct cbx_lint_skips *skips, const json_t *skipped,
                           struct cbx_arena *arena)
{
    size_t i, files = 0;
    const json_t *one;
    json_array_foreach(skipped, i, one)
    {
        struct cbx_str word = cbx_json_str(json_object_get(one, "reason"));
        const struct cbx_lint_skip_name name = {
            .rank = CBX_LINT_RANK_CODE,
            .path = cbx_json_str(json_object_get(one, "path")),
            .foreign = cbx_json_str(json_object_get(one, "language")),
        };
        for (size_t reason = 0; reason < CBX_LINT_SKIPS; reason++) {
            if (cbx_str_is(word, rows[reason].word)) {
                cbx_lint_skips_add(skips, (enum cbx_lint_skip)reason, &name, true, arena);
                files += reason == CBX_LINT_SKIP_FOREIGN;
            }
        }
    }
    return files;
}

size_t cbx_lint_skips_code(const struct cbx_lint_skips *skips)
{
    size_t code = 0;
    for (size_t i = 0; i < CBX_LINT_SKIPS; i++) {
        code += rows[i].chosen ? 0 : skips->reasons[i].code;
    }
    return code;
}

static size_t count_all(const struct cbx_lint_skips *skips)
{
    size_t count = 0;
    for (size_t i = 0; i < CBX_LINT_SKIPS; i++) {
        count += skips->reasons[i].count;
    }
    return count;
}

/* Appends the important names, in parentheses. */
static void add_names(const struct cbx_lint_skipped *skipped, struct cbx_buf *out)
{
    size_t shown = 0;
    while (shown < skipped->name_count && skipped->names[shown].rank != CBX_LINT_RANK_OTHER) {
        const struct cbx_lint_skip_name *name = &skipped->names[shown];
        cbx_buf_add_cstr(out, shown == 0 ? " (" : ", ");
        cbx_printable_add(out, name->path, CBX_PRINTABLE_LINE);
        cbx_buf_add_cstr(out, name->foreign.len > 0 ? ": " : "");
        cbx_printable_add(out, name->foreign, CBX_PRINTABLE_LINE);
        shown++;
    }
    if (shown > 0) {
        bool more = shown == CBX_LINT_SKIP_NAMES && skipped->count > shown;
        cbx_buf_add_cstr(out, more ? ", ...)" : ")");
    }
}

void cbx_lint_skips_text(const struct cbx_lint_skips *skips, struct cbx_buf *out)
{
    size_t all = count_all(skips);
    const char *between = ": ";
    if (all > 0) {
        cbx_buf_printf(out, "; %zu skipped", all);
    }
    for (size_t i = 0; i < CBX_LINT_SKIPS; i++) {
        size_t count = skips->reasons[i].count;
        if (count > 0) {
            const char *text = count == 1 ? rows[i].one : rows[i].many;
            cbx_buf_printf(out, "%s%zu %s", between, count, text);
            add_names(&skips->reasons[i], out);
            between = ", ";
        }
    }
}

static json_t *reason_json(const struct row *row, const struct cbx_lint_skipped *skipped)
{
    json_t *names = json_array();
    for (size_t i = 0; i < skipped->name_count; i++) {
        json_t *name = json_pack("{s:o}", "path", cbx_json_text(skipped->names[i].path));
        if (skipped->names[i].foreign.len > 0) {
            json_object_set_new(name, "language", cbx_json_text(skipped->names[i].foreign));
        }
        json_array_append_new(names, name);
    }
    return json_pack("{s:s,s:I,s:I,s:o}", "reason", row->word, "count", (json_int_t)skipped->count,
                     "code", (json_int_t)skipped->code, "names", names);
}

json_t *cbx_lint_skips_json(const struct cbx_lint_skips *skips)
{
    json_t *reasons = json_array();
    for (size_t i = 0; i < CBX_LINT_SKIPS; i++) {
        if (skips->reasons[i].count > 0) {
            json_array_append_new(reasons, reason_json(&rows[i], &skips->reasons[i]));
        }
    }
    return json_pack("{s:I,s:I,s:o}", "count", (json_int_t)count_all(skips), "code",
                     (json_int_t)cbx_lint_skips_code(skips), "reasons", reasons);
}
