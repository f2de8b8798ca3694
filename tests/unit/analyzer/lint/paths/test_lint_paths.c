/* SPDX-License-Identifier: MIT
 * Textual normalisation of paths, and the files that are found in folders. */
#include "analyzer/lint/paths/lint_paths.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <sys/stat.h>

static void makes_paths_normal(void **state)
{
    (void)state;
    static const struct {
        const char *path, *normal;
    } cases[] = {
        { "a.py", "a.py" },
        { "./a.py", "a.py" },
        { "x//y/./a.py", "x/y/a.py" },
        { "x/../a.py", "a.py" },
        { "/w/d/a.py", "a.py" },
        { "/w/da.py", "/w/da.py" },
        { "../a.py", "/w/a.py" },
        { ".", "." },
        { "/w/d/", "." },
        { "../../../..", "/" },
        { "/", "/" },
        { "", "." },
        { "x/../../d/a", "a" },
        { "/etc/x", "/etc/x" },
        { "a\n.py", "a\n.py" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 4096);
        cbx_lint_path_normal(cbx_str_of(cases[i].path), CBX_STR("/w/d"), &out);
        assert_string_equal(out.p, cases[i].normal);
    }
}

static char work[] = "/tmp/cbx-paths-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", work, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void make_folder(const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", work, name);
    assert_int_equal(mkdir(path, 0755), 0);
}

static int set_up(void **state)
{
    (void)state;
    static const char *const folders[] = { "src",  "src/gen",          "src/.git2", "node_modules",
                                           "venv", "src/node_modules", ".git",      ".git/info" };
    assert_non_null(mkdtemp(work));
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        make_folder(folders[i]);
    }
    static const char *const files[] = { "b.py",
                                         "a.js",
                                         "notes.txt",
                                         ".hidden.py",
                                         "src/x.py",
                                         "src/n.ipynb",
                                         "src/gen/g.py",
                                         "src/gen/keep.py",
                                         "src/.git2/y.py",
                                         "node_modules/m.js",
                                         "venv/v.py",
                                         "venv/pyvenv.cfg",
                                         "src/node_modules/k.js",
                                         "out.py" };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        write_file(files[i], "");
    }
    write_file(".gitignore", "**/gen/*\n!keep.py\n");
    write_file("src/.gitignore", "/n.ipynb\n!/gen\n");
    write_file(".git/info/exclude", "out.py\n");
    char link[256];
    snprintf(link, sizeof(link), "%s/src/loop", work);
    return symlink("..", link);
}

static int tear_down(void **state)
{
    (void)state;
    char command[256];
    snprintf(command, sizeof(command), "%s", work);
    char *const argv[] = { (char *)(uintptr_t) "rm", (char *)(uintptr_t) "-rf", command, NULL };
    if (fork() == 0) {
        execvp("rm", argv);
        _exit(1);
    }
    return 0;
}

/* The names that are found, below the folder, with blanks in between. */
static void find(const struct cbx_lint_filter *filter, const char *below, struct cbx_buf *out)
{
    CBX_AUTO_DONE(lint_paths) paths = { 0 };
    struct cbx_err err;
    char root[256];
    snprintf(root, sizeof(root), "%s%s", work, below);
    assert_int_equal(cbx_lint_paths_init(&paths, &err), 0);
    assert_int_equal(cbx_lint_paths_add(&paths, filter, root, &err), 0);
    assert_int_equal(cbx_lint_paths_add(&paths, filter, root, &err), 0);
    cbx_lint_paths_sort(&paths);
    for (size_t i = 0; i < paths.count; i++) {
        cbx_buf_printf(out, "%s%s", i > 0 ? " " : "", paths.items[i].normal.p + strlen(work) + 1);
    }
}

