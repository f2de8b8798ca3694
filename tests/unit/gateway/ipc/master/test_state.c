/* SPDX-License-Identifier: MIT
 * The state directory: paths that another user could replace are refused, for root and for an
 * ordinary user. */
#include "gateway/ipc/master/state.h"
#include "tests/unit/gateway/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

enum { USER = 12345, OTHER = 12346 };

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

static void folder(const char *name, mode_t mode, uid_t owner)
{
    assert_int_equal(mkdir(at(name), mode), 0);
    assert_int_equal(chown(at(name), owner, owner), 0);
    assert_int_equal(chmod(at(name), mode), 0);
}

static void link_to(const char *target, const char *name, uid_t owner)
{
    assert_int_equal(symlink(target, at(name)), 0);
    assert_int_equal(lchown(at(name), owner, owner), 0);
}

/* Result of cbx_state_try: the directory can be created. */
enum { MISSING = 3 };

struct answer {
    int code;
    char text[CBX_ERR_FULL_BYTES];
};

/* Returns the result of cbx_state_open, or of cbx_state_try, for a process of this user. */
static struct answer answer_of(int (*function)(const char *, int *, struct cbx_err *), uid_t user,
                               const char *path)
{
    struct answer answer = { .code = 1 };
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct cbx_err err = { 0 };
        int fd = -1;
        if (user == 0 || (setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0)) {
            answer.code = function(path, &fd, &err);
            cbx_err_full(&err, answer.text);
            struct stat status;
            if (answer.code == 0 && function == cbx_state_try && fd < 0) {
                answer.code = MISSING;
            } else if (answer.code == 0 && (fstat(fd, &status) < 0 || !S_ISDIR(status.st_mode))) {
                answer.code = 2;
            }
        }
        _exit(write(ends[1], &answer, sizeof(answer)) == (ssize_t)sizeof(answer) ? 0 : 1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &answer, sizeof(answer)), sizeof(answer));
    close(ends[0]);
    await_child(pid);
    return answer;
}

static struct answer open_as(uid_t user, const char *path)
{
    return answer_of(cbx_state_open, user, path);
}

static void assert_opened(uid_t user, const char *path)
{
    struct answer answer = open_as(user, path);
    if (answer.code != 0) {
        fail_msg("uid %u, '%s': %s", (unsigned)user, path, answer.text);
    }
}

static void assert_refused(uid_t user, const char *path, const char *why)
{
    struct answer answer = open_as(user, path);
    if (answer.code != CBX_EAUDIT || strstr(answer.text, why) == NULL) {
        fail_msg("uid %u, '%s': %d '%s' does not say '%s'", (unsigned)user, path, answer.code,
                 answer.text, why);
    }
}

/* Only root can make files of another user; without root there is nothing to test. */
static void need_root(void)
{
    if (geteuid() != 0) {
        skip();
    }
}

static void makes_what_is_missing_for_its_user_alone(void **state)
{
    (void)state;
    static const char *const names[] = { "a", "a/b", "a/b/state" };
    struct stat status;
    int fd = -1;
    struct cbx_err err;
    if (cbx_state_open(at("a/./b//state/"), &fd, &err) != 0) {
        fail_msg("%s", err.text);
    }
    close(fd);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(stat(at(names[i]), &status), 0);
        assert_int_equal(status.st_mode & 07777, 0700);
    }
    assert_int_equal(cbx_state_make(at("a/b/state"), &err), 0); /* the directory exists now */
}

static void works_for_root_and_for_a_user(void **state)
{
    (void)state;
    need_root();
    folder("home", 0755, USER);
    assert_opened(USER, at("home/.local/state/codebox"));
    assert_opened(0, at("var/lib/codebox"));
    folder("narrow", 0711, 0); /* other users cannot list it */
    folder("narrow/home", 0755, USER);
    assert_opened(USER, at("narrow/home/state"));
    folder("of-root", 0755, 0); /* a user cannot write to it; that error comes later */
    assert_opened(USER, at("of-root"));
}

static void a_sticky_directory_above_it_is_allowed(void **state)
{
    (void)state;
    need_root();
    folder("tmp", 01777, 0);
    assert_opened(USER, at("tmp/of-user"));
    assert_opened(0, at("tmp/of-root"));
    assert_refused(0, at("tmp/of-user"), "belongs to uid 12345, allowed is root:");
    assert_refused(USER, at("tmp/of-root/state"), "Permission denied");
    folder("tmp/of-other", 0755, OTHER);
    assert_refused(USER, at("tmp/of-other"), "belongs to uid 12346, allowed is root and uid 12345");
    assert_refused(USER, at("tmp/of-other/state"), "a directory above the state directory belongs");
}

