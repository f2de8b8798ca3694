/* SPDX-License-Identifier: MIT
 * Files of other programs are replaced whole or not at all, behind the links that lead to them. */
#include "gateway/cli/settings/config_file.h"
#include "tests/unit/gateway/scratch.h"
#include "tests/unit/unit.h"

#include <glob.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct scratch scratch;

static const char *path_of(const char *name)
{
    static char path[200];
    snprintf(path, sizeof(path), "%s/%s", scratch.path, name);
    return path;
}

static void put(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void assert_file(const char *path, const char *text, mode_t mode)
{
    char found[100] = "";
    struct stat status;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    found[fread(found, 1, sizeof(found) - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(found, text);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, mode);
}

static int read_file(const char *path, struct cbx_config_file *file, struct cbx_buf *text)
{
    struct cbx_err err = { 0 };
    cbx_buf_init(text, 256 * 1024);
    return cbx_config_file_read(path, false, file, text, &err);
}

static void replaces_a_file_and_keeps_its_mode(void **state)
{
    (void)state;
    const char *path = path_of("a.json");
    put(path, "old", 0640);
    struct cbx_config_file file;
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) text;
    assert_int_equal(read_file(path, &file, &text), 0);
    assert_string_equal(text.p, "old");
    assert_int_equal(cbx_config_file_replace(&file, CBX_STR("new"), 0600, &err), 0);
    assert_file(path, "new", 0640);
}

static void makes_a_file_and_the_folders_that_it_lacks(void **state)
{
    (void)state;
    char inner[200];
    snprintf(inner, sizeof(inner), "%s", path_of("b/c/d.json"));
    struct cbx_config_file file;
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) text;
    assert_int_equal(read_file(inner, &file, &text), 0);
    assert_false(file.exists);
    assert_int_equal(text.len, 0);
    assert_int_equal(cbx_config_file_replace(&file, CBX_STR("new"), 0644, &err), 0);
    assert_file(inner, "new", 0644);
    struct stat status;
    assert_int_equal(stat(path_of("b/c"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0755);
}

static void follows_a_link_and_keeps_it(void **state)
{
    (void)state;
    char target[200], link[200];
    snprintf(target, sizeof(target), "%s", path_of("target.json"));
    snprintf(link, sizeof(link), "%s", path_of("link.json"));
    put(target, "{}", 0640);
    assert_int_equal(symlink("target.json", link), 0);
    struct cbx_config_file file;
    struct cbx_err err = { 0 };
    struct stat status;
    CBX_AUTO_DONE(buf) text;
    assert_int_equal(read_file(link, &file, &text), 0);
    assert_string_equal(text.p, "{}");
    assert_int_equal(cbx_config_file_replace(&file, CBX_STR("new"), 0600, &err), 0);
    assert_file(target, "new", 0640);
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
}

static void refuses_links_that_lead_nowhere_or_to_another_user(void **state)
{
    (void)state;
    struct cbx_config_file file;
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1000);
    assert_int_equal(symlink("nowhere.json", path_of("dangling.json")), 0);
    assert_int_equal(cbx_config_file_read(path_of("dangling.json"), false, &file, &text, &err),
                     CBX_EINVAL);
    assert_non_null(strstr(err.text, "leads nowhere"));
    put(path_of("theirs.json"), "{}", 0644);
    assert_int_equal(symlink("theirs.json", path_of("to-theirs.json")), 0);
    if (geteuid() == 0 && chown(path_of("theirs.json"), 4321, 4321) == 0) {
        assert_int_equal(cbx_config_file_read(path_of("to-theirs.json"), false, &file, &text, &err),
                         CBX_EINVAL);
        assert_non_null(strstr(err.text, "belongs to another user"));
    }
}

static void follows_no_link_out_of_a_project(void **state)
{
    (void)state;
    char here[PATH_MAX];
    struct cbx_config_file file;
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1000);
    assert_non_null(getcwd(here, sizeof(here)));
    put(path_of("outside.json"), "{}", 0600);
    assert_int_equal(mkdir(path_of("project"), 0700), 0);
    assert_int_equal(mkdir(path_of("elsewhere"), 0700), 0);
    assert_int_equal(chdir(path_of("project")), 0);
    put("inside.json", "{}", 0600);
    assert_int_equal(symlink("../outside.json", "out.json"), 0);
    assert_int_equal(symlink("inside.json", "in.json"), 0);
    assert_int_equal(symlink("../elsewhere", ".folder"), 0);
    int out = cbx_config_file_read("out.json", true, &file, &text, &err),
        in = cbx_config_file_read("in.json", true, &file, &text, &err),
        folder = cbx_config_file_read(".folder/new.json", true, &file, &text, &err),
        made = cbx_config_file_read("new/folder/new.json", true, &file, &text, &err);
    assert_int_equal(chdir(here), 0);
    assert_int_equal(out, CBX_EINVAL);
    assert_int_equal(in, 0);
    assert_int_equal(folder, CBX_EINVAL);
    assert_int_equal(made, 0);
}

static void leaves_a_file_alone_that_is_read_only(void **state)
{
    (void)state;
    const char *path = path_of("read-only.json");
    struct cbx_config_file file;
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) text;
    put(path, "old", 0444);
    assert_int_equal(read_file(path, &file, &text), 0);
    assert_int_equal(cbx_config_file_replace(&file, CBX_STR("new"), 0600, &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, "read-only"));
    assert_file(path, "old", 0444);
}

static void refuses_folders_and_what_is_too_long(void **state)
{
    (void)state;
    struct cbx_config_file file;
    CBX_AUTO_DONE(buf) more;
    assert_int_equal(read_file(scratch.path, &file, &more), CBX_EINVAL);
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) small;
    cbx_buf_init(&small, 1);
    put(path_of("long.json"), "{}", 0600);
    assert_int_equal(cbx_config_file_read(path_of("long.json"), false, &file, &small, &err),
                     CBX_ETOOBIG);
}

static void leaves_a_file_alone_that_another_program_wrote_meanwhile(void **state)
{
    (void)state;
    const char *path = path_of("e.json");
    struct cbx_config_file file, missing;
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO_DONE(buf) none;
    assert_int_equal(read_file(path, &missing, &none), 0);
    put(path, "theirs", 0600);
    assert_int_equal(cbx_config_file_replace(&missing, CBX_STR("ours"), 0600, &err), CBX_ESTATE);
    assert_int_equal(read_file(path, &file, &text), 0);
    put(path, "theirs again", 0600);
    assert_int_equal(cbx_config_file_replace(&file, CBX_STR("ours"), 0600, &err), CBX_ESTATE);
    assert_file(path, "theirs again", 0600);
}

static void leaves_no_temporary_file(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(glob(path_of("*.codebox-*"), 0, NULL, &found), GLOB_NOMATCH);
}

static int make_folder(void **state)
{
    (void)state;
    umask(022);
    scratch_make(&scratch);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    scratch_remove(&scratch);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replaces_a_file_and_keeps_its_mode),
        cmocka_unit_test(makes_a_file_and_the_folders_that_it_lacks),
        cmocka_unit_test(follows_a_link_and_keeps_it),
        cmocka_unit_test(refuses_links_that_lead_nowhere_or_to_another_user),
        cmocka_unit_test(follows_no_link_out_of_a_project),
        cmocka_unit_test(leaves_a_file_alone_that_is_read_only),
        cmocka_unit_test(refuses_folders_and_what_is_too_long),
        cmocka_unit_test(leaves_a_file_alone_that_another_program_wrote_meanwhile),
        cmocka_unit_test(leaves_no_temporary_file), /* checks the folder of the previous tests */
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
