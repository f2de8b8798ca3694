/* SPDX-License-Identifier: MIT
 * Notebook files: cells, their numbers, and their lines in the file. */
#include "analyzer/lang/python/notebook/ipynb.h"
#include "policies/base/text/json.h"
#include "tests/unit/unit.h"

static void finds_the_line_of_each_cell(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        uint32_t line; /* line of the first code cell */
    } cases[] = {
        { "{\"cells\": [\n{\"cell_type\": \"code\", \"source\": [\n\"a\\n\",\n\"b\"]}]}", 3 },
        { "{\"cells\": [{\"cell_type\": \"markdown\", \"source\": [\n\"x\"]},\n{\"source\": [\n\n"
          "\"a\"],\n\"cell_type\": \"code\"}]}",
          5 },
        { "{\"metadata\": {\"cells\": [\n{\"source\": [\"z\"]}]},\n\"cells\": [{\"cell_type\": "
          "\"code\",\n\"outputs\": [{\"source\": [\n\"q\"]}], \"source\": [\n\"a\"]}]}",
          6 },
        { "{\"cells\": [{\"cell_type\": \"code\", \"source\": [\"\\\"]}\\\\\"]}]}", 1 },
        /* not one source line on each line of the file: unknown */
        { "{\"cells\": [{\"cell_type\": \"code\", \"source\": [\"a\\n\", \"b\"]}]}", 0 },
        { "{\"cells\": [{\"cell_type\": \"code\", \"source\": [\"a\\nb\\n\",\n\"c\"]}]}", 0 },
        { "{\"cells\": [{\"cell_type\": \"code\", \"source\": [\"a\",\n\"c\"]}]}", 0 },
        { "{\"cells\": [{\"cell_type\": \"code\", \"source\": \"a\\nb\"}]}", 0 },
        { "{\"cells\": [{\"cell_type\": \"code\", \"source\": []}]}", 0 },
        { "{\"worksheets\": [{\"cells\": [{\"cell_type\": \"code\", \"input\": [\"a\"]}]}]}", 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(arena) arena;
        cbx_arena_init(&arena, 1 << 20);
        struct cbx_ipynb notebook;
        struct cbx_err err = { 0 };
        if (cbx_ipynb_read(cbx_str_of(cases[i].json), &arena, &notebook, &err) != 0) {
            fail_msg("%zu: %s", i, err.text);
        }
        assert_int_equal(notebook.count, 1);
        if (notebook.cells[0].line != cases[i].line) {
            fail_msg("%zu: line %u instead of %u", i, notebook.cells[0].line, cases[i].line);
        }
    }
}

static void refuses_what_is_none(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "[]",
        "{}",
        "{",
        "{\"cells\": 1}",
        "{\"cells\": [{\"cell_type\": \"code\", \"source\": 1}]}",
        "null",
        "{\"cells\": [{\"cell_type\": \"code\", \"source\": [1]}]}",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(arena) arena;
        cbx_arena_init(&arena, 1 << 20);
        struct cbx_ipynb notebook;
        struct cbx_err err = { 0 };
        assert_int_equal(cbx_ipynb_read(cbx_str_of(cases[i]), &arena, &notebook, &err), CBX_EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_line_of_each_cell),
        cmocka_unit_test(refuses_what_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
