/* SPDX-License-Identifier: MIT
 * tree-sitter's tree as an array: the order, the links, the nodes that are kept and left out. The
 * test has its own kinds, independent of the extractors. */
#include "analyzer/syntax/syntax.h"
#include "tests/unit/unit.h"

#include <string.h>

const TSLanguage *tree_sitter_python(void);
const TSLanguage *tree_sitter_javascript(void);
const TSLanguage *tree_sitter_bash(void);

enum {
    K_MODULE = 1,
    K_CALL,
    K_IDENTIFIER,
    K_ARGUMENTS,
    K_BINARY,
    K_COMMENT,
    K_LIST,
    K_CONTINUATION
};
static const char *const kinds[] = {
    "module",           "call",     "identifier", "argument_list",
    "+binary_operator", "-comment", "list",       "-line_continuation"
};

struct read {
    struct cbx_arena arena;
    TSTree *tree;
    struct cbx_syntax syntax;
    const char *source;
};

static const struct cbx_grammar *grammar(void)
{
    static struct cbx_grammar g;
    cbx_grammar_fill(&g, tree_sitter_python(), kinds, sizeof(kinds) / sizeof(kinds[0]));
    return &g;
}

static bool read_source(struct read *r, const char *source, int depth_max, size_t arena_max)
{
    TSParser *parser = ts_parser_new();
    ts_parser_set_language(parser, tree_sitter_python());
    r->source = source;
    r->tree = ts_parser_parse_string(parser, NULL, source, (uint32_t)strlen(source));
    ts_parser_delete(parser);
    cbx_arena_init(&r->arena, arena_max);
    return cbx_syntax_read(r->tree, grammar(), depth_max, &r->arena, &r->syntax);
}

static void drop(struct read *r)
{
    ts_tree_delete(r->tree);
    cbx_arena_done(&r->arena);
}

static bool is(const struct read *r, const struct cbx_node *node, const char *text)
{
    size_t len = node->end - node->start;
    return len == strlen(text) && memcmp(r->source + node->start, text, len) == 0;
}

static const struct cbx_node *find(const struct read *r, uint8_t kind, const char *text)
{
    for (uint32_t i = 0; i < r->syntax.count; i++) {
        if (r->syntax.nodes[i].kind == kind && is(r, &r->syntax.nodes[i], text)) {
            return &r->syntax.nodes[i];
        }
    }
    fail_msg("no node '%s'", text);
    return NULL;
}

static void nodes_stand_in_the_order_of_the_text(void **state)
{
    (void)state;
    struct read r;
    assert_true(read_source(&r, "f(a, [b, c])\ng(d)\n", 100, 1 << 20));
    assert_int_equal(r.syntax.nodes[0].kind, K_MODULE);
    assert_null(r.syntax.nodes[0].parent);
    for (uint32_t i = 1; i < r.syntax.count; i++) {
        const struct cbx_node *node = &r.syntax.nodes[i], *parent = node->parent;
        assert_true(node->start >= node[-1].start);
        assert_true(parent < node && parent >= r.syntax.nodes);
        assert_true(parent->start <= node->start && node->end <= parent->end);
    }
    drop(&r);
}

static void links_lead_to_every_node_once(void **state)
{
    (void)state;
    struct read r;
    assert_true(read_source(
        &r, "x = [f(1), (2, g(h)), {3: y}]\nclass A:\n    def f(self): return 1\n", 100, 1 << 20));
    uint32_t linked = 1;
    for (uint32_t i = 0; i < r.syntax.count; i++) {
        const struct cbx_node *node = &r.syntax.nodes[i];
        uint32_t named = 0;
        assert_true(node->first == NULL || node->first == node + 1);
        for (const struct cbx_node *c = node->first; c != NULL; c = c->next) {
            assert_ptr_equal(c->parent, node);
            assert_true(c->next == NULL || c->next->start >= c->end);
            named += c->named;
            linked++;
        }
        assert_int_equal(cbx_child_count(node), named);
    }
    assert_int_equal(linked, r.syntax.count);
    drop(&r);
}