static void a_directory_above_it_that_others_can_write_to_is_refused(void **state)
{
    (void)state;
    need_root();
    static const mode_t modes[] = { 0777, 0775, 0757, 0722 };
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        char name[32], advice[PATH_MAX];
        snprintf(name, sizeof(name), "open%zu", i);
        folder(name, modes[i], 0);
        snprintf(advice, sizeof(advice), "run: chmod go-w '%s'", at(name));
        char below[64];
        snprintf(below, sizeof(below), "%s/x/state", name);
        assert_refused(0, at(below), advice);
        assert_int_equal(access(at(name), F_OK), 0);
        snprintf(below, sizeof(below), "%s/x", name);
        assert_int_not_equal(access(at(below), F_OK), 0);       /* nothing was created there */
        assert_int_equal(chmod(at(name), modes[i] & ~022u), 0); /* the advice works */
        assert_opened(0, at(below));
    }
}

static void a_state_directory_that_others_can_write_to_is_refused(void **state)
{
    (void)state;
    need_root();
    static const mode_t modes[] = { 0777, 0770, 0702, 01777 };
    folder("home", 0755, USER);
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        char name[32];
        snprintf(name, sizeof(name), "home/state%zu", i);
        folder(name, modes[i], USER);
        assert_refused(USER, at(name), "allowed is a directory that only its owner can write to");
    }
}

static void a_directory_of_another_user_is_refused(void **state)
{
    (void)state;
    need_root();
    folder("home", 0755, OTHER);
    folder("home/state", 0700, USER);
    assert_refused(USER, at("home/state"), "a directory above the state directory belongs");
    assert_refused(0, at("home/state"), "a directory above the state directory belongs");
    assert_refused(0, at("home/state"), "--state");
}

static void a_link_above_it_is_followed_when_its_owner_is_trusted(void **state)
{
    (void)state;
    need_root();
    folder("disk", 0755, 0);
    folder("disk/home", 0755, USER);
    folder("tmp", 01777, 0);
    link_to("disk", "by-root", 0);
    link_to("../disk/home", "tmp/by-user", USER);
    link_to(at("disk/home"), "tmp/by-other", OTHER);
    assert_opened(USER, at("by-root/home/state"));
    assert_opened(USER, at("tmp/by-user/state"));
    assert_int_equal(access(at("disk/home/state"), F_OK), 0);
    assert_refused(USER, at("tmp/by-other/state"), "a symbolic link above");
    assert_refused(0, at("tmp/by-user/state"), "a symbolic link above");
}

/* The folders on the way of a link are checked as well. */
static void a_link_hides_no_directory_that_others_can_write_to(void **state)
{
    (void)state;
    need_root();
    folder("open", 0777, 0);
    folder("open/home", 0755, USER);
    link_to(at("open/home"), "home", 0);
    link_to("open/../safe", "sideways", 0);
    folder("safe", 0755, USER);
    assert_refused(USER, at("home/state"), "has mode 0777");
    assert_refused(USER, at("sideways/state"), "has mode 0777");
    assert_opened(USER, at("safe/state"));
}

static void a_link_a_file_and_a_loop_are_no_state_directory(void **state)
{
    (void)state;
    link_to("real", "link", geteuid());
    link_to("loop", "loop", geteuid());
    assert_int_equal(mkdir(at("real"), 0700), 0);
    scratch_write(scratch.path, "file", CBX_STR("x"));
    assert_refused(geteuid(), at("link"), "is a symbolic link");
    assert_refused(geteuid(), at("link/"), "is a symbolic link");
    assert_refused(geteuid(), at("file"), "cannot be made");
    assert_refused(geteuid(), at("file/state"), "cannot be made");
    assert_refused(geteuid(), at("loop/state"), "too long");
    assert_refused(geteuid(), "", "no name");
    assert_refused(geteuid(), "/", "root directory");
    assert_opened(geteuid(), at("link/state"));
    assert_opened(geteuid(), at("real/../real"));
}

static void a_relative_path_begins_at_the_working_directory(void **state)
{
    (void)state;
    char here[PATH_MAX];
    assert_non_null(getcwd(here, sizeof(here)));
    assert_int_equal(chdir(scratch.path), 0);
    assert_opened(geteuid(), "x/state");
    assert_opened(geteuid(), "./x/../y");
    assert_int_equal(chdir(here), 0);
    assert_int_equal(access(at("x/state"), F_OK), 0);
    assert_int_equal(access(at("y"), F_OK), 0);
}

