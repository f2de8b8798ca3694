/* SPDX-License-Identifier: MIT
 * Notebook syntax: every rewriting, text that stays, and the mapping of places in the rewritten
 * text to the cell. */
#include "analyzer/lang/python/notebook/notebook.h"
#include "tests/unit/unit.h"

struct rewriting {
    const char *cell, *text;
};

static void check(const struct rewriting *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CBX_AUTO_DONE(arena) arena;
        cbx_arena_init(&arena, 1 << 20);
        struct cbx_notebook out;
        assert_int_equal(cbx_notebook_rewrite(cbx_str_of(cases[i].cell), &arena, &out), 0);
        const char *text = cases[i].text != NULL ? cases[i].text : cases[i].cell;
        if (!cbx_str_is(out.text, text)) {
            fail_msg("cell:\n%s\nbecame:\n%.*s\nand should be:\n%s", cases[i].cell,
                     (int)out.text.len, out.text.p, text);
        }
        assert_true((out.magic_count > 0) == (cases[i].text != NULL));
    }
}
#define CHECK(cases) check(cases, sizeof(cases) / sizeof(cases[0]))

static void rewrites_shell_lines(void **state)
{
    (void)state;
    static const struct rewriting cases[] = {
        { "!ls", "get_ipython().system('ls')" },
        { "!ls -la | wc\n", "get_ipython().system('ls -la | wc')\n" },
        { "! ls ", "get_ipython().system('ls')" },
        { "!!id", "get_ipython().getoutput('id')" },
        { "x = !id", "x = get_ipython().getoutput('id')" },
        { "x=!id", "x=get_ipython().getoutput('id')" },
        { "a, b = !id", "a, b = get_ipython().getoutput('id')" },
        { "o.f = !id", "o.f = get_ipython().getoutput('id')" },
        { "if x:\n    !ls\n", "if x:\n    get_ipython().system('ls')\n" },
        { "x = 1\n!ls\ny = 2", "x = 1\nget_ipython().system('ls')\ny = 2" },
        { "!echo 'a' \\'b", "get_ipython().system('echo \\'a\\' \\\\\\'b')" },
        { "!echo \033", "get_ipython().system('echo \\x1b')" },
        { "!echo \xC3\xA9", "get_ipython().system('echo \xC3\xA9')" },
        { "!ls \\\n  -l\nx", "get_ipython().system('ls \\\\\\x0a  -l'\n)\nx" },
        { "!", "get_ipython().system('')" },
    };
    CHECK(cases);
}

static void rewrites_magics(void **state)
{
    (void)state;
    static const struct rewriting cases[] = {
        { "%matplotlib inline", "get_ipython().run_line_magic('matplotlib', 'inline')" },
        { "%pip install x\n", "get_ipython().run_line_magic('pip', 'install x')\n" },
        { "  %time f()", "  get_ipython().run_line_magic('time', 'f()')" },
        { "t = %timeit -o f()", "t = get_ipython().run_line_magic('timeit', '-o f()')" },
        { "%who", "get_ipython().run_line_magic('who', '')" },
        { "%env A=\\\n1", "get_ipython().run_line_magic('env', 'A=\\\\\\x0a1'\n)" },
        { "%%bash\nls\nid", "get_ipython().run_cell_magic('bash', '', 'ls\\x0aid')\n" },
        { "%%script sh -x\nls", "get_ipython().run_cell_magic('script', 'sh -x', 'ls')\n" },
        { "\n  \n%%time\nx = '1'\n",
          "\n\nget_ipython().run_cell_magic('time', '', 'x = \\'1\\'\\x0a')\n" },
        { "%%time", "get_ipython().run_cell_magic('time', '', '')\n" },
    };
    CHECK(cases);
}

static void rewrites_help(void **state)
{
    (void)state;
    static const struct rewriting cases[] = {
        { "print?", "get_ipython().run_line_magic('pinfo', 'print')" },
        { "?print", "get_ipython().run_line_magic('pinfo', 'print')" },
        { "os.path??", "get_ipython().run_line_magic('pinfo', 'os.path')" },
        { "%time?\n", "get_ipython().run_line_magic('pinfo', '%time')\n" },
        { "*int*?", "get_ipython().run_line_magic('pinfo', '*int*')" },
    };
    CHECK(cases);
}

static void leaves_python_alone(void **state)
{
    (void)state;
    static const struct rewriting cases[] = {
        { "", NULL },
        { "x = 1\n", NULL },
        { "x = a % b", NULL },
        { "x = a != b", NULL },
        { "x = (1\n%2)", NULL },
        { "x = [\n!3\n]", NULL },
        { "d = {'a':\n%2}", NULL },
        { "s = '''\n!ls\n%pip\n?x\n'''", NULL },
        { "s = \"\"\"a\\\"\"\"\n!ls\n\"\"\"", NULL },
        { "s = '\\\n!ls'", NULL },
        { "x = a \\\n% b", NULL },
        { "'a' # (\n'b' % c", NULL },
        { "x = '?'", NULL },
        { "f(x)?", NULL }, /* not a name: the parser reports it */
        { "x == !ls", NULL },
        { "f(x = !ls)", NULL },
        { "s = '%%time'\n%%time", "s = '%%time'\nget_ipython().run_line_magic('%time', '')" },
    };
    CHECK(cases);
}

