/* SPDX-License-Identifier: MIT
 * The walk over a tree. */
#include "analyzer/parse.h"
#include "analyzer/syntax/tree_memory.h"
#include "tests/unit/unit.h"

const TSLanguage *tree_sitter_python(void);

static TSTree *parse(const char *text)
{
    TSTree *tree =
        cbx_parse_tree(tree_sitter_python(), cbx_str_of(text), cbx_parse_deadline(10000));
    assert_non_null(tree);
    return tree;
}

static void a_walk_visits_every_node_once_in_the_order_of_the_text(void **state)
{
    (void)state;
    TSTree *tree = parse("def f(a, b):\n    return [a, (b + 1)]\nprint(f(1, 2))\n");
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
    uint32_t count = 0, last = 0;
    int depth = 0;
    for (bool more = true; more; more = cbx_tree_move(&cursor, true, &depth)) {
        uint32_t start = ts_node_start_byte(ts_tree_cursor_current_node(&cursor));
        assert_true(start >= last);
        last = start;
        count++;
    }
    assert_int_equal(count, ts_node_descendant_count(ts_tree_root_node(tree)));
    assert_int_equal(depth, 0);
    ts_tree_cursor_delete(&cursor);
    cbx_tree_delete(tree);
}

static void a_walk_skips_the_inside_of_a_node(void **state)
{
    (void)state;
    TSTree *tree = parse("a = 1\nb = 2\nc = 3\n");
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
    uint32_t count = 0;
    int depth = 0;
    for (bool more = true; more; more = cbx_tree_move(&cursor, depth == 0, &depth)) {
        count++;
    }
    assert_int_equal(count, 4);
    ts_tree_cursor_delete(&cursor);
    cbx_tree_delete(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_visits_every_node_once_in_the_order_of_the_text),
        cmocka_unit_test(a_walk_skips_the_inside_of_a_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