static void children_are_found_by_field_and_by_number(void **state)
{
    (void)state;
    struct read r;
    assert_true(read_source(&r, "f(a, b)\n", 100, 1 << 20));
    const struct cbx_node *call = find(&r, K_CALL, "f(a, b)");
    assert_true(is(&r, cbx_child_of(call, CBX_FIELD_function), "f"));
    const struct cbx_node *arguments = cbx_child_of(call, CBX_FIELD_arguments);
    assert_int_equal(arguments->kind, K_ARGUMENTS);
    assert_true(is(&r, cbx_child_at(arguments, 0), "a"));
    assert_true(is(&r, cbx_child_at(arguments, 1), "b"));
    assert_null(cbx_child_at(arguments, 2));
    assert_true(is(&r, cbx_last_child(arguments), "b"));
    assert_null(cbx_child_of(call, CBX_FIELD_body));
    drop(&r);
}

static void nothing_has_no_children(void **state)
{
    (void)state;
    assert_null(cbx_child_of(NULL, CBX_FIELD_body));
    assert_null(cbx_child_at(NULL, 0));
    assert_null(cbx_last_child(NULL));
    assert_int_equal(cbx_child_count(NULL), 0);
    struct cbx_node end;
    assert_ptr_equal(cbx_node_behind(NULL, &end), &end);
}

static void tokens_are_kept_where_a_kind_asks_for_them(void **state)
{
    (void)state;
    struct read r;
    assert_true(read_source(&r, "a + b\n[a, b]\n", 100, 1 << 20));
    const struct cbx_node *sum = find(&r, K_BINARY, "a + b");
    const struct cbx_node *op = cbx_child_of(sum, CBX_FIELD_operator);
    assert_non_null(op);
    assert_true(is(&r, op, "+"));
    assert_false(op->named);
    assert_int_equal(cbx_child_count(sum), 2);
    assert_true(is(&r, cbx_child_at(sum, 1), "b"));
    const struct cbx_node *list = find(&r, K_LIST, "[a, b]");
    for (const struct cbx_node *c = list->first; c != NULL; c = c->next) {
        assert_true(c->named); /* no bracket, no comma */
    }
    drop(&r);
}

static void comments_and_continued_lines_are_left_out(void **state)
{
    (void)state;
    struct read r, plain;
    assert_true(read_source(&r, "# a\nf(a, # b\n  b) # c\nx = 1 + \\\n  2\n# d", 100, 1 << 20));
    assert_true(read_source(&plain, "f(a, b)\nx = 1 + 2", 100, 1 << 20));
    assert_int_equal(r.syntax.count, plain.syntax.count);
    for (uint32_t i = 0; i < r.syntax.count; i++) {
        assert_int_equal(r.syntax.nodes[i].kind, plain.syntax.nodes[i].kind);
        assert_int_not_equal(r.syntax.nodes[i].kind, K_COMMENT);
        assert_int_not_equal(r.syntax.nodes[i].kind, K_CONTINUATION);
    }
    drop(&r);
    drop(&plain);
}

static void a_text_of_comments_is_one_node(void **state)
{
    (void)state;
    struct read r;
    assert_true(read_source(&r, "# a\n# b\n", 100, 1 << 20));
    assert_int_equal(r.syntax.count, 1);
    assert_null(r.syntax.nodes[0].first);
    assert_null(r.syntax.too_deep);
    drop(&r);
    assert_true(read_source(&r, "", 100, 1 << 20));
    assert_int_equal(r.syntax.count, 1);
    drop(&r);
}

static void a_node_type_outside_the_table_is_kind_zero(void **state)
{
    (void)state;
    struct read r;
    assert_true(read_source(&r, "while x: pass\n", 100, 1 << 20));
    const struct cbx_node *loop = r.syntax.nodes[0].first;
    assert_int_equal(loop->kind, 0);
    assert_true(loop->named);
    assert_true(is(&r, cbx_child_at(loop, 0), "x"));
    drop(&r);
}

static void a_tree_that_is_too_deep_is_cut_and_reported(void **state)
{
    (void)state;
    struct read r;
    char source[256] = "";
    for (int i = 0; i < 40; i++) {
        source[i] = '[';
        source[79 - i] = ']';
    }
    assert_true(read_source(&r, source, 100, 1 << 20));
    assert_null(r.syntax.too_deep);
    uint32_t all = r.syntax.count;
    drop(&r);
    assert_true(read_source(&r, source, 10, 1 << 20));
    assert_non_null(r.syntax.too_deep);
    assert_null(r.syntax.too_deep->first);
    assert_true(r.syntax.count < all);
    uint32_t depth = 0;
    for (const struct cbx_node *n = r.syntax.too_deep; n->parent != NULL; n = n->parent) {
        depth++;
    }
    assert_int_equal(depth, 10);
    drop(&r);
}

