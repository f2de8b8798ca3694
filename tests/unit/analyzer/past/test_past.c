/* SPDX-License-Identifier: MIT
 * Sessions and notebooks: a name that a cell binds has its meaning in the next cell, and no cell
 * can hide the effect of another. */
#include "analyzer/past/program.h"
#include "tests/unit/analyzer/past_rig.h"

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
    CBX_AUTO_DONE(past) past;
    cbx_past_begin(&past, &(struct cbx_sha256){ 0 });
    size_t last = 0;
    for (; cells[last + 1] != NULL; last++) {
        cbx_past_add_cell(&past, cbx_str_of(cells[last]));
    }
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_analysis request = { .source = cbx_str_of(cells[last]),
                                    .language = CBX_STR("ipython"),
                                    .past = &past };
    judge(&request, &arena, out);
    char other[128];
    judge_in_notebook(cells, last, other);
    assert_string_equal(other, out);
    CBX_AUTO_DONE(past) summarised;
    cbx_past_begin(&summarised, &(struct cbx_sha256){ 0 });
    for (size_t i = 0; i < last; i++) {
        add_judged(&summarised, "ipython", cells[i]);
    }
    request.past = &summarised;
    judge(&request, &arena, other);
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

/* A cell that is denied alone is denied after any cell, whatever its end. */
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

/* Facts of a cell about a name that it does not bind hold only until the other cells are read. */
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

static void denies_behind_bytes_that_are_no_past(void **state)
{
    (void)state;
    struct cbx_err err;
    CBX_AUTO_DONE(past) good;
    CBX_AUTO_DONE(buf) bytes;
    cbx_past_begin(&good, &(struct cbx_sha256){ 0 });
    cbx_past_add_cell(&good, CBX_STR("import os as o"));
    cbx_past_add(&good, &(struct cbx_entry){ CBX_ENTRY_FILE, CBX_STR("python"), CBX_STR("a.py"),
                                             CBX_STR("import os") });
    cbx_buf_init(&bytes, CBX_PAST_BYTES_MAX);
    cbx_past_write(&good, &bytes);
    for (size_t len = 0; len <= bytes.len; len++) {
        CBX_AUTO_DONE(past) past = { 0 };
        CBX_AUTO_DONE(arena) arena;
        cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
        struct cbx_analysis request = { .source = CBX_STR("x = 1"),
                                        .language = CBX_STR("ipython"),
                                        .past = &past };
        int failed = cbx_past_read(cbx_str_sub(cbx_buf_str(&bytes), 0, len), &past, &err);
        char found[128];
        judge(&request, &arena, found);
        assert_int_equal(failed, len < bytes.len ? CBX_EPROTO : 0);
        assert_string_equal(found, len < bytes.len ? "session.past 1:1" : "");
    }
}

/* The ledger covers every entry, also entries that the past stores once or drops. */
static void is_the_same_after_it_was_written_and_read(void **state)
{
    (void)state;
    struct cbx_err err;
    CBX_AUTO_DONE(past) past;
    cbx_past_begin(&past, &(struct cbx_sha256){ { 1 } });
    struct cbx_sha256 ledger = past.ledger;
    const struct cbx_entry entries[] = {
        { CBX_ENTRY_CELL, CBX_STR("ipython"), CBX_STR(""), CBX_STR("x = 1") },
        { CBX_ENTRY_FILE, CBX_STR("python"), CBX_STR("lib/a.py"), CBX_STR("y = 1") },
        { CBX_ENTRY_CELL, CBX_STR("ipython"), CBX_STR(""), CBX_STR("x = 1") },
        { CBX_ENTRY_RESET, CBX_STR(""), CBX_STR(""), CBX_STR("") },
        { CBX_ENTRY_CELL, CBX_STR("ipython"), CBX_STR(""), CBX_STR("z = 1") },
    };
    static const size_t kept[] = { 1, 2, 2, 1, 2 };
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        struct cbx_sha256 hash = cbx_entry_hash(&entries[i]);
        ledger = cbx_ledger_add(&ledger, &hash);
        cbx_past_add(&past, &entries[i]);
        CBX_AUTO_DONE(buf) bytes;
        CBX_AUTO_DONE(past) copy = { 0 };
        cbx_buf_init(&bytes, CBX_PAST_BYTES_MAX);
        cbx_past_write(&past, &bytes);
        assert_int_equal(cbx_past_read(cbx_buf_str(&bytes), &copy, &err), 0);
        assert_true(cbx_sha256_equal(&copy.ledger, &ledger));
        assert_int_equal(cbx_past_count(&copy), kept[i]);
        assert_true(cbx_past_is_complete(&copy));
    }
}

