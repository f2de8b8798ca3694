/* SPDX-License-Identifier: MIT
 * Files of the host for the workspace of `codebox run`: their places, left-out files, and missing
 * files of a program. */
#include "gateway/cli/run/run_missing.h"
#include "gateway/cli/run/run_uploads.h"
#include "tests/unit/gateway/scratch.h"

#include <sys/stat.h>

static struct scratch scratch;

static void write_file(const char *name, const char *text)
{
    scratch_write(scratch.path, name, cbx_str_of(text));
}

static int make_tree(void **state)
{
    (void)state;
    scratch_make(&scratch);
    assert_int_equal(chdir(scratch.path), 0);
    static const char *const folders[] = { "app",     "app/lib",          "app/lib/deep",
                                           "data",    "app/node_modules", "app/.git",
                                           "unusual", "several" };
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        assert_int_equal(mkdir(folders[i], 0755), 0);
    }
    write_file("app/main.py", "import lib");
    write_file("app/main.h", "");
    write_file("app/lib/__init__.py", "");
    write_file("app/lib/deep/x.py", "");
    write_file("app/node_modules/a.js", "");
    write_file("app/.git/config", "");
    write_file("app/fast.so", "");
    write_file("data/table.csv", "a,b");
    write_file("several/main.js", "");
    write_file("several/main.ts", "");
    assert_int_equal(symlink("/etc/passwd", "app/link"), 0);
    assert_int_equal(mkfifo("unusual/pipe", 0600), 0);
    return 0;
}

static int remove_tree(void **state)
{
    (void)state;
    assert_int_equal(chdir("/"), 0);
    scratch_remove(&scratch);
    return 0;
}

static const char *place_of(const struct cbx_uploads *uploads, const char *shown)
{
    for (size_t i = 0; i < uploads->count; i++) {
        if (strcmp(uploads->items[i].shown, shown) == 0) {
            return uploads->items[i].path;
        }
    }
    fail_msg("'%s' is not among the uploads", shown);
    return NULL;
}

static void keeps_the_place_beside_the_program(void **state)
{
    (void)state;
    CBX_AUTO_DONE(uploads) uploads = { 0 };
    assert_int_equal(cbx_uploads_add(&uploads, "app/lib", "app", NULL), 0);
    assert_int_equal(cbx_uploads_add(&uploads, "data/table.csv", "app", NULL), 0);
    assert_int_equal(cbx_uploads_add(&uploads, "/etc/hostname", "app", NULL), 0);
    assert_string_equal(place_of(&uploads, "app/lib/deep/x.py"), "lib/deep/x.py");
    assert_string_equal(place_of(&uploads, "data/table.csv"), "data/table.csv");
    assert_string_equal(place_of(&uploads, "/etc/hostname"), "hostname");
    assert_true(cbx_str_is(cbx_buf_str(&uploads.items[2].bytes), "a,b"));
}

static void takes_a_file_once_and_refuses_two_with_one_place(void **state)
{
    (void)state;
    CBX_AUTO_DONE(uploads) uploads = { 0 };
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_uploads_add(&uploads, "app/main.py", "app", NULL), 0);
    assert_int_equal(cbx_uploads_add(&uploads, "./app/../app/main.py", "app", NULL), 0);
    assert_int_equal(uploads.count, 1);
    assert_int_equal(chdir("data"), 0);
    write_file("data/main.py", "");
    assert_int_equal(cbx_uploads_add(&uploads, "main.py", "../app", &err), CBX_EINVAL);
    assert_int_equal(chdir(".."), 0);
    assert_non_null(strstr(err.text, "would both be 'main.py'"));
}

static void leaves_out_what_is_hidden_linked_or_compiled_and_counts_it(void **state)
{
    (void)state;
    CBX_AUTO_DONE(uploads) uploads = { 0 };
    assert_int_equal(cbx_uploads_add(&uploads, "app/", "app/", NULL), 0);
    assert_int_equal(uploads.count, 4);
    assert_int_equal(uploads.hidden, 2);
    assert_int_equal(uploads.links, 1);
    assert_int_equal(uploads.compiled, 1);
    assert_string_equal(uploads.items[0].path, "lib/__init__.py");
    assert_string_equal(uploads.items[3].path, "main.py");
}