static void comes_back_to_lines_of_its_own_after_strings_and_brackets(void **state)
{
    (void)state;
    static const struct rewriting cases[] = {
        { "s = '''a'''\n!ls", "s = '''a'''\nget_ipython().system('ls')" },
        { "s = '''a\n!no\n'''\n!ls", "s = '''a\n!no\n'''\nget_ipython().system('ls')" },
        { "f(1,\n2)\n!ls", "f(1,\n2)\nget_ipython().system('ls')" },
        { "x = 1 # (\n!ls", "x = 1 # (\nget_ipython().system('ls')" },
        { "x = 1 # '''\n!ls", "x = 1 # '''\nget_ipython().system('ls')" },
        { "x = '('\n!ls", "x = '('\nget_ipython().system('ls')" },
        { "x = r'\\'\n!ls", "x = r'\\'\nget_ipython().system('ls')" },
        { "x = 'it\n!ls", "x = 'it\nget_ipython().system('ls')" },
        { "x = \"\"\n!ls", "x = \"\"\nget_ipython().system('ls')" },
        { "x = 1 # \\\n!ls", "x = 1 # \\\nget_ipython().system('ls')" },
        { ")\n!ls", ")\nget_ipython().system('ls')" },
    };
    CHECK(cases);
}

static void notes_the_fact_of_each_piece(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    struct cbx_notebook out;
    assert_int_equal(
        cbx_notebook_rewrite(CBX_STR("y = !ls -l\n%pip install x\nprint?\n"), &arena, &out), 0);
    assert_int_equal(out.magic_count, 3);
    assert_int_equal(out.magics[0].kind, CBX_MAGIC_SHELL);
    assert_true(cbx_str_is(out.magics[0].body, "ls -l"));
    assert_int_equal(out.magics[0].start, 4);
    assert_int_equal(out.magics[0].end, 10);
    assert_int_equal(out.magics[1].kind, CBX_MAGIC_LINE);
    assert_true(cbx_str_is(out.magics[1].name, "pip"));
    assert_true(cbx_str_is(out.magics[1].rest, "install x"));
    assert_int_equal(out.magics[2].kind, CBX_MAGIC_HELP);
    assert_int_equal(cbx_notebook_rewrite(CBX_STR("%%bash -e\nls\n"), &arena, &out), 0);
    assert_int_equal(out.magics[0].kind, CBX_MAGIC_CELL);
    assert_true(cbx_str_is(out.magics[0].name, "bash"));
    assert_true(cbx_str_is(out.magics[0].rest, "-e"));
    assert_true(cbx_str_is(out.magics[0].body, "ls\n"));
}

static void maps_places_back(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    static const char cell[] = "a = 1\n!ls\nbb = 2\n  %time f()\nccc = 3\nx = !id\ndddd = 4\n";
    struct cbx_notebook out;
    assert_int_equal(cbx_notebook_rewrite(cbx_str_of(cell), &arena, &out), 0);
    static const char *const words[] = { "a =", "bb =", "ccc =", "dddd =", "x =" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const char *there = memmem(out.text.p, out.text.len, words[i], strlen(words[i]));
        assert_non_null(there);
        uint32_t place =
            cbx_notebook_place(out.magics, out.magic_count, (uint32_t)(there - out.text.p));
        assert_int_equal(place, strstr(cell, words[i]) - cell);
    }
    for (size_t i = 0; i < out.magic_count;
         i++) { /* every place in a rewritten piece maps to the start of the piece */
        const struct cbx_magic *m = &out.magics[i];
        assert_int_equal(cbx_notebook_place(out.magics, out.magic_count, m->text_start), m->start);
        assert_int_equal(cbx_notebook_place(out.magics, out.magic_count, m->text_end - 1),
                         m->start);
        assert_int_equal(cbx_notebook_place(out.magics, out.magic_count, m->text_end), m->end);
        assert_int_equal(cbx_notebook_part(out.magics, out.magic_count, m->text_start, m->text_end),
                         CBX_PART_LINE);
        assert_int_equal(
            cbx_notebook_part(out.magics, out.magic_count, m->text_start, m->text_end + 1),
            CBX_PART_PYTHON);
    }
}

static void keeps_lines_on_their_lines(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    struct cbx_notebook out;
    assert_int_equal(
        cbx_notebook_rewrite(CBX_STR("!a \\\n b \\\n c\nx = !d \\\n e\nlast = 1"), &arena, &out),
        0);
    const char *last = memmem(out.text.p, out.text.len, "last", 4);
    size_t lines = 0;
    for (const char *p = out.text.p; p < last; p++) {
        lines += *p == '\n';
    }
    assert_int_equal(lines, 5);
}

static void reports_exhausted_memory(void **state)
{
    (void)state;
    static char cell[3 * 9000];
    for (size_t i = 0; i < sizeof(cell); i += 3) {
        memcpy(cell + i, "!x\n", 3);
    }
    CBX_AUTO_DONE(arena) large, small;
    cbx_arena_init(&large, 64 << 20);
    cbx_arena_init(&small, 4096);
    struct cbx_notebook out;
    assert_int_equal(cbx_notebook_rewrite((struct cbx_str){ cell, 3 * 1000 }, &large, &out), 0);
    assert_int_equal(cbx_notebook_rewrite((struct cbx_str){ cell, 3 * 1000 }, &small, &out),
                     CBX_ETOOBIG);
    assert_int_equal(cbx_notebook_rewrite((struct cbx_str){ cell, sizeof(cell) }, &large, &out),
                     CBX_ETOOBIG); /* too many */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rewrites_shell_lines),
        cmocka_unit_test(rewrites_magics),
        cmocka_unit_test(rewrites_help),
        cmocka_unit_test(leaves_python_alone),
        cmocka_unit_test(comes_back_to_lines_of_its_own_after_strings_and_brackets),
        cmocka_unit_test(notes_the_fact_of_each_piece),
        cmocka_unit_test(maps_places_back),
        cmocka_unit_test(keeps_lines_on_their_lines),
        cmocka_unit_test(reports_exhausted_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
