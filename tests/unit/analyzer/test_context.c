/* SPDX-License-Identifier: MIT
 * Sessions and notebooks: names that a cell binds have their meaning in the next one, and no cell
 * can hide what another does. */
#include "analyzer/analyze.h"
#include "analyzer/context.h"
#include "analyzer/program.h"
#include "policies/base/buf.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static struct cbx_policy *policy;

static int set_up(void **state)
{
    (void)state;
    struct cbx_err err;
    return cbx_policy_load("default", &policy, &err);
}

static int tear_down(void **state)
{
    (void)state;
    cbx_policy_free(policy);
    return 0;
}

/* "RULE LINE:COLUMN" of the first denial, or "". */
static void first_denial(const struct cbx_decision *d, char out[128])
{
    out[0] = '\0';
    for (size_t f = 0; f < d->finding_count && out[0] == '\0'; f++) {
        if (d->findings[f].effect == CBX_EFFECT_DENY) {
            snprintf(out, 128, "%.*s %u:%u", CBX_STR_ARG(d->findings[f].rule->id),
                     d->findings[f].span.line, d->findings[f].span.column);
        }
    }
}

static void judge(const struct cbx_analysis *request, struct cbx_arena *arena, char out[128])
{
    struct cbx_decision d;
    struct cbx_err err;
    assert_int_equal(cbx_analyze(policy, request, arena, &d, &err), 0);
    first_denial(&d, out);
}

/* Judges a cell as a part of a notebook. */
static void judge_in_notebook(const char *const *cells, size_t cell, char out[128])
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_str texts[8];
    size_t count = 0;
    for (; cells[count] != NULL; count++) {
        texts[count] = cbx_str_of(cells[count]);
    }
    const struct cbx_program *program;
    assert_int_equal(cbx_program_read(policy, texts, count, 0, &arena, &program), 0);
    struct cbx_analysis request = {
        .source = texts[cell], .language = CBX_STR("ipython"), .program = program, .cell = cell
    };
    judge(&request, &arena, out);
}

/* Judges the last cell after the others, as in a session; the result in a notebook is the same. */
static void judge_last(const char *const *cells, char out[128])
{
    CBX_AUTO_DONE(buf) context;
    cbx_buf_init(&context, 2 * CBX_CONTEXT_MAX_BYTES);
    size_t last = 0;
    for (; cells[last + 1] != NULL; last++) {
        cbx_context_add(&context, cbx_str_of(cells[last]));
    }
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_analysis request = { .source = cbx_str_of(cells[last]),
                                    .language = CBX_STR("ipython"),
                                    .context = cbx_buf_str(&context) };
    judge(&request, &arena, out);
    char other[128];
    judge_in_notebook(cells, last, other);
    assert_string_equal(other, out);
}