/* A cell that does not fit into the past denies all cells after it; no cell is left out. Only a
 * reset, which undoes the effects of the cells, makes the past complete again. */
static void denies_every_cell_behind_a_past_that_is_too_large(void **state)
{
    (void)state;
    CBX_AUTO_DONE(past) past;
    cbx_past_begin(&past, &(struct cbx_sha256){ 0 });
    char cell[1024];
    int added = 0;
    for (int i = 0; i < 2000; i++) {
        int n = snprintf(cell, sizeof(cell), "name%04d = '%0900d'", i, i);
        cbx_past_add_cell(&past, (struct cbx_str){ .p = cell, .len = (size_t)n });
        added += cbx_past_is_complete(&past);
    }
    assert_in_range(added, 1000, 1999);
    assert_int_equal(cbx_past_count(&past), added);
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    static const char *const languages[] = { "ipython", "javascript", "typescript", "shell" };
    for (int reset = 0; reset < 2; reset++) {
        for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++) {
            struct cbx_analysis request = { .source = CBX_STR("x"),
                                            .language = cbx_str_of(languages[i]),
                                            .past = &past };
            char found[128];
            judge(&request, &arena, found);
            if (reset == 0 || strcmp(found, "") != 0) {
                assert_int_equal(reset == 0, strcmp(found, "session.past 1:1") == 0);
            }
        }
        cbx_past_add(&past, &(struct cbx_entry){ .kind = CBX_ENTRY_RESET });
    }
}

static void keeps_a_cell_that_is_run_again_once(void **state)
{
    (void)state;
    CBX_AUTO_DONE(past) past;
    cbx_past_begin(&past, &(struct cbx_sha256){ 0 });
    for (int i = 0; i < 100; i++) {
        cbx_past_add_cell(&past, CBX_STR("x += 1"));
        cbx_past_add_cell(&past, CBX_STR("import os as o"));
        cbx_past_add_cell(&past, CBX_STR("print(x)"));
    }
    assert_int_equal(cbx_past_count(&past), 3);
}

static void a_cell_larger_than_the_past_is_not_passed_over(void **state)
{
    (void)state;
    CBX_AUTO_DONE(past) past;
    CBX_AUTO_DONE(buf) large;
    cbx_past_begin(&past, &(struct cbx_sha256){ 0 });
    cbx_buf_init(&large, 2 * CBX_PAST_MAX_BYTES);
    while (large.len <= CBX_PAST_MAX_BYTES) {
        cbx_buf_add_cstr(&large, "x = 1\n");
    }
    cbx_past_add_cell(&past, CBX_STR("y = 2"));
    assert_true(cbx_past_is_complete(&past));
    cbx_past_add_cell(&past, cbx_buf_str(&large));
    assert_false(cbx_past_is_complete(&past));
    cbx_past_add_cell(&past, CBX_STR("z = 3"));
    assert_false(cbx_past_is_complete(&past));
}