static void siblings_behind_something_too_deep_are_read(void **state)
{
    (void)state;
    struct read r;
    assert_true(read_source(&r, "[[[[[[[[1]]]]]]]]\nlast\n", 4, 1 << 20));
    assert_non_null(r.syntax.too_deep);
    assert_non_null(find(&r, K_IDENTIFIER, "last"));
    drop(&r);
}

static void behind_a_node_is_the_next_one_outside_of_it(void **state)
{
    (void)state;
    struct read r;
    assert_true(read_source(&r, "f(a)\ng(b)\n", 100, 1 << 20));
    const struct cbx_node *end = r.syntax.nodes + r.syntax.count;
    const struct cbx_node *behind = cbx_node_behind(find(&r, K_CALL, "f(a)"), end);
    assert_true(is(&r, behind, "g(b)"));
    assert_ptr_equal(cbx_node_behind(find(&r, K_IDENTIFIER, "a"), end), behind);
    assert_ptr_equal(cbx_node_behind(find(&r, K_CALL, "g(b)"), end), end);
    assert_ptr_equal(cbx_node_behind(r.syntax.nodes, end), end);
    drop(&r);
}

static void reports_an_exhausted_arena(void **state)
{
    (void)state;
    struct read r;
    static char source[65536];
    memset(source, ' ', sizeof(source) - 1);
    for (size_t i = 0; i + 2 < sizeof(source); i += 2) {
        source[i] = '1';
        source[i + 1] = i % 64 == 62 ? '\n' : '+';
    }
    assert_false(read_source(&r, source, 100, 1 << 16));
    drop(&r);
}

/* --- compared with tree-sitter's cursor ------------------------------------------------------- */

static bool is_kept(const struct cbx_grammar *g, TSNode node, const struct cbx_node *parent)
{
    TSSymbol symbol = ts_node_symbol(node);
    bool known = symbol < CBX_SYMBOLS_MAX;
    if (!known || g->named[symbol]) {
        return !known || !g->dropped[g->kind[symbol]];
    }
    return parent != NULL && g->tokens[parent->kind];
}

static void same_node(const struct cbx_grammar *g, TSTreeCursor *cursor,
                      const struct cbx_node *node, const struct cbx_node *parent)
{
    TSNode its = ts_tree_cursor_current_node(cursor);
    TSSymbol symbol = ts_node_symbol(its);
    TSFieldId field = ts_tree_cursor_current_field_id(cursor);
    assert_ptr_equal(node->parent, parent);
    assert_int_equal(node->start, ts_node_start_byte(its));
    assert_int_equal(node->end, ts_node_end_byte(its));
    assert_int_equal(node->named, ts_node_is_named(its));
    assert_int_equal(node->kind, symbol < CBX_SYMBOLS_MAX ? g->kind[symbol] : 0);
    assert_int_equal(node->field, field < CBX_FIELD_IDS_MAX ? g->field[field] : 0);
}

/* Goes through both trees at the same time. */
static void same_tree(const struct cbx_grammar *g, const TSTree *tree, const struct cbx_syntax *out)
{
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
    const struct cbx_node *parent = NULL;
    uint32_t count = 0;
    for (bool more = true; more;) {
        if (is_kept(g, ts_tree_cursor_current_node(&cursor), parent)) {
            assert_true(count < out->count);
            same_node(g, &cursor, &out->nodes[count++], parent);
            if (ts_tree_cursor_goto_first_child(&cursor)) {
                parent = &out->nodes[count - 1];
                continue;
            }
        }
        while (!(more = ts_tree_cursor_goto_next_sibling(&cursor)) && parent != NULL) {
            ts_tree_cursor_goto_parent(&cursor);
            parent = parent->parent;
        }
    }
    ts_tree_cursor_delete(&cursor);
    assert_int_equal(count, out->count);
}

/* Fields of hidden nodes, aliases, comments in all places, errors, missing tokens, strings with
 * code, long lists, text before the first node. */