static void reads_names_that_earlier_cells_bound(void **state)
{
    (void)state;
    static const struct {
        const char *cells[4], *denied;
    } cases[] = {
        { { "import os as o", "o.system('id')" }, "py.process 1:1" },
        { { "import os as o", "x = 1", "y = 2\n  \nprint(o.popen('id'))" }, "py.process 3:7" },
        { { "from os import *", "system('id')" }, "py.process 1:1" },
        { { "def f():\n    import os\n    return os", "f().system('id')" }, "py.process 1:1" },
        { { "import os\nn = 'sys' + 'tem'", "getattr(os, n)('id')" }, "py.process 1:1" },
        { { "import os as o", "%time o.system('id')" }, "py.process 1:1" },
        { { "import os as o", "!ls\no.system('id')\n!ls" }, "py.process 2:1" },
        { { "import os as o\n%time o.system('id')" }, "py.process 2:1" },
        { { "%time import os as o\nx = 1\no.system('id')" }, "py.process 3:1" },
        { { "%%time\nimport os as o", "o.system('id')" }, "py.process 1:1" },
        { { "import os as o", "%%capture\no.system('id')" }, "py.process 1:1" },
        { { "%%time\nimport os as o\no.getcwd()", "%timeit -n 1 o.getcwd()" }, "" },
        { { "import os as o", "o.getcwd()" }, "" },
        { { "x = 1", "print(x)" }, "" },
        { { "def open(x): pass", "open('a')" }, "" },
        { { "%matplotlib inline\n!ls", "import numpy as np\nnp.zeros(3)" }, "" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char denied[128];
        judge_last(cases[i].cells, denied);
        if (strcmp(denied, cases[i].denied) != 0) {
            fail_msg("%zu: '%s' instead of '%s'", i, denied, cases[i].denied);
        }
    }
}

/* Whatever the end of the cell before: a cell that is denied alone is denied after it. */
static void no_earlier_cell_hides_a_finding(void **state)
{
    (void)state;
    static const char *const ends[] = { "x = f \\",
                                        "x = 1 # \\",
                                        "s = '''a\n'''",
                                        "if x:\n    pass",
                                        "@g\ndef f(): pass",
                                        "class A:\n    def f(self):\n        return 1",
                                        "x = (1,\n     2)",
                                        "def os(): pass",
                                        "eval = len",
                                        "import json as subprocess",
                                        "\xEF\xBB\xBF",
                                        "\f",
                                        "exec = print\nos = json",
                                        "" };
    static const char *const cells[] = { "import subprocess", "eval('1')",
                                         "import os\nos.system('id')", "(exec)('1')",
                                         "else_ = 1\n__import__('os')" };
    for (size_t e = 0; e < sizeof(ends) / sizeof(ends[0]); e++) {
        for (size_t c = 0; c < sizeof(cells) / sizeof(cells[0]); c++) {
            const char *const both[] = { ends[e], cells[c], NULL };
            char denied[128];
            judge_last(both, denied);
            if (denied[0] == '\0') {
                fail_msg("'%s' hides '%s'", ends[e], cells[c]);
            }
        }
    }
}

static void gives_each_cell_of_a_notebook_its_own_facts(void **state)
{
    (void)state;
    static const char *const cells[] = {
        "import os as o\no.getcwd()",      "!ls\nx = 1\no.system('id')",      "x = 2",
        "y = 3\n\n%time o.popen('id')\nz", "%%capture\nprint(o)\no.popen(1)", NULL
    };
    static const char *const denied[] = { "", "py.process 3:1", "", "py.process 3:1",
                                          "py.process 1:1" };
    for (size_t i = 0; cells[i] != NULL; i++) {
        char found[128];
        judge_in_notebook(cells, i, found);
        if (strcmp(found, denied[i]) != 0) {
            fail_msg("cell %zu: '%s' instead of '%s'", i, found, denied[i]);
        }
    }
}

/* Cells of a notebook may run in any order. */
static void reads_names_that_later_cells_of_a_notebook_bind(void **state)
{
    (void)state;
    static const char *const cells[] = { "o.system('id')", "import os as o", NULL };
    char found[128];
    judge_in_notebook(cells, 0, found);
    assert_string_equal(found, "py.process 1:1");
}

/* What a cell says of a name that it does not bind holds only until the other cells are read. */
static void an_own_function_may_have_the_name_of_a_module(void **state)
{
    (void)state;
    char out[128];
    static const char *const own[] = { "def marshal(x):\n    return x\nsubprocess = {'a': 1}",
                                       "print(marshal(3), subprocess['a'])", NULL };
    judge_last(own, out);
    assert_string_equal(out, "");
    static const char *const module[] = { "import subprocess", "subprocess.run(['id'])", NULL };
    judge_last(module, out);
    assert_string_equal(out, "py.process 1:1");
    static const char *const both[] = { "import subprocess", "def subprocess(): pass",
                                        "subprocess.run(['id'])", NULL };
    judge_last(both, out);
    assert_string_equal(out, "py.process 1:1");
    static const char *const nowhere[] = { "x = 1", "subprocess.run(['id'])", NULL };
    judge_last(nowhere, out);
    assert_string_equal(out, "py.process 1:1");
}

static void an_import_is_judged_by_its_uses_in_all_cells_of_a_notebook(void **state)
{
    (void)state;
    char out[128];
    static const char *const harmless[] = { "import pickle", "pickle.dumps(1)", NULL };
    judge_in_notebook(harmless, 0, out);
    assert_string_equal(out, "");
    static const char *const powerful[] = { "import pickle", "pickle.loads(x)", NULL };
    judge_in_notebook(powerful, 0, out);
    assert_string_equal(out, "py.deserialise 1:8");
    static const char *const unused[] = { "import pickle", "x = 1", NULL };
    judge_in_notebook(unused, 0, out);
    assert_string_equal(out, "py.deserialise 1:8");
}

static void judges_cells_beside_one_that_cannot_be_read(void **state)
{
    (void)state;
    static const char *const cells[] = { "import os as o", "x = ('''\xFF", "o.system('id')", NULL };
    char found[128];
    judge_in_notebook(cells, 2, found);
    assert_string_equal(found, "py.process 1:1");
    judge_in_notebook(cells, 1, found);
    assert_string_equal(found, "source.encoding 1:9");
}

static void denies_each_cell_of_a_program_that_was_not_read(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) small, arena;
    cbx_arena_init(&small, 64 * 1024);
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    CBX_AUTO_DONE(buf) large;
    cbx_buf_init(&large, 1 << 20);
    while (large.len < 100000) {
        cbx_buf_add_cstr(&large, "x = 1\n");
    }
    struct cbx_str texts[] = { CBX_STR("x = 1"), cbx_buf_str(&large) };
    const struct cbx_program *program;
    assert_int_equal(cbx_program_read(policy, texts, 2, 0, &small, &program), 0);
    for (size_t cell = 0; cell < 3; cell++) { /* the third is none of its cells */
        struct cbx_analysis request = {
            .source = texts[0], .language = CBX_STR("ipython"), .program = program, .cell = cell
        };
        char found[128];
        judge(&request, &arena, found);
        assert_string_equal(found, "source.too-complex 1:1");
    }
}

