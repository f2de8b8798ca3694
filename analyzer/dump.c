/* SPDX-License-Identifier: MIT
 * Stages as text. */
#include "analyzer/dump.h"

#include "analyzer/lang/python/notebook/notebook.h"
#include "analyzer/parse.h"
#include "analyzer/syntax/source.h"
#include "policies/base/text/printable.h"

/* The results of all stages up to the facts. */
struct stages {
    const struct cbx_lang *lang;
    struct cbx_source source;
    struct cbx_notebook notebook;
    struct cbx_facts facts;
    TSTree *tree;
};

static int run_stages(const struct cbx_policy *policy, const struct cbx_analysis *request,
                      struct cbx_arena *arena, struct stages *s, struct cbx_err *err)
{
    *s = (struct stages){ .lang = cbx_lang_find(request->language) };
    if (s->lang == NULL) {
        return cbx_fail(err, CBX_EINVAL, "language is '%.*s', allowed are %s",
                        CBX_STR_SHOWN(request->language), cbx_lang_names());
    }
    s->facts = (struct cbx_facts){ .arena = arena,
                                   .language = s->lang->policy,
                                   .source = s->lang->policy };
    if (cbx_source_read(request->source, s->lang->code->cookie, arena, &s->facts, &s->source) !=
            0 ||
        !s->source.readable) {
        return cbx_fail(err, CBX_EINVAL, "the source cannot be read; --dump=findings says why");
    }
    s->notebook.text = s->source.text;
    if (cbx_lang_is_notebook(s->lang) &&
        cbx_notebook_rewrite(s->source.text, arena, &s->notebook) != 0) {
        return cbx_fail(err, CBX_ETOOBIG, "the source is too large");
    }
    struct cbx_parsed parsed = { .policy = policy,
                                 .arena = arena,
                                 .facts = &s->facts,
                                 .magics = s->notebook.magics,
                                 .magic_count = s->notebook.magic_count };
    cbx_parse_text(&parsed, s->lang, s->notebook.text, &s->tree);
    if (s->tree == NULL) {
        return cbx_fail(err, CBX_ETOOBIG, "the source is too large");
    }
    return 0;
}

static void add_node(TSTreeCursor *cursor, struct cbx_str text, int depth, struct cbx_buf *out)
{
    TSNode node = ts_tree_cursor_current_node(cursor);
    TSPoint at = ts_node_start_point(node);
    const char *field = ts_tree_cursor_current_field_name(cursor);
    cbx_buf_printf(out, "%5u:%-4u %*s", at.row + 1, at.column + 1, depth > 200 ? 400 : depth * 2,
                   "");
    if (field != NULL) {
        cbx_buf_printf(out, "%s: ", field);
    }
    cbx_buf_printf(out, "%s%s", ts_node_is_missing(node) ? "MISSING " : "", ts_node_type(node));
    if (ts_node_child_count(node) == 0) {
        cbx_buf_add_cstr(out, " `");
        cbx_printable_add(
            out,
            cbx_str_sub(cbx_str_sub(text, ts_node_start_byte(node), ts_node_end_byte(node)), 0, 60),
            CBX_PRINTABLE_LINE);
        cbx_buf_add_char(out, '`');
    }
    cbx_buf_add_char(out, '\n');
}

int cbx_dump_tree(const struct cbx_policy *policy, const struct cbx_analysis *request,
                  struct cbx_arena *arena, struct cbx_buf *out, struct cbx_err *err)
{
    struct stages s;
    int failed = run_stages(policy, request, arena, &s, err);
    if (failed) {
        return failed;
    }
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(s.tree));
    for (int depth = 0; depth >= 0 && !out->overflow;) {
        if (ts_node_is_named(ts_tree_cursor_current_node(&cursor))) {
            add_node(&cursor, s.notebook.text, depth, out);
        }
        if (ts_tree_cursor_goto_first_child(&cursor)) {
            depth++;
            continue;
        }
        while (depth >= 0 && !ts_tree_cursor_goto_next_sibling(&cursor)) {
            depth = ts_tree_cursor_goto_parent(&cursor) ? depth - 1 : -1;
        }
    }
    ts_tree_cursor_delete(&cursor);
    ts_tree_delete(s.tree);
    if (out->overflow) {
        return cbx_fail(err, CBX_ETOOBIG, "the tree is larger than %zu bytes", out->max_bytes);
    }
    return 0;
}

static void add_arguments(const struct cbx_fact *fact, struct cbx_buf *out)
{
    cbx_buf_add_char(out, '(');
    for (uint32_t i = 0; i < fact->arg_count; i++) {
        const struct cbx_arg *arg = &fact->args[i];
        cbx_buf_add_cstr(out, i > 0 ? ", " : "");
        if (arg->keyword.len > 0) {
            cbx_printable_add(out, arg->keyword, CBX_PRINTABLE_LINE);
            cbx_buf_add_char(out, '=');
        }
        if (!arg->known) {
            cbx_buf_add_char(out, '?');
            continue;
        }
        cbx_buf_add_cstr(out, arg->constant ? "'" : "");
        cbx_printable_add(out, cbx_str_sub(arg->value, 0, 80), CBX_PRINTABLE_LINE);
        cbx_buf_add_cstr(out, arg->constant ? "'" : "");
    }
    cbx_buf_add_cstr(out, fact->spread ? ", ...)" : ")");
}

int cbx_dump_facts(const struct cbx_policy *policy, const struct cbx_analysis *request,
                   struct cbx_arena *arena, struct cbx_buf *out, struct cbx_err *err)
{
    static const char *const kinds[] = { "",          "import",  "call", "reference",
                                         "attribute", "literal", "fact" };
    struct stages s;
    int failed = run_stages(policy, request, arena, &s, err);
    for (size_t i = 0; !failed && i < s.facts.count && !out->overflow; i++) {
        const struct cbx_fact *fact = &s.facts.items[i];
        uint32_t line, column;
        cbx_source_place(&s.source, fact->start, &line, &column);
        cbx_buf_printf(out, "%5u:%-4u %-10s ", line, column, kinds[fact->kind]);
        if (fact->kind == CBX_IS_SPECIAL) {
            cbx_buf_printf(out, "%s ", cbx_fact_name(fact->special));
        }
        cbx_printable_add(out, cbx_str_sub(fact->name, 0, 200), CBX_PRINTABLE_LINE);
        if (fact->kind == CBX_IS_CALL) {
            add_arguments(fact, out);
        }
        cbx_buf_add_char(out, '\n');
    }
    if (!failed) {
        ts_tree_delete(s.tree);
    }
    if (failed) {
        return failed;
    }
    if (out->overflow) {
        return cbx_fail(err, CBX_ETOOBIG, "the facts are larger than %zu bytes", out->max_bytes);
    }
    return 0;
}