static void a_file_in_it_is_read_through_no_link_and_from_no_pipe(void **state)
{
    (void)state;
    scratch_write(scratch.path, "file", CBX_STR("x"));
    link_to("file", "link", geteuid());
    assert_int_equal(mkfifo(at("pipe"), 0600), 0);
    CBX_AUTO_FILE file = cbx_state_read(scratch.path, "file");
    assert_non_null(file);
    assert_int_equal(fgetc(file), 'x');
    assert_null(cbx_state_read(scratch.path, "link"));
    assert_null(cbx_state_read(scratch.path, "pipe"));
    assert_null(cbx_state_read(scratch.path, "."));
    assert_null(cbx_state_read(scratch.path, "none"));
    assert_int_equal(errno, ENOENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

static void a_try_says_what_could_be_made_and_makes_nothing(void **state)
{
    (void)state;
    folder("own", 0700, USER);
    folder("closed", 0755, 0);
    folder("closed/there", 0755, 0);
    assert_int_equal(answer_of(cbx_state_try, USER, at("own")).code, 0);
    assert_int_equal(answer_of(cbx_state_try, USER, at("own/new")).code, MISSING);
    assert_int_equal(answer_of(cbx_state_try, USER, at("own/new/deeper")).code, MISSING);
    static const char *const refused[] = { "closed/new", "closed/new/deeper", "closed/there" };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct answer answer = answer_of(cbx_state_try, USER, at(refused[i]));
        assert_int_equal(answer.code, CBX_EAUDIT);
        assert_non_null(strstr(answer.text, "Permission denied"));
    }
    folder("other", 0700, OTHER);
    assert_int_equal(answer_of(cbx_state_try, 0, at("other")).code, CBX_EAUDIT);
    struct stat status;
    assert_int_equal(stat(at("own/new"), &status), -1);
}

/* As root, mkdir(2) fails there although access(2) reports no error; a cgroup can even be
 * created. */
static void a_file_system_of_linux_itself_holds_no_state(void **state)
{
    (void)state;
    static const char *const places[] = { "/proc/state", "/sys/state", "/sys/kernel/state",
                                          "/proc/self/state", "/proc/sys" };
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        assert_refused(0, places[i], "file system of Linux itself");
        struct answer answer = answer_of(cbx_state_try, 0, places[i]);
        assert_int_equal(answer.code, CBX_EAUDIT);
        assert_non_null(strstr(answer.text, "file system of Linux itself"));
    }
}

static void the_database_is_found_where_it_is_and_in_one_place_alone(void **state)
{
    (void)state;
    char found[PATH_MAX];
    struct cbx_err err = { 0 };
    folder("state", 0700, 0);
    assert_int_equal(cbx_state_find_front(at("state"), found, sizeof(found), &err), 0);
    assert_string_equal(found, at("state/front"));
    scratch_write(at("state"), "codebox.db", CBX_STR(""));
    assert_int_equal(cbx_state_find_front(at("state"), found, sizeof(found), &err), 0);
    assert_string_equal(found, at("state"));
    folder("state/front", 0700, 0);
    scratch_write(at("state/front"), "codebox.db", CBX_STR(""));
    assert_int_equal(cbx_state_find_front(at("state"), found, sizeof(found), &err), CBX_EINVAL);
    assert_int_equal(cbx_state_find_front(at("none"), found, sizeof(found), &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(makes_what_is_missing_for_its_user_alone),
        TEST(works_for_root_and_for_a_user),
        TEST(a_sticky_directory_above_it_is_allowed),
        TEST(a_directory_above_it_that_others_can_write_to_is_refused),
        TEST(a_state_directory_that_others_can_write_to_is_refused),
        TEST(a_directory_of_another_user_is_refused),
        TEST(a_try_says_what_could_be_made_and_makes_nothing),
        TEST(a_link_above_it_is_followed_when_its_owner_is_trusted),
        TEST(a_link_hides_no_directory_that_others_can_write_to),
        TEST(a_link_a_file_and_a_loop_are_no_state_directory),
        TEST(a_relative_path_begins_at_the_working_directory),
        TEST(a_file_system_of_linux_itself_holds_no_state),
        TEST(the_database_is_found_where_it_is_and_in_one_place_alone),
        TEST(a_file_in_it_is_read_through_no_link_and_from_no_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
