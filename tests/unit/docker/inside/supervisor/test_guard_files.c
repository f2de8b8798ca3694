/* SPDX-License-Identifier: MIT
 * The supervisor's answers to calls that name files. */
#include "tests/unit/docker/guard_rig.h"

static void files_are_opened_where_a_program_has_business(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int flags, answer;
    } rows[] = {
        { "/tmp/x", O_WRONLY | O_CREAT, 0 },
        { "/usr/bin/env", O_RDONLY, 0 },
        { "/usr/bin/env", O_WRONLY, -EACCES },
        { "/usr/no-such-folder/x", O_WRONLY | O_CREAT, 0 }, /* Linux returns ENOENT */
        { "/etc/passwd", O_RDONLY, -EACCES },
        { "/etc/../etc/passwd", O_RDONLY, -EACCES },
        { "/tmp/../etc/passwd", O_RDONLY, -EACCES },
        { "/etc/no-such-file", O_RDONLY, 0 },
        { "/etc/no-such-file", O_WRONLY | O_CREAT, -EACCES },
        { "/etc", O_RDONLY | O_DIRECTORY, 0 },
        { "/etc", O_RDONLY, 0 },
        { "/proc/self/environ", O_RDONLY, -EACCES },
        { "/proc/self/mem", O_RDWR, -EACCES },
        { "/proc/cpuinfo", O_RDONLY, 0 },
        { "/dev/null", O_RDWR, 0 },
        { "/dev/fd/99", O_WRONLY, 0 },
        { "/dev/fd/../environ", O_RDONLY, -EACCES },
        { "/dev/fd/../../../etc/passwd", O_RDONLY, -EACCES },
        { "/dev/stdin/../../etc/passwd", O_RDONLY, 0 }, /* no such path */
        { "/proc/thread-self/environ", O_RDONLY, -EACCES },
        { "/proc/self/task/../environ", O_RDONLY, -EACCES },
        { "/proc/self/root/etc/passwd", O_RDONLY, -EACCES },
    };
    int ends[2];
    refuse(ALL, "", 0);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[1], 99), 99);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int answer = decide_as(CBX_NATIVE_BIT, SYS_openat, (uint64_t)AT_FDCWD, at(rows[i].path),
                               (uint64_t)rows[i].flags);
        if (answer != rows[i].answer || notes != (rows[i].answer != 0)) {
            fail_msg("%s with flags %o: %d", rows[i].path, rows[i].flags, answer);
        }
    }
}

static void a_link_is_what_it_leads_to(void **state)
{
    (void)state;
    char folder[] = "/tmp/test_guard_calls.XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/link", folder);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    int fd = open(folder, O_PATH);
    refuse(ALL, "", 0);
    assert_int_equal(decide_as(CBX_SHELL_BIT, SYS_open, at(path), O_RDONLY, 0), -EACCES);
    assert_int_equal(decide_as(CBX_SHELL_BIT, SYS_openat, (uint64_t)fd, at("link"), 0), -EACCES);
    assert_int_equal(decide_as(CBX_SHELL_BIT, SYS_unlinkat, (uint64_t)fd, at("other"), 0), 0);
    close(fd);
    unlink(path);
    rmdir(folder);
}

/* Each call that changes a file, with `path` in the place of that file. */
static int change(int number, const char *path)
{
    static const uint64_t here = (uint64_t)AT_FDCWD;
    uint64_t other = at("/tmp/other"), it = at(path);
    const struct {
        int number;
        uint64_t args[6];
    } changes[] = {
        { SYS_creat, { it } },
        { SYS_truncate, { it } },
        { SYS_unlink, { it } },
        { SYS_unlinkat, { here, it } },
        { SYS_rmdir, { it } },
        { SYS_mkdir, { it } },
        { SYS_mkdirat, { here, it } },
        { SYS_mknod, { it } },
        { SYS_mknodat, { here, it } },
        { SYS_chmod, { it } },
        { SYS_fchmodat, { here, it } },
        { SYS_chown, { it } },
        { SYS_lchown, { it } },
        { SYS_fchownat, { here, it } },
        { SYS_utime, { it } },
        { SYS_utimes, { it } },
        { SYS_futimesat, { here, it } },
        { SYS_utimensat, { here, it } },
        { SYS_rename, { other, it } },
        { SYS_rename, { it, other } },
        { SYS_renameat, { here, other, here, it } },
        { SYS_renameat2, { here, it, here, other } },
        { SYS_link, { other, it } },
        { SYS_linkat, { here, other, here, it } },
        { SYS_symlink, { other, it } },
        { SYS_symlinkat, { other, here, it } },
    };
    if (number >= (int)(sizeof(changes) / sizeof(changes[0]))) {
        return 1;
    }
    return decide_with(CBX_SHELL_BIT, getpid(), changes[number].number, changes[number].args);
}

static void a_file_outside_is_changed_by_no_call_and_each_attempt_is_noted(void **state)
{
    (void)state;
    refuse(ALL, "", 0);
    int i = 0;
    for (int answer; (answer = change(i, "/etc/passwd")) != 1; i++) {
        if (answer != -EACCES || notes != 1 || noted_row != CBX_GUARD_WRITE ||
            strcmp(noted, "/etc/passwd") != 0) {
            fail_msg("call %d: %d, %d notes", i, answer, notes);
        }
        assert_int_equal(change(i, "/tmp/file"), 0);
    }
    assert_int_equal(i, 26);
}

static void a_link_to_a_file_outside_is_an_attempt_to_read_it(void **state)
{
    (void)state;
    refuse(ALL, "", 0);
    assert_int_equal(decide_as(CBX_SHELL_BIT, SYS_symlink, at("/etc/passwd"), at("/tmp/link"), 0),
                     -EACCES);
    assert_int_equal(noted_row, CBX_GUARD_READ);
    assert_int_equal(decide_as(CBX_SHELL_BIT, SYS_symlink, at("../etc/passwd"), at("/tmp/link"), 0),
                     -EACCES);
    assert_int_equal(decide_as(CBX_SHELL_BIT, SYS_link, at("/etc/passwd"), at("/tmp/link"), 0),
                     -EACCES);
    assert_int_equal(noted_row, CBX_GUARD_READ);
    assert_int_equal(decide_as(CBX_SHELL_BIT, SYS_symlink, at("/usr/bin/env"), at("/tmp/link"), 0),
                     0);
    assert_int_equal(decide_as(CBX_SHELL_BIT, SYS_symlink, at("no-such-file"), at("/tmp/link"), 0),
                     0);
}

static void times_of_an_open_file_have_no_path(void **state)
{
    (void)state;
    refuse(ALL, "", 0);
    assert_int_equal(decide_as(CBX_SHELL_BIT, SYS_utimensat, 5, 0, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_opened_where_a_program_has_business),
        cmocka_unit_test(a_link_is_what_it_leads_to),
        cmocka_unit_test(a_file_outside_is_changed_by_no_call_and_each_attempt_is_noted),
        cmocka_unit_test(a_link_to_a_file_outside_is_an_attempt_to_read_it),
        cmocka_unit_test(times_of_an_open_file_have_no_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