static void denies_behind_a_context_that_is_none(void **state)
{
    (void)state;
    static const struct cbx_str contexts[] = { { "\377\377\377\377x", 5 },
                                               { "\5\0\0\0x", 5 },
                                               { "x", 1 } };
    for (size_t i = 0; i < sizeof(contexts) / sizeof(contexts[0]); i++) {
        CBX_AUTO_DONE(arena) arena;
        cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
        struct cbx_analysis request = { .source = CBX_STR("x = 1"),
                                        .language = CBX_STR("ipython"),
                                        .context = contexts[i] };
        char found[128];
        judge(&request, &arena, found);
        assert_string_equal(found, "session.past 1:1");
    }
}

/* A cell that does not fit into the past denies all cells after it; none is ever left out. */
static void denies_every_cell_behind_a_past_that_is_too_large(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) context;
    cbx_buf_init(&context, 2 * CBX_CONTEXT_MAX_BYTES);
    char cell[1024];
    int added = 0;
    for (int i = 0; i < 2000; i++) {
        int n = snprintf(cell, sizeof(cell), "name%04d = '%0900d'", i, i);
        int failed = cbx_context_add(&context, (struct cbx_str){ .p = cell, .len = (size_t)n });
        assert_int_equal(failed, added < i ? CBX_ETOOBIG : failed);
        added += failed == 0;
        assert_int_equal(cbx_context_is_complete(cbx_buf_str(&context)), failed == 0);
    }
    assert_in_range(added, 1000, 1999);
    assert_memory_equal(context.p + 4, "name0000", 8);
    assert_false(context.overflow);
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    static const char *const languages[] = { "ipython", "javascript", "typescript", "shell" };
    for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++) {
        struct cbx_analysis request = { .source = CBX_STR("x"),
                                        .language = cbx_str_of(languages[i]),
                                        .context = cbx_buf_str(&context) };
        char found[128];
        judge(&request, &arena, found);
        assert_string_equal(found, "session.past 1:1");
    }
}

static void keeps_a_cell_that_is_run_again_once(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) context;
    cbx_buf_init(&context, 2 * CBX_CONTEXT_MAX_BYTES);
    for (int i = 0; i < 100; i++) {
        cbx_context_add(&context, CBX_STR("x += 1"));
        cbx_context_add(&context, CBX_STR("import os as o"));
        cbx_context_add(&context, CBX_STR("print(x)"));
    }
    assert_int_equal(context.len, 3 * 4 + 6 + 14 + 8);
    assert_memory_equal(context.p + 4, "x += 1", 6);
    assert_memory_equal(context.p + context.len - 8, "print(x)", 8);
}

