/* SPDX-License-Identifier: MIT
 * Files that decide security: opened through links of trusted owners, refused if another user could
 * replace a part of the path. test_state.c has the rules for directories. */
#include "gateway/ipc/jail/trusted.h"
#include "tests/unit/gateway/scratch.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct cbx_trusted_kind kind = {
    .what = "the thing", .advice = "change it", .code = CBX_EINVAL, .file = true
};
static struct scratch scratch;

static int begin_test(void **state)
{
    (void)state;
    umask(0);
    scratch_make(&scratch);
    return chmod(scratch.path, 0755);
}

static int end_test(void **state)
{
    (void)state;
    scratch_remove(&scratch);
    return 0;
}

static const char *at(const char *name)
{
    static char path[4][PATH_MAX];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], PATH_MAX, "%s/%s", scratch.path, name);
    return path[next];
}

static void file(const char *name, mode_t mode)
{
    int fd = open(at(name), O_WRONLY | O_CREAT, mode);
    assert_true(fd >= 0);
    close(fd);
}

static void expect(const char *name, int code, const char *text)
{
    struct cbx_err err = { 0 };
    int fd = -1;
    assert_int_equal(cbx_trusted_open(&kind, at(name), &fd, &err), code);
    if (code == 0) {
        close(fd);
    } else {
        assert_int_equal(fd, -1);
        assert_non_null(strstr(err.text, text));
    }
}

static void opens_a_file_and_links_to_it(void **state)
{
    (void)state;
    file("a", 0644);
    expect("a", 0, NULL);
    assert_int_equal(symlink("a", at("link")), 0);
    expect("link", 0, NULL);
    assert_int_equal(symlink("loop", at("loop")), 0);
    expect("loop", CBX_EINVAL, "too long");
}

static void says_that_it_is_not_there(void **state)
{
    (void)state;
    expect("none", CBX_ENOTFOUND, "the thing cannot be opened");
    expect("none/a", CBX_ENOTFOUND, "the thing cannot be opened");
    assert_int_not_equal(access(at("none"), F_OK), 0);
}

static void refuses_what_others_can_write(void **state)
{
    (void)state;
    file("open", 0666);
    expect("open", CBX_EINVAL, "the thing has mode 666");
    assert_int_equal(symlink("open", at("link")), 0);
    expect("link", CBX_EINVAL, "the thing has mode 666");
    assert_int_equal(mkdir(at("folder"), 0777), 0);
    file("folder/a", 0600);
    expect("folder/a", CBX_EINVAL, "a directory above the thing has mode 0777");
}

static void refuses_files_of_others(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    file("a", 0600);
    assert_int_equal(chown(at("a"), 12345, 12345), 0);
    expect("a", CBX_EINVAL, "the thing belongs to uid 12345");
    file("b", 0600);
    assert_int_equal(symlink("b", at("link")), 0);
    assert_int_equal(lchown(at("link"), 12345, 12345), 0);
    expect("link", CBX_EINVAL, "a symbolic link on the way to the thing belongs to uid 12345");
}

static void refuses_what_is_no_file(void **state)
{
    (void)state;
    assert_int_equal(mkdir(at("folder"), 0700), 0);
    expect("folder", CBX_EINVAL, "the thing is not a regular file");
    assert_int_equal(mkfifo(at("pipe"), 0600), 0);
    expect("pipe", CBX_EINVAL, "the thing is not a regular file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(opens_a_file_and_links_to_it, begin_test, end_test),
        cmocka_unit_test_setup_teardown(says_that_it_is_not_there, begin_test, end_test),
        cmocka_unit_test_setup_teardown(refuses_what_others_can_write, begin_test, end_test),
        cmocka_unit_test_setup_teardown(refuses_files_of_others, begin_test, end_test),
        cmocka_unit_test_setup_teardown(refuses_what_is_no_file, begin_test, end_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