/* The files stay in the workspace, so a reset cannot remove one that is missing here. */
static void a_file_that_does_not_fit_is_denied(void **state)
{
    (void)state;
    CBX_AUTO_DONE(past) past;
    CBX_AUTO_DONE(buf) large;
    CBX_AUTO_DONE(arena) arena;
    char found[128];
    cbx_past_begin(&past, &(struct cbx_sha256){ 0 });
    cbx_buf_init(&large, 2 * CBX_PAST_MAX_BYTES);
    while (large.len <= 600 * 1024) {
        cbx_buf_add_cstr(&large, "# 1\n");
    }
    struct cbx_entry file = { CBX_ENTRY_FILE, CBX_STR("python"), CBX_STR("a.py"),
                              cbx_buf_str(&large) };
    struct cbx_analysis request = {
        .source = file.text, .language = file.language, .path = CBX_STR("b.py"), .past = &past
    };
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    judge(&request, &arena, found);
    assert_string_equal(found, "");
    cbx_past_add(&past, &file);
    judge(&request, &arena, found);
    assert_string_equal(found, "session.past 1:1");
    cbx_past_add(&past, &(struct cbx_entry){ .kind = CBX_ENTRY_RESET });
    judge(&request, &arena, found);
    assert_string_equal(found, "session.past 1:1");
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
        { { "function f(x) { return x + 1 }", "const y = 1" }, "" },
        { { "const fs = require('fs')", "fs.readFileSync('a.txt')" }, "" },
        { { "let x = 1", "let x = 2", "console.log(x)" }, "" },
        { { "const path = require('path')", "path.join('a', 'b')" }, "" },
    };
    static const char *const languages[] = { "javascript", "typescript" };
    for (size_t i = 0; i < 2 * (sizeof(cases) / sizeof(cases[0])); i++) {
        CBX_AUTO_DONE(past) past;
        CBX_AUTO_DONE(arena) arena;
        const char *const *cells = cases[i / 2].cells;
        char denied[128];
        cbx_past_begin(&past, &(struct cbx_sha256){ 0 });
        cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
        for (; cells[1] != NULL; cells++) {
            add_judged(&past, languages[i % 2], cells[0]);
        }
        struct cbx_analysis request = { .source = cbx_str_of(cells[0]),
                                        .language = cbx_str_of(languages[i % 2]),
                                        .past = &past };
        judge(&request, &arena, denied);
        if (strcmp(denied, cases[i / 2].denied) != 0) {
            fail_msg("%s %zu: '%s' instead of '%s'", languages[i % 2], i / 2, denied,
                     cases[i / 2].denied);
        }
    }
}

/* A text that is harmless in one language may be harmful in another. */
static void files_are_loaded_in_the_language_that_they_were_judged_in(void **state)
{
    (void)state;
    CBX_AUTO_DONE(past) past;
    CBX_AUTO_DONE(buf) files;
    cbx_past_begin(&past, &(struct cbx_sha256){ 0 });
    cbx_buf_init(&files, 1024);
    static const struct {
        const char *language, *path;
    } entries[] = { { "python", "a.py" }, { "javascript", "a.js" }, { "c", "a.h" } };
    for (size_t i = 0; i < 3; i++) {
        cbx_past_add(&past, &(struct cbx_entry){ CBX_ENTRY_FILE, cbx_str_of(entries[i].language),
                                                 cbx_str_of(entries[i].path),
                                                 cbx_str_of(entries[i].path) });
    }
    static const char *const languages[][2] = {
        { "ipython", "a.py" },    { "python", "a.py" }, { "javascript", "a.js" },
        { "typescript", "a.js" }, { "c", "a.h" },       { "shell", NULL },
    };
    for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++) {
        char hex[CBX_SHA256_HEX + 1] = "";
        if (languages[i][1] != NULL) {
            struct cbx_sha256 hash = cbx_sha256_of(cbx_str_of(languages[i][1]));
            cbx_sha256_hex(&hash, hex);
        }
        cbx_buf_reset(&files);
        cbx_past_list_files(&past, cbx_str_of(languages[i][0]), &files);
        assert_string_equal(files.p, hex);
    }
}

/* --- files and cells are one program ---------------------------------------------------------- */

/* Judges the last of the parts behind the others. */
static void judge_parts(const char *language, const struct part *parts, bool summarises,
                        char out[128])
{
    CBX_AUTO_DONE(past) past;
    CBX_AUTO_DONE(arena) arena;
    cbx_past_begin(&past, &(struct cbx_sha256){ 0 });
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    for (;; parts++) {
        bool is_file = parts->path != NULL;
        struct cbx_str text = cbx_str_of(parts->text);
        struct cbx_str name = cbx_str_of(is_file ? parts->path : "");
        struct cbx_str own = cbx_str_of(!is_file                             ? language
                                        : cbx_str_ends(name, CBX_STR(".py")) ? "python"
                                        : cbx_str_ends(name, CBX_STR(".ts")) ? "typescript"
                                        : cbx_str_ends(name, CBX_STR(".h"))  ? "c"
                                        : cbx_str_ends(name, CBX_STR(".sh")) ? "shell"
                                                                             : "javascript");
        if (parts[1].text == NULL) {
            struct cbx_analysis request = {
                .source = text, .language = own, .path = name, .past = &past
            };
            judge(&request, &arena, out);
            return;
        }
        if (summarises && !is_file) {
            add_judged(&past, language, parts->text);
            continue;
        }
        cbx_past_add(&past, &(struct cbx_entry){ is_file ? CBX_ENTRY_FILE : CBX_ENTRY_CELL, own,
                                                 name, text });
    }
}

