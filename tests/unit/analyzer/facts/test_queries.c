/* SPDX-License-Identifier: MIT
 * tree-sitter queries of rules: the meaning of predicates, and errors of malformed queries. */
#include "analyzer/facts/queries.h"
#include "tests/unit/unit.h"

const TSLanguage *tree_sitter_python(void);

static bool count_match(void *context, uint32_t start, uint32_t end, const char *what)
{
    (void)start, (void)end, (void)what;
    ++*(unsigned *)context;
    return true;
}

static unsigned matches(const char *query, const char *source)
{
    unsigned count = 0;
    TSParser *parser = ts_parser_new();
    ts_parser_set_language(parser, tree_sitter_python());
    TSTree *tree = ts_parser_parse_string(parser, NULL, source, (uint32_t)strlen(source));
    cbx_query_run(cbx_str_of(query), tree, cbx_str_of(source), count_match, &count);
    ts_tree_delete(tree);
    ts_parser_delete(parser);
    return count;
}

static void predicates_hold_by_their_names(void **state)
{
    (void)state;
    static const struct {
        const char *query, *source;
        unsigned count;
    } cases[] = {
        { "(identifier) @a", "x + y", 2 },
        { "((identifier) @a (#eq? @a \"x\"))", "x + y", 1 },
        { "((identifier) @a (#not-eq? @a \"x\"))", "x + y + z", 2 },
        { "((identifier) @a (#any-of? @a \"x\" \"z\"))", "x + y + z", 2 },
        { "((identifier) @a (#not-any-of? @a \"x\" \"z\"))", "x + y + z", 1 },
        { "((identifier) @a (#match? @a \"^t[0-9]+$\"))", "t1 + t22 + tx", 2 },
        { "((identifier) @a (#not-match? @a \"^t\"))", "t1 + u", 1 },
        { "((assignment left: (_) @l right: (_) @r) (#eq? @l @r))", "a = a\nb = c", 1 },
        { "((identifier) @a (#match? @a \"x\") (#not-eq? @a \"xy\"))", "x + xy + ax", 2 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned count = matches(cases[i].query, cases[i].source);
        if (count != cases[i].count) {
            fail_msg("%s in '%s': %u, expected %u", cases[i].query, cases[i].source, count,
                     cases[i].count);
        }
    }
}

static void reports_the_fault_of_a_query(void **state)
{
    (void)state;
    static const struct {
        const char *query, *text;
    } cases[] = {
        { "(no_such_node) @a", "from 'no_such_node" },
        { "(identifier)", "no capture" },
        { "((identifier) @a (#is? @a \"x\"))", "predicate '#is?' is not known" },
        { "((identifier) @a (#eq? @a))", "one other operand" },
        { "((identifier) @a (#eq? @a \"x\" \"y\"))", "one other operand" },
        { "((identifier) @a (#match? @a \"(x\"))", "regular expression" },
        { "((identifier) @a (#match? @a @a))", "regular expression" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_err err = { 0 };
        assert_int_equal(cbx_query_check(CBX_PYTHON, cbx_str_of(cases[i].query), &err),
                         CBX_EPOLICY);
        if (strstr(err.text, cases[i].text) == NULL) {
            fail_msg("%s: %s", cases[i].query, err.text);
        }
    }
    assert_int_equal(
        cbx_query_check(CBX_PYTHON, CBX_STR("((identifier) @a (#eq? @a \"x\"))"), NULL), 0);
}

static void an_undecidable_query_matches(void **state)
{
    (void)state;
    static char source[10000];
    memset(source, 'x', sizeof(source) - 1); /* too long for a regular expression */
    assert_int_equal(matches("((identifier) @a (#match? @a \"^y$\"))", source), 1);
    assert_int_equal(matches("(no_such_node) @a", "x"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predicates_hold_by_their_names),
        cmocka_unit_test(reports_the_fault_of_a_query),
        cmocka_unit_test(an_undecidable_query_matches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