static const struct {
    const TSLanguage *(*language)(void);
    const char *source;
} compared[] = {
    { tree_sitter_python, "" },
    { tree_sitter_python, "\n\n  # a\nx = 1 # b\n" },
    { tree_sitter_python, "@d\nasync def f(a, /, b: int = 1, *c, **d) -> int: # e\n"
                          "    # f\n    return f'{a!r:>{b}} {c}' 'd'\n" },
    { tree_sitter_python, "import a.b as c, d\nfrom .e import (f as g, # h\n  i)\n" },
    { tree_sitter_python, "match x:\n    case {'a': [1, *_], **b} if c: pass\n"
                          "    case A(b=1) | None as d: print(d)\n" },
    { tree_sitter_python, "with a as b, c as (d, e): pass\ntry: f()\nexcept* (A, B) as g: raise\n"
                          "else: pass\nfinally: del x[0], y.z\n" },
    { tree_sitter_python, "x = [a := 1 for b in c if d for e in f] if g else lambda *h: not h\n" },
    { tree_sitter_python, "a < b <= c is not d not in e\nprint >>f, g\nexec 'h' in i\n" },
    { tree_sitter_python, "def f(:\n  x = (1,\n ]\nclass\n$ = 3 +" },
    { tree_sitter_python, "a, b = 1 if\nfoo(bar baz)\n)" },
    { tree_sitter_python, "x: int = 1; type Y[T: int] = list[T]; global z; x @= 1 # \xc3\xa9\n" },
    { tree_sitter_javascript,
      "const {a, b: [c = 1], ...d} = await e?.f[`g${h}i`](/j/g, ...k); // l" },
    { tree_sitter_javascript,
      "class A extends B { static #c = 1; get d() { return this.#c } /* e */ "
      "async *[f](g) { yield* g; } }\nx = {a, b() {}, 'c': d}" },
    { tree_sitter_javascript, "import a, {b as c} from 'd'; export default function* () {}\n"
                              "for (let x of y) label: while (1) { break label }" },
    { tree_sitter_javascript, "a = <b c={d} {...e}>f {g}</b>; if (h) { i( } else j = [,1,,2]" },
    { tree_sitter_bash, "a=1 b[2]=$c d 2>&1 <<'E' | f && ! g || (h; i) &\nx $y\nE\n" },
    { tree_sitter_bash,
      "for x in a b; do case $x in a|b) c;; *) d;& esac; done; f() { g \"$h\"; }" },
    { tree_sitter_bash, "if [[ $a =~ ^b$ && -f c ]]; then ((d++)); fi; e=$(f `g`) ${h:-i} <(j" },
};

static void the_array_is_the_tree_that_the_cursor_shows(void **state)
{
    (void)state;
    static const char *const all_tokens[] = {
        "+module",
        "+call",
        "-comment",
        "+argument_list",
        "+binary_operator",
        "+program",
        "+class",
        "+call_expression",
        "+pair",
        "+command",
        "+function_definition",
        "+comparison_operator",
        "+jsx_expression",
        "+import_statement",
    };
    for (size_t i = 0; i < sizeof(compared) / sizeof(compared[0]); i++) {
        const TSLanguage *language = compared[i].language();
        struct cbx_grammar plain = { 0 }, tokens = { 0 };
        cbx_grammar_fill(&plain, language, NULL, 0);
        cbx_grammar_fill(&tokens, language, all_tokens, sizeof(all_tokens) / sizeof(*all_tokens));
        TSParser *parser = ts_parser_new();
        ts_parser_set_language(parser, language);
        TSTree *tree = ts_parser_parse_string(parser, NULL, compared[i].source,
                                              (uint32_t)strlen(compared[i].source));
        ts_parser_delete(parser);
        CBX_AUTO_DONE(arena) arena;
        cbx_arena_init(&arena, 1 << 20);
        struct cbx_syntax out;
        assert_true(cbx_syntax_read(tree, &plain, 100, &arena, &out));
        same_tree(&plain, tree, &out);
        assert_true(cbx_syntax_read(tree, &tokens, 100, &arena, &out));
        same_tree(&tokens, tree, &out);
        ts_tree_delete(tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_stand_in_the_order_of_the_text),
        cmocka_unit_test(links_lead_to_every_node_once),
        cmocka_unit_test(children_are_found_by_field_and_by_number),
        cmocka_unit_test(nothing_has_no_children),
        cmocka_unit_test(tokens_are_kept_where_a_kind_asks_for_them),
        cmocka_unit_test(comments_and_continued_lines_are_left_out),
        cmocka_unit_test(a_text_of_comments_is_one_node),
        cmocka_unit_test(a_node_type_outside_the_table_is_kind_zero),
        cmocka_unit_test(a_tree_that_is_too_deep_is_cut_and_reported),
        cmocka_unit_test(siblings_behind_something_too_deep_are_read),
        cmocka_unit_test(behind_a_node_is_the_next_one_outside_of_it),
        cmocka_unit_test(reports_an_exhausted_arena),
        cmocka_unit_test(the_array_is_the_tree_that_the_cursor_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