static void a_cell_larger_than_the_past_is_not_passed_over(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) context, large;
    cbx_buf_init(&context, 2 * CBX_CONTEXT_MAX_BYTES);
    cbx_buf_init(&large, 2 * CBX_CONTEXT_MAX_BYTES);
    while (large.len <= CBX_CONTEXT_MAX_BYTES) {
        cbx_buf_add_cstr(&large, "x = 1\n");
    }
    assert_int_equal(cbx_context_add(&context, CBX_STR("y = 2")), 0);
    assert_int_equal(cbx_context_add(&context, cbx_buf_str(&large)), CBX_ETOOBIG);
    assert_false(cbx_context_is_complete(cbx_buf_str(&context)));
    assert_int_equal(cbx_context_add(&context, CBX_STR("z = 3")), CBX_ETOOBIG);
}

static void javascript_cells_are_one_program(void **state)
{
    (void)state;
    static const struct {
        const char *cells[4], *denied;
    } cases[] = {
        { { "var r = require", "r('child_process')" }, "js.process 1:1" },
        { { "const {require: r} = {require}", "r('child_process')" }, "js.process 1:1" },
        { { "var r = require // a comment", "r('child_process')" }, "js.process 1:1" },
        { { "var r = require", "(function () {})", "r('child_process')" }, "js.process 1:1" },
        { { "var r = require", "`text`", "r('child_process')" }, "js.process 1:1" },
        { { "var r = require", "[0]", "r('child_process')" }, "js.process 1:1" },
        { { "function f(x) { return require(x) }", "const y = 1" }, "" },
        { { "const fs = require('fs')", "fs.readFileSync('a.txt')" }, "" },
        { { "let x = 1", "let x = 2", "console.log(x)" }, "" },
        { { "const path = require('path')", "path.join('a', 'b')" }, "" },
    };
    static const char *const languages[] = { "javascript", "typescript" };
    for (size_t i = 0; i < 2 * (sizeof(cases) / sizeof(cases[0])); i++) {
        CBX_AUTO_DONE(buf) context;
        CBX_AUTO_DONE(arena) arena;
        const char *const *cells = cases[i / 2].cells;
        char denied[128];
        cbx_buf_init(&context, 2 * CBX_CONTEXT_MAX_BYTES);
        cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
        for (; cells[1] != NULL; cells++) {
            cbx_context_add(&context, cbx_str_of(cells[0]));
        }
        struct cbx_analysis request = { .source = cbx_str_of(cells[0]),
                                        .language = cbx_str_of(languages[i % 2]),
                                        .context = cbx_buf_str(&context) };
        judge(&request, &arena, denied);
        if (strcmp(denied, cases[i / 2].denied) != 0) {
            fail_msg("%s %zu: '%s' instead of '%s'", languages[i % 2], i / 2, denied,
                     cases[i / 2].denied);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_names_that_earlier_cells_bound),
        cmocka_unit_test(no_earlier_cell_hides_a_finding),
        cmocka_unit_test(gives_each_cell_of_a_notebook_its_own_facts),
        cmocka_unit_test(an_own_function_may_have_the_name_of_a_module),
        cmocka_unit_test(an_import_is_judged_by_its_uses_in_all_cells_of_a_notebook),
        cmocka_unit_test(reads_names_that_later_cells_of_a_notebook_bind),
        cmocka_unit_test(judges_cells_beside_one_that_cannot_be_read),
        cmocka_unit_test(denies_each_cell_of_a_program_that_was_not_read),
        cmocka_unit_test(denies_behind_a_context_that_is_none),
        cmocka_unit_test(denies_every_cell_behind_a_past_that_is_too_large),
        cmocka_unit_test(keeps_a_cell_that_is_run_again_once),
        cmocka_unit_test(a_cell_larger_than_the_past_is_not_passed_over),
        cmocka_unit_test(javascript_cells_are_one_program),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