struct parts_case {
    struct part parts[5];
    const char *denied;
};

static void check_parts(const char *language, const struct parts_case *cases, size_t count)
{
    int wrong = 0;
    for (size_t i = 0; i < 2 * count; i++) {
        char denied[128];
        const struct parts_case *c = &cases[i / 2];
        judge_parts(language, c->parts, i % 2 != 0, denied);
        if (strcmp(denied, c->denied) != 0) {
            printf("%s %zu%s (%s): '%s' instead of '%s'\n", language, i / 2,
                   i % 2 != 0 ? " summarised" : "", c->parts[0].text, denied, c->denied);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void python_files_and_cells_are_one_program(void **state)
{
    (void)state;
    static const struct parts_case cases[] = {
        { { { "helper.py", "import os as o" }, { NULL, "import helper\nhelper.o.system('id')" } },
          "py.process 2:1" },
        { { { "helper.py", "import os as o" },
            { NULL, "import helper as h" },
            { NULL, "h.o.popen('id')" } },
          "py.process 1:1" },
        { { { "helper.py", "import os as o" },
            { NULL, "from helper import o as q\nq.system('id')" } },
          "py.process 2:1" },
        { { { "helper.py", "import os as o" }, { NULL, "from helper import *\no.system('id')" } },
          "py.process 2:1" },
        { { { "helper.py", "import os as o" },
            { NULL, "import importlib\nx = importlib.import_module('helper').o\nx.system('id')" } },
          "py.process 3:1" },
        { { { "a/b.py", "import os as o" }, { NULL, "import a.b\na.b.o.system('id')" } },
          "py.process 2:1" },
        { { { "a/b.py", "import os as o" }, { NULL, "from a import b\nb.o.system('id')" } },
          "py.process 2:1" },
        { { { "helper.py", "import os\ndef f():\n    return os" },
            { NULL, "import helper\nhelper.f().system('id')" } },
          "py.process 2:1" },
        { { { "helper.py", "class C:\n    import os" },
            { NULL, "import helper\nhelper.C.os.system('id')" } },
          "py.process 2:1" },
        { { { "a.py", "import os as o" },
            { "b.py", "import a\np = a.o" },
            { NULL, "import b\nb.p.system('id')" } },
          "py.process 2:1" },
        { { { "a.py", "import os as o" }, { "b.py", "import a\na.o.system('id')" } },
          "py.process 2:1" },
        /* the other direction: a cell assigns a callable that a file runs */
        { { { "helper.py", "def f(m):\n    return m.system('id')" },
            { NULL, "import os, helper\nhelper.f(os)" } },
          "py.process 1:1" },
        { { { NULL, "import json, os\njson.extra = os" },
            { "helper.py", "import json\njson.extra.system('id')" } },
          "py.process 2:1" },
        /* names of a file are its own */
        { { { "helper.py", "def eval(x):\n    return x" }, { NULL, "eval(input())" } },
          "py.dynamic-code 1:1" },
        { { { "helper.py", "os = None\nopen = 1" }, { NULL, "import os\nos.system('id')" } },
          "py.process 2:1" },
        { { { "helper.py", "import os\ndef read(p):\n    return os.path.join(p, 'x')" },
            { NULL, "import helper\nhelper.read('a')" },
            { NULL, "import json\njson.dumps({})" } },
          "" },
        { { { "pkg/__init__.py", "from .core import add" },
            { "pkg/core.py", "def add(a, b): return a + b" },
            { NULL, "from pkg import add\nprint(add(1, 2))" } },
          "" },
        { { { "helper.py", "import numpy as np\ndef load(p): return np.array([p])" },
            { NULL, "import helper, numpy as np\nnp.mean(helper.load(3))" } },
          "" },
    };
    check_parts("ipython", cases, sizeof(cases) / sizeof(cases[0]));
}

static void javascript_files_and_cells_are_one_program(void **state)
{
    (void)state;
    static const struct parts_case cases[] = {
        { { { "a.js", "exports.r = require" }, { NULL, "require('./a.js').r('child_process')" } },
          "js.process 1:1" },
        { { { "a.js", "module.exports = require" },
            { NULL, "const r = require('./a')\nr('child_process')" } },
          "js.process 2:1" },
        { { { "a.js", "exports.r = require" },
            { NULL, "const { r } = require('./a.js')\nr('child_process')" } },
          "js.process 2:1" },
        { { { "a.mjs", "export const r = require" },
            { NULL, "import { r } from './a.mjs'\nr('child_process')" } },
          "js.process 2:1" },
        { { { "a.mjs", "const x = require\nexport { x as r }" },
            { NULL, "import { r as q } from './a.mjs'\nq('child_process')" } },
          "js.dynamic-code 1:1" },
        { { { "a.mjs", "export default require" },
            { NULL, "import r from './a.mjs'\nr('child_process')" } },
          "js.dynamic-code 1:1" },
        { { { "a.js", "exports.f = (r, n) => r(n)" },
            { NULL, "require('./a.js').f(require, 'child_process')" } },
          "js.process 1:1" },
        { { { "a.js", "var require = 1" }, { NULL, "require('child_process')" } },
          "js.process 1:1" },
        { { { "a.js", "const x = 1\nexports.add = (a, b) => a + b + x" },
            { NULL, "const x = 2" },
            { NULL, "const { add } = require('./a.js')\nconsole.log(add(x, 2))" } },
          "" },
    };
    check_parts("javascript", cases, sizeof(cases) / sizeof(cases[0]));
}

static void c_files_and_sources_are_one_program(void **state)
{
    (void)state;
    static const struct parts_case cases[] = {
        { { { "y.h", "#define Q(a, b) a##b" },
            { NULL, "#include <stdlib.h>\n#include \"y.h\"\nint main(void) { return Q(sys, "
                    "tem)(\"id\"); }" } },
          "sh.command 3:27" },
        { { { "lib/y.h", "#define Q(a, b) a##b" },
            { "z.h", "#include \"lib/y.h\"" },
            { NULL, "#include \"z.h\"\nint main(void) { return Q(sys, tem)(\"id\"); }" } },
          "sh.command 2:27" },
        { { { "y.h", "#ifndef Y\n#define Y\n#define Q(a, b) a##b\n#endif" },
            { "y.h", "#ifndef Y\n#define Y\n#define Q(a, b) 0\n#endif" },
            { NULL, "#include \"y.h\"\nint main(void) { return Q(sys, tem)(\"id\"); }" } },
          "sh.command 2:27" },
        { { { "y.h", "#include \"y.h\"" },
            { NULL, "#include \"y.h\"\nint main(void) { return 0; }" } },
          "" },
        { { { "y.h", "#ifndef Y\n#define Y\n#include \"y.h\"\n#define X 1\n#endif" },
            { NULL, "#include \"y.h\"\nint main(void) { return X; }" } },
          "" },
        { { { "y.h", "static int add(int a, int b) { return a + b; }" },
            { NULL, "#include <stdio.h>\n#include \"y.h\"\nint main(void) { printf(\"%d\", add(1, "
                    "2)); }" } },
          "" },
    };
    check_parts("c", cases, sizeof(cases) / sizeof(cases[0]));
}

static void shell_cells_and_files_are_one_program(void **state)
{
    (void)state;
    static const struct parts_case cases[] = {
        /* values of earlier cells are possible, never certain */
        { { { NULL, "x=1" }, { NULL, "x=$((x + 1))" }, { NULL, "echo $((x * 2))" } }, "" },
        { { { NULL, "read -r x < f" }, { NULL, "echo $((x))" } }, "sh.evaluated 1:9" },
        { { { NULL, "x=1" }, { NULL, "read -r x < f" }, { NULL, "y=$((x))" } },
          "sh.evaluated 1:6" },
        { { { NULL, "y=$(cat f)" }, { NULL, "x=$y" }, { NULL, "echo $((x))" } },
          "sh.evaluated 1:9" },
        { { { NULL, "read -r x < f; [[ $x =~ ^[0-9]+$ ]] || exit" }, { NULL, "echo $((x))" } },
          "sh.evaluated 1:9" },
        { { { NULL, "x='-exec id ;'" }, { NULL, "find . $x" } }, "sh.option 1:8" },
        { { { NULL, "c=ls" }, { NULL, "$c" } }, "sh.command 1:1" },
        { { { NULL, "c=id" }, { NULL, "c=ls\n$c" } }, "sh.command 2:1" },
        { { { NULL, "c=ls" }, { NULL, "c=ls\n$c" } }, "" },
        { { { NULL, "readonly c=id" }, { NULL, "c=ls\n$c" } }, "sh.command 2:1" },
        { { { NULL, "trap 'c=id' DEBUG" }, { NULL, "c=ls\n$c" } }, "sh.command 2:1" },
        { { { NULL, "f() { c=id; }; trap f DEBUG" }, { NULL, "c=ls\n$c" } }, "sh.command 2:1" },
        { { { NULL, "declare -i n" }, { NULL, "read -r x < f\nn=$x" } }, "sh.evaluated 2:3" },
        { { { NULL, "declare -n c=d" }, { NULL, "d=id" }, { NULL, "c=ls\nd=id\n$c" } },
          "sh.command 3:1" },
        { { { NULL, "IFS=x" }, { NULL, "c=lsxid\nfind . $c" } }, "sh.option 2:8" },
        { { { NULL, "IFS=x" }, { NULL, "c=idxls\n$c" } }, "sh.command 2:1" },
        { { { NULL, "set -- -exec id" }, { NULL, "find . \"$@\"" } }, "sh.option 1:8" },
        { { { NULL, "a=(1 2)" }, { NULL, "a[1]=$(cat f)" }, { NULL, "echo $((a[1]))" } },
          "sh.evaluated 1:9" },
        { { { NULL, "a=(1 2)" }, { NULL, "echo $((a[1] + 1))" } }, "" },
        /* the cell before may have ended before it declared m */
        { { { NULL, "exit; declare -A m" }, { NULL, "read -r k < f; m[$k]=1" } },
          "sh.evaluated 1:18" },
        { { { NULL, "a=(-exec id)" }, { NULL, "find . \"${a[@]}\"" } }, "sh.option 1:8" },
        /* functions, with the values that their cell or a later one gives them */
        { { { NULL, "greet() { echo \"Hello, $1\"; }" }, { NULL, "greet World" } }, "" },
        { { { NULL, "twice() { echo $(($1 * 2)); }" }, { NULL, "twice 4" } }, "" },
        { { { NULL, "twice() { echo $(($1 * 2)); }" }, { NULL, "twice \"$(cat f)\"" } },
          "sh.evaluated 1:1" },
        { { { NULL, "dir=data\nlist() { find $dir -name '*.csv'; }" },
            { NULL, "dir='-exec id ;'" },
            { NULL, "list" } },
          "sh.option 1:1" },
        { { { NULL, "dir=data\nlist() { find $dir -name '*.csv'; }" }, { NULL, "list" } }, "" },
        { { { NULL, "a() { b; }; b() { ls; }" }, { NULL, "a" } }, "" },
        { { { NULL, "f() { ls; }" }, { NULL, "unset -f f" }, { NULL, "f" } }, "sh.command 1:1" },
        /* the name of a program may run the program */
        { { { NULL, "exit\nid() { ls; }" }, { NULL, "id" } }, "sh.command 1:1" },
        { { { NULL, "exit\npython3() { ls; }" }, { NULL, "python3" } }, "sh.command 1:1" },
        { { { NULL, "( f() { ls; } )" }, { NULL, "f" } }, "sh.command 1:1" },
        /* no cell takes the next one into itself */
        { { { NULL, "ls \\" }, { NULL, "id" } }, "sh.command 1:1" },
        { { { NULL, "ls | sort | uniq | head -n 10" }, { NULL, "id || true" } }, "sh.command 1:1" },
        /* files */
        { { { "lib.sh", "greet() { echo \"Hello, $1\"; }\nn=5" },
            { NULL, "source lib.sh\ngreet World\necho $((n + 1))" } },
          "" },
        { { { "lib.sh", "n=5" }, { NULL, ". ./lib.sh" }, { NULL, "echo $((n + 1))" } }, "" },
        { { { "lib.sh", "read -r n < f" }, { NULL, ". ./lib.sh\necho $((n + 1))" } },
          "sh.evaluated 2:9" },
        { { { "lib.sh", "read -r n < f" },
            { NULL, "[[ $n =~ ^[0-9]+$ ]] || exit\n. ./lib.sh\necho $((n + 1))" } },
          "sh.evaluated 3:9" },
        { { { "lib.sh", "c=id" }, { NULL, "c=ls\n. ./lib.sh\n$c" } }, "sh.command 3:1" },
        { { { "lib.sh", "c='-exec id ;'" }, { NULL, "x=.\n. ./lib.sh\nfind . $c" } },
          "sh.option 3:8" },
        { { { "lib.sh", "f() { sort \"$1\"; }" }, { NULL, ". ./lib.sh\nf \"$(cat x)\"" } },
          "sh.option 1:1" },
    };
    check_parts("shell", cases, sizeof(cases) / sizeof(cases[0]));
}

/* A function runs when it is called, so assignments of a later cell count in it. */
static void a_function_of_an_earlier_cell_is_judged_with_what_it_is_given(void **state)
{
    (void)state;
    static const struct parts_case python[] = {
        { { { NULL, "def f(m): return m.system('id')" }, { NULL, "import os" }, { NULL, "f(os)" } },
          "py.process 1:1" },
        { { { NULL, "g = None\ndef f(): return g.system('id')" }, { NULL, "import os as g" } },
          "py.process 1:1" },
        { { { NULL, "class C:\n    def run(self): return self.m.system('id')" },
            { NULL, "import os\nc = C()\nc.m = os" } },
          "py.process 1:1" },
        { { { NULL, "import requests_like\ndef f(): return requests_like.get('x')" },
            { NULL, "f()" } },
          "" },
        { { { NULL, "x = [1]\nx.append(2)" }, { NULL, "import os\nx = os.getcwd()" } }, "" },
        { { { NULL, "def f(a): return a + 1" }, { NULL, "f(2)" }, { NULL, "print(f(3))" } }, "" },
    };
    check_parts("ipython", python, sizeof(python) / sizeof(python[0]));
    static const struct parts_case javascript[] = {
        { { { NULL, "const f = (m) => m.exec('id')" },
            { NULL, "var q = 1" },
            { NULL, "f(require('fs'))" } },
          "" },
        { { { NULL, "const f = (r) => r('child_process')" }, { NULL, "f(require)" } },
          "js.process 1:1" },
    };
    check_parts("javascript", javascript, sizeof(javascript) / sizeof(javascript[0]));
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
        cmocka_unit_test(denies_behind_bytes_that_are_no_past),
        cmocka_unit_test(is_the_same_after_it_was_written_and_read),
        cmocka_unit_test(denies_every_cell_behind_a_past_that_is_too_large),
        cmocka_unit_test(keeps_a_cell_that_is_run_again_once),
        cmocka_unit_test(a_cell_larger_than_the_past_is_not_passed_over),
        cmocka_unit_test(a_file_that_does_not_fit_is_denied),
        cmocka_unit_test(files_are_loaded_in_the_language_that_they_were_judged_in),
        cmocka_unit_test(python_files_and_cells_are_one_program),
        cmocka_unit_test(javascript_files_and_cells_are_one_program),
        cmocka_unit_test(c_files_and_sources_are_one_program),
        cmocka_unit_test(shell_cells_and_files_are_one_program),
        cmocka_unit_test(a_function_of_an_earlier_cell_is_judged_with_what_it_is_given),
        cmocka_unit_test(javascript_cells_are_one_program),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