static void finds_what_is_not_left_out(void **state)
{
    (void)state;
    static const struct {
        const char *below, *include, *exclude;
        bool no_ignore;
        const char *language, *found;
    } cases[] = {
        { "", NULL, NULL, false, NULL, "a.js b.py src/gen/keep.py src/x.py" },
        { "/", NULL, NULL, false, NULL, "a.js b.py src/gen/keep.py src/x.py" },
        { "", NULL, NULL, true, NULL,
          "a.js b.py out.py src/gen/g.py src/gen/keep.py src/n.ipynb src/x.py" },
        { "/src", NULL, NULL, false, NULL, "src/gen/keep.py src/x.py" },
        { "/src/gen", NULL, NULL, false, NULL, "src/gen/keep.py" },
        { "/src/loop", NULL, NULL, false, NULL,
          "src/loop/a.js src/loop/b.py src/loop/src/gen/keep.py src/loop/src/x.py" },
        { "/src/gen/g.py", NULL, "*", false, NULL, "src/gen/g.py" },
        { "/node_modules", NULL, NULL, false, NULL, "node_modules/m.js" },
        { "", "*.py", NULL, false, NULL, "b.py src/gen/keep.py src/x.py" },
        { "", "*.py", "gen/", false, NULL, "b.py src/x.py" },
        { "", NULL, "*.py\n!b.py", false, NULL, "a.js b.py" },
        { "", "src/", NULL, false, NULL, "src/gen/keep.py src/x.py" },
        { "", "*.txt", NULL, false, "python", "notes.txt" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO(ignore) include = NULL;
        CBX_AUTO(ignore) exclude = NULL;
        CBX_AUTO_DONE(buf) found;
        cbx_buf_init(&found, 4096);
        struct cbx_err err;
        if (cases[i].include != NULL) {
            cbx_ignore_new(cbx_str_of(cases[i].include), &include, &err);
        }
        if (cases[i].exclude != NULL) {
            cbx_ignore_new(cbx_str_of(cases[i].exclude), &exclude, &err);
        }
        struct cbx_lint_filter filter = { .language = cases[i].language,
                                          .no_ignore = cases[i].no_ignore,
                                          .include = include,
                                          .exclude = exclude };
        find(&filter, cases[i].below, &found);
        if (strcmp(found.p, cases[i].found) != 0) {
            fail_msg("%zu: '%s' instead of '%s'", i, found.p, cases[i].found);
        }
    }
}

static void finds_hidden_files_on_request_and_files_by_their_first_lines(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) found;
    cbx_buf_init(&found, 4096);
    write_file("src/tool", "#!/usr/bin/env python3\n");
    write_file("src/UP.PY", "");
    find(&(struct cbx_lint_filter){ .hidden = true }, "", &found);
    assert_string_equal(found.p, ".hidden.py a.js b.py src/.git2/y.py src/UP.PY src/gen/keep.py "
                                 "src/tool src/x.py");
}

/* The skipped paths below the test's folder. */
static struct cbx_lint_skips count_skips(const struct cbx_lint_filter *filter)
{
    CBX_AUTO_DONE(lint_paths) paths = { 0 };
    struct cbx_err err;
    assert_int_equal(cbx_lint_paths_init(&paths, &err), 0);
    assert_int_equal(cbx_lint_paths_add(&paths, filter, work, &err), 0);
    for (size_t i = 0; i < CBX_LINT_SKIPS; i++) {
        paths.skips.reasons[i].name_count = 0; /* they lie in the arena */
    }
    return paths.skips;
}

static void counts_what_is_skipped_and_searches_it_for_code_on_request(void **state)
{
    (void)state;
    write_file("x.rb", "");
    write_file("noise", "a\n");
    write_file("picture", "\177ELF");
    struct cbx_lint_skips skips = count_skips(&(struct cbx_lint_filter){ 0 });
    const struct cbx_lint_skipped *r = skips.reasons;
    assert_int_equal(r[CBX_LINT_SKIP_FOREIGN].count, 1);
    assert_int_equal(r[CBX_LINT_SKIP_HIDDEN].count, 4); /* .gitignore twice, .hidden.py, .git2 */
    assert_int_equal(r[CBX_LINT_SKIP_HIDDEN].code, 1);
    assert_int_equal(r[CBX_LINT_SKIP_IGNORED].count, 3);    /* g.py, n.ipynb, out.py */
    assert_int_equal(r[CBX_LINT_SKIP_DEPENDENCY].count, 3); /* node_modules twice, venv */
    assert_int_equal(r[CBX_LINT_SKIP_LINK].count, 1);
    assert_int_equal(r[CBX_LINT_SKIP_NO_LANGUAGE].count, 3);
    skips = count_skips(&(struct cbx_lint_filter){ .count_code = true });
    assert_int_equal(r[CBX_LINT_SKIP_HIDDEN].count, 4);
    assert_int_equal(r[CBX_LINT_SKIP_HIDDEN].code, 2); /* y.py in .git2 too */
    assert_int_equal(r[CBX_LINT_SKIP_DEPENDENCY].code, 0);
}

static void names_standard_input(void **state)
{
    (void)state;
    static const struct {
        const char *language, *name, *found;
    } cases[] = { { NULL, NULL, "python" },          { "shell", NULL, "shell" },
                  { NULL, "x/a.ipynb", "notebook" }, { NULL, "x/a.js", "javascript" },
                  { "python", "x/a.js", "python" },  { NULL, "x/a.txt", NULL } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(lint_paths) paths = { 0 };
        struct cbx_err err;
        struct cbx_lint_filter filter = { .language = cases[i].language,
                                          .input_name = cases[i].name };
        assert_int_equal(cbx_lint_paths_init(&paths, &err), 0);
        assert_int_equal(cbx_lint_paths_add(&paths, &filter, "-", &err), 0);
        assert_int_equal(paths.count, 1);
        assert_true(paths.items[0].input);
        assert_string_equal(paths.items[0].path.p, cases[i].name != NULL ? cases[i].name : "-");
        if (cases[i].found == NULL) {
            assert_non_null(strstr(paths.items[0].error.p, "no language"));
        } else {
            assert_string_equal(paths.items[0].language, cases[i].found);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_paths_normal),
        cmocka_unit_test(finds_what_is_not_left_out),
        cmocka_unit_test(finds_hidden_files_on_request_and_files_by_their_first_lines),
        cmocka_unit_test(counts_what_is_skipped_and_searches_it_for_code_on_request),
        cmocka_unit_test(names_standard_input),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
