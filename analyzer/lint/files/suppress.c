/* SPDX-License-Identifier: MIT
 * Suppressions in the source. Comments are found by the grammar, so a string that looks like one
 * does not count. */
#include "analyzer/lint/files/suppress.h"

#include "analyzer/lang/lang.h"
#include "analyzer/lang/python/notebook/notebook.h"
#include "analyzer/parse.h"
#include "analyzer/syntax/tree_memory.h"
#include "policies/base/array.h"

/* --- the words of a comment ------------------------------------------------------------------- */

static bool take_word(struct cbx_str *s, struct cbx_str word)
{
    *s = cbx_str_trim(*s);
    bool there = cbx_str_starts(*s, word);
    *s = cbx_str_sub(*s, there ? word.len : 0, s->len);
    return there;
}

/* "# codebox: allow RULE -- reason": false for any other comment. */
static bool read_words(struct cbx_str text, struct cbx_lint_comment *out)
{
    if ((!take_word(&text, CBX_STR("#")) && !take_word(&text, CBX_STR("//"))) ||
        !take_word(&text, CBX_STR("codebox:")) || !take_word(&text, CBX_STR("allow")) ||
        (text.len > 0 && text.p[0] != ' ' && text.p[0] != '\t')) {
        return false;
    }
    text = cbx_str_trim(text);
    size_t end = 0;
    while (end < text.len && text.p[end] != ' ' && text.p[end] != '\t') {
        end++;
    }
    struct cbx_str rest = cbx_str_sub(text, end, text.len);
    out->rule = cbx_str_sub(text, 0, end);
    out->reason = take_word(&rest, CBX_STR("--")) ? cbx_str_trim(rest) : (struct cbx_str){ 0 };
    return true;
}

/* --- finding them ----------------------------------------------------------------------------- */

static bool is_alone(struct cbx_str text, uint32_t start)
{
    while (start > 0 && (text.p[start - 1] == ' ' || text.p[start - 1] == '\t')) {
        start--;
    }
    return start == 0 || text.p[start - 1] == '\n';
}

static uint32_t chars_before(struct cbx_str text, uint32_t byte)
{
    uint32_t chars = 0;
    for (uint32_t i = byte; i > 0 && text.p[i - 1] != '\n'; i--) {
        chars += !cbx_utf8_continues(text.p[i - 1]);
    }
    return chars;
}

struct reader {
    struct cbx_str
        text; /* the text that is parsed: notebook lines are rewritten on the same lines */
    const struct cbx_notebook *notebook;
    struct cbx_arena *arena;
    struct cbx_lint_comments *out;
    size_t size;
};

static struct cbx_lint_comment *new_comment(struct reader *r)
{
    bool fits = CBX_ARRAY_RESERVE(r->arena, r->out->items, r->out->count, &r->size, 1, SIZE_MAX);
    return fits ? &r->out->items[r->out->count] : NULL;
}

static void take_comment(struct reader *r, TSNode node)
{
    uint32_t start = ts_node_start_byte(node), end = ts_node_end_byte(node);
    struct cbx_lint_comment comment = { 0 }, *to;
    if (!read_words(cbx_str_sub(r->text, start, end), &comment) || (to = new_comment(r)) == NULL) {
        return;
    }
    uint32_t line = ts_node_start_point(node).row + 1, column = chars_before(r->text, start) + 1;
    const struct cbx_notebook *n = r->notebook;
    comment.span = (struct cbx_span){
        .start_byte = cbx_notebook_place(n->magics, n->magic_count, start),
        .end_byte = cbx_notebook_place(n->magics, n->magic_count, end),
        .line = line,
        .column = column,
        .end_line = line,
        .end_column = column + chars_before(r->text, end) - chars_before(r->text, start),
    };
    comment.line = is_alone(r->text, start) ? line + 1 : line;
    *to = comment;
    r->out->count++;
}

static void walk(struct reader *r, TSTree *tree)
{
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
    int depth = 0;
    for (bool more = true; more; more = cbx_tree_move(&cursor, true, &depth)) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        if (strcmp(ts_node_type(node), "comment") == 0) {
            take_comment(r, node);
        }
    }
    ts_tree_cursor_delete(&cursor);
}

