/* SPDX-License-Identifier: MIT
 * tree-sitter's tree as an array: the order, the links, the nodes that are kept and left out. The
 * test has its own kinds, independent of the extractors. */
#include "analyzer/syntax/syntax.h"
#include "tests/unit/unit.h"

#include <string.h>

const TSLanguage *tree_sitter_python(void);

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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
