/* SPDX-License-Identifier: MIT
 * The program that runs in place of notebook lines: expanded names, known values, and the text that
 * the decision seals. */
#include "analyzer/analyze.h"
#include "analyzer/past/past.h"
#include "analyzer/past/program.h"
#include "tests/unit/unit.h"

static struct cbx_policy *policy;

static int set_up(void **state)
{
    (void)state;
    struct cbx_err err;
    return cbx_policy_load("permissive", &policy, &err);
}

static int tear_down(void **state)
{
    (void)state;
    cbx_policy_free(policy);
    return 0;
}

static void check(const struct cbx_analysis *request, struct cbx_arena *arena, const char *expected)
{
    struct cbx_decision d;
    struct cbx_err err;
    assert_int_equal(cbx_analyze(policy, request, arena, &d, &err), 0);
    if (!cbx_str_is(d.text, expected)) {
        fail_msg("cell:\n%.*s\nruns as:\n%.*s\nand should run as:\n%s",
                 CBX_STR_ARG(request->source), CBX_STR_ARG(d.text), expected);
    }
    struct cbx_sha256 sha256 = cbx_sha256_of(cbx_str_of(expected));
    assert_memory_equal(&d.sha256, &sha256, sizeof(sha256));
}

/* The text that runs for a cell behind the cell `before` (NULL: none). */
static void runs(const char *before, const char *cell, const char *expected)
{
    CBX_AUTO_DONE(arena) arena;
    CBX_AUTO_DONE(past) past;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    cbx_past_begin(&past, &(struct cbx_sha256){ 0 });
    if (before != NULL) {
        cbx_past_add_cell(&past, cbx_str_of(before));
    }
    struct cbx_analysis request = { .source = cbx_str_of(cell),
                                    .language = CBX_STR("ipython"),
                                    .past = &past };
    check(&request, &arena, expected);
}

#define READ            "d = open('f').read()\n"
#define SHELL(argument) "get_ipython().system(get_ipython().expand(" argument "))"

static void a_value_that_is_not_known_is_quoted(void **state)
{
    (void)state;
    runs(NULL, READ "!ls {d}", READ SHELL("'ls ', ((d), '', 'word'), ''"));
    runs(NULL, READ "!ls $d", READ SHELL("'ls ', ((d), '', 'word'), ''"));
    runs(NULL, READ "!ls '{d}' \"{d}\"",
         READ SHELL("'ls \\'', ((d), '', 'single'), '\\' \"', ((d), '', 'double'), '\"'"));
    runs(NULL, READ "!ls `echo {d}`", READ SHELL("'ls `echo ', ((d), '', 'refused'), '`'"));
    runs(NULL, READ "!ls {d!r}", READ SHELL("'ls ', ((d), 'r', 'word'), ''"));
    runs(NULL, READ "%cd {d}",
         READ
         "get_ipython().run_line_magic('cd', get_ipython().expand('', ((d), '', 'text'), ''))");
    runs(NULL, READ "%pip install {d}",
         READ "get_ipython().run_line_magic('pip', get_ipython().expand('install ', ((d), '', "
              "'word'), ''))");
}

static void a_value_that_is_known_is_sealed(void **state)
{
    (void)state;
    runs(NULL, "d = 'a b'\n!ls {d}", "d = 'a b'\n" SHELL("'ls ', ((d), '', 'text', 'a b'), ''"));
    runs("d = 'a b'", "!ls {d}", SHELL("'ls ', ((d), '', 'text', 'a b'), ''"));
    runs("d = 'a'\nd = 'b'", "!ls {d}", SHELL("'ls ', ((d), '', 'word'), ''"));
    runs(NULL, "q = \"'\"\n" READ "!ls {q}{d}'",
         "q = \"'\"\n" READ SHELL(
             "'ls ', ((q), '', 'text', '\\''), '', ((d), '', 'single'), '\\''"));
}

static void a_value_that_no_literal_can_hold_is_quoted(void **state)
{
    (void)state;
    runs(NULL, "d = 'a' * 5000\n!ls {d}", "d = 'a' * 5000\n" SHELL("'ls ', ((d), '', 'word'), ''"));
    runs(NULL, "d = 'a\\0b'\n!ls {d}", "d = 'a\\0b'\n" SHELL("'ls ', ((d), '', 'word'), ''"));
}