/* Consecutive comments, each alone on its line, suppress findings of the line after the last
 * one. */
static void look_below(struct cbx_lint_comments *comments)
{
    for (size_t i = comments->count; i > 1; i--) {
        struct cbx_lint_comment *this = &comments->items[i - 2], *next = &comments->items[i - 1];
        if (this->line == next->span.line && next->line > next->span.line) {
            this->line = next->line;
        }
    }
}

int cbx_lint_comments_read(struct cbx_str source, struct cbx_str language, struct cbx_arena *arena,
                           struct cbx_lint_comments *out, struct cbx_err *err)
{
    const struct cbx_lang *lang = cbx_lang_find(language);
    *out = (struct cbx_lint_comments){ 0 };
    if (lang == NULL || source.len == 0 || memmem(source.p, source.len, "codebox:", 8) == NULL) {
        return 0;
    }
    struct cbx_notebook notebook = { .text = source };
    if (cbx_lang_is_notebook(lang) && cbx_notebook_rewrite(source, arena, &notebook) != 0) {
        return cbx_fail(err, CBX_ETOOBIG, "the source is too large");
    }
    struct reader r = { .text = notebook.text, .notebook = &notebook, .arena = arena, .out = out };
    cbx_tree_memory_begin();
    TSParser *parser = ts_parser_new();
    ts_parser_set_language(parser, lang->code->grammar());
    TSTree *tree =
        ts_parser_parse_string(parser, NULL, notebook.text.p, (uint32_t)notebook.text.len);
    if (tree != NULL) {
        walk(&r, tree);
    }
    cbx_tree_delete(tree);
    cbx_parser_delete(parser);
    cbx_tree_memory_end();
    look_below(out);
    if (arena->exhausted) {
        return cbx_fail(err, CBX_ETOOBIG, "the source is too large");
    }
    return 0;
}

/* --- applying them ---------------------------------------------------------------------------- */

static bool is_valid(const struct cbx_policy *policy, const struct cbx_lint_comment *comment)
{
    return policy->inline_suppressions && comment->reason.len > 0 &&
           cbx_policy_rule(policy, comment->rule) != NULL;
}

void cbx_lint_suppress(const struct cbx_policy *policy, struct cbx_lint_comments *comments,
                       struct cbx_report_finding *findings, size_t count)
{
    for (size_t c = 0; c < comments->count; c++) {
        struct cbx_lint_comment *comment = &comments->items[c];
        bool valid = is_valid(policy, comment);
        for (size_t i = 0; valid && i < count; i++) {
            struct cbx_report_finding *f = &findings[i];
            if (f->v.span.line == comment->line && cbx_str_equal(f->v.rule->id, comment->rule) &&
                !cbx_report_is_built_in(f->v.rule)) {
                f->suppression = CBX_SUPPRESSED_INLINE;
                f->reason = comment->reason;
                comment->used = true;
            }
        }
    }
}

static bool names_built_in(const struct cbx_policy *policy, struct cbx_str id)
{
    const struct cbx_rule *rule;
    for (size_t i = 0; (rule = cbx_report_rule(policy, i)) != NULL; i++) {
        if (cbx_str_equal(rule->id, id) && cbx_report_is_built_in(rule)) {
            return true;
        }
    }
    return false;
}

const char *cbx_lint_comment_fault(const struct cbx_policy *policy,
                                   const struct cbx_lint_comment *comment)
{
    if (comment->used) {
        return NULL;
    }
    if (!policy->inline_suppressions) {
        return "the policy permits no suppressions in the source";
    }
    if (comment->rule.len == 0) {
        return "it names no rule";
    }
    if (names_built_in(policy, comment->rule)) {
        return "findings of this rule cannot be suppressed";
    }
    if (cbx_policy_rule(policy, comment->rule) == NULL) {
        return "the policy has no such rule";
    }
    if (comment->reason.len == 0) {
        return "it gives no reason ('-- reason' is required)";
    }
    return "there is no such finding on its line";
}