static void refuses_what_is_no_file(void **state)
{
    (void)state;
    CBX_AUTO_DONE(uploads) uploads = { 0 };
    assert_int_equal(cbx_uploads_add(&uploads, "nothing", ".", NULL), CBX_EIO);
    assert_int_equal(cbx_uploads_add(&uploads, "unusual/pipe", ".", NULL), CBX_EINVAL);
    assert_int_equal(cbx_uploads_add(&uploads, "/dev/zero", ".", NULL), CBX_EINVAL);
    assert_int_equal(uploads.count, 0);
}

static void finds_the_program_of_a_folder(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    char *path = NULL;
    assert_int_equal(cbx_uploads_find_main("app", &path, NULL), 0);
    assert_string_equal(path, "app/main.py");
    free(path);
    assert_int_equal(cbx_uploads_find_main("several", &path, &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, "several files 'main.*'"));
    assert_int_equal(cbx_uploads_find_main("unusual", &path, &err), CBX_ENOTFOUND);
    write_file("app/__main__.py", "");
    assert_int_equal(cbx_uploads_find_main("app", &path, NULL), 0);
    assert_string_equal(path, "app/__main__.py");
    free(path);
    assert_int_equal(unlink("app/__main__.py"), 0);
}

/* --- missing files ---------------------------------------------------------------------------- */

/* The advice for these errors of a program in the folder, "" for none. */
static void assert_missing(const char *folder, const char *kernel, const char *errors,
                           const char *wanted)
{
    CBX_AUTO_DONE(run_missing) missing = { 0 };
    CBX_AUTO_DONE(uploads) uploads = { 0 };
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 65536);
    cbx_run_missing_read(&missing, folder);
    bool found = cbx_run_missing_advise(&missing, &uploads, kernel, cbx_str_of(errors), &out);
    if (found != (wanted[0] != '\0') || (found && strstr(out.p, wanted) == NULL)) {
        fail_msg("%s: '%s', wanted '%s'", errors, out.p, wanted);
    }
}

static void names_the_option_for_what_lies_beside_the_program(void **state)
{
    (void)state;
    assert_missing("app", "python", "ModuleNotFoundError: No module named 'lib'",
                   "add --file 'app/lib/'");
    assert_missing("app", "python", "ModuleNotFoundError: No module named 'lib.deep'",
                   "add --file 'app/lib/'");
    assert_missing("app", "python", "No such file or directory: 'data/table.csv'",
                   "add --file 'data/'");
    assert_missing("data", "python", "No such file or directory: '/mnt/data/table.csv'",
                   "add --file 'data/table.csv'");
    assert_missing("data", "python", "No such file or directory: '/workspace/table.csv'",
                   "add --file 'data/table.csv'");
    assert_missing("several", "javascript", "Error: Cannot find module './main'\n",
                   "add --file 'several/main.");
    assert_missing("data", "bash", "cat: table.csv: No such file or directory\n",
                   "add --file 'data/table.csv'");
    assert_missing("app", "c", "main.c:1:10: fatal error: main.h: No such file", "'app/main.h'");
}

static void is_silent_about_everything_else(void **state)
{
    (void)state;
    assert_missing("app", "python", "No module named 'numpy'", "");
    assert_missing("app", "python", "No such file or directory: ''", "");
    assert_missing("app", "python", "No such file or directory: '", "");
    assert_missing("app", "python", "No such file or directory: '/'", "");
    assert_missing("app", "bash", ": No such file or directory", "");
    assert_missing("app", "python", "No such file or directory: '.git'", "");
    assert_missing("app", "python", "", "");
}

static void is_silent_about_a_file_that_was_given(void **state)
{
    (void)state;
    CBX_AUTO_DONE(run_missing) missing = { 0 };
    CBX_AUTO_DONE(uploads) uploads = { 0 };
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 65536);
    cbx_run_missing_read(&missing, "app");
    assert_int_equal(cbx_uploads_add(&uploads, "app/lib", "app", NULL), 0);
    assert_false(cbx_run_missing_advise(&missing, &uploads, "python",
                                        CBX_STR("No module named 'lib'"), &out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_place_beside_the_program),
        cmocka_unit_test(takes_a_file_once_and_refuses_two_with_one_place),
        cmocka_unit_test(leaves_out_what_is_hidden_linked_or_compiled_and_counts_it),
        cmocka_unit_test(refuses_what_is_no_file),
        cmocka_unit_test(finds_the_program_of_a_folder),
        cmocka_unit_test(names_the_option_for_what_lies_beside_the_program),
        cmocka_unit_test(is_silent_about_everything_else),
        cmocka_unit_test(is_silent_about_a_file_that_was_given),
    };
    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