static void a_line_with_a_name_that_does_not_exist_stays(void **state)
{
    (void)state;
    runs(NULL, "!echo $HOME", "get_ipython().system('echo $HOME')");
    runs(NULL, "!mkdir -p {raw,clean}", "get_ipython().system('mkdir -p {raw,clean}')");
    runs(NULL, "x = 1\n!echo {x} $HOME", "x = 1\nget_ipython().system('echo {x} $HOME')");
    runs("x = 1", "!echo {x}", SHELL("'echo ', ((x), '', 'word'), ''"));
    runs(NULL, "!echo {len('a')} $_",
         SHELL("'echo ', ((len('a')), '', 'word'), ' ', ((_), '', 'word'), ''"));
    runs(NULL, "!echo {[y for y in 'ab']}",
         SHELL("'echo ', (([y for y in 'ab']), '', 'word'), ''"));
    runs(NULL, "def f(a):\n    !ls {a}\n",
         "def f(a):\n    " SHELL("'ls ', ((a), '', 'word'), ''") "\n");
    runs(NULL, "def f(a): return a\n!ls {a}", "def f(a): return a\nget_ipython().system('ls {a}')");
}

static void the_interpreter_is_a_word_of_the_program(void **state)
{
    (void)state;
    runs(NULL, "import sys\nsys.executable = 'x'\n!{sys.executable} -V",
         "import sys\nsys.executable = 'x'\n" SHELL("'', 'python3', ' -V'"));
}

static void code_inside_a_line_is_rewritten(void **state)
{
    (void)state;
    runs(NULL, "%time !ls",
         "get_ipython().run_line_magic('time', 'get_ipython().system(\\'ls\\')')");
    runs("d = input()", "%%time\n!ls {d}\n",
         "get_ipython().run_cell_magic('time', '', "
         "'get_ipython().system(get_ipython().expand(\\'ls \\', ((d), \\'\\', \\'word\\'), "
         "\\'\\'))\\x0a')\n");
    runs(NULL, "%%capture out\n%matplotlib inline",
         "get_ipython().run_cell_magic('capture', 'out', "
         "'get_ipython().run_line_magic(\\'matplotlib\\', \\'inline\\')')\n");
    runs(NULL, "%timeit -n 2 -r1 f('{x}')",
         "get_ipython().run_line_magic('timeit', '-n 2 -r1 f(\\'{x}\\')')");
    runs(NULL, "%%bash\necho {a}", "get_ipython().run_cell_magic('bash', '', 'echo {a}')\n");
}

static void a_configuration_gets_a_value(void **state)
{
    (void)state;
    runs(NULL, "%config InlineBackend.rc = {'figure.dpi': 80}",
         "get_ipython().configure('InlineBackend.rc', ({'figure.dpi': 80}))");
    runs(NULL, "%config InlineBackend.figure_format",
         "get_ipython().run_line_magic('config', 'InlineBackend.figure_format')");
}

static void cells_of_a_notebook_share_their_names(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    const struct cbx_str cells[] = { CBX_STR("d = 'a'"), CBX_STR("!ls {d} {d}") };
    const struct cbx_program *program;
    assert_int_equal(cbx_program_read(policy, cells, 2, 0, &arena, &program), 0);
    for (int again = 0; again < 2; again++) { /* a program serves any number of analyses */
        struct cbx_analysis request = {
            .source = cells[1], .language = CBX_STR("ipython"), .program = program, .cell = 1
        };
        check(&request, &arena,
              SHELL("'ls ', ((d), '', 'text', 'a'), ' ', ((d), '', 'text', 'a'), ''"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_that_is_not_known_is_quoted),
        cmocka_unit_test(a_value_that_is_known_is_sealed),
        cmocka_unit_test(a_value_that_no_literal_can_hold_is_quoted),
        cmocka_unit_test(a_line_with_a_name_that_does_not_exist_stays),
        cmocka_unit_test(the_interpreter_is_a_word_of_the_program),
        cmocka_unit_test(code_inside_a_line_is_rewritten),
        cmocka_unit_test(a_configuration_gets_a_value),
        cmocka_unit_test(cells_of_a_notebook_share_their_names),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
