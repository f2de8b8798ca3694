/* SPDX-License-Identifier: MIT
 * The rights that each process keeps after it dropped its privileges, tried from inside by forked
 * children. */
#include "gateway/ipc/jail/jail.h"
#include "gateway/ipc/jail/privileges.h"
#include "gateway/ipc/master/state.h"
#include "tests/unit/gateway/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { NOBODY = 65534, NOT_DROPPED = 99, ROLES = CBX_ROLE_REPLICAS + 1 };

#define DENIED(call) (errno = 0, (call) < 0 && (errno == EACCES || errno == EPERM))

static bool is_root(void)
{
    if (!cbx_privileges_separate()) {
        print_message("skipped: only root can change user ids\n");
        return false;
    }
    return true;
}

/* Does the first steps of every child of the master. An ordinary user if `user` is not 0. */
static void drop(enum cbx_role role, uid_t user, const char *root)
{
    if (user != 0 && (setgid(user) != 0 || setuid(user) != 0)) {
        _exit(NOT_DROPPED);
    }
    prctl(PR_SET_DUMPABLE, 1); /* as after execve */
    if (cbx_privileges_drop(role, root, NULL) != 0) {
        _exit(NOT_DROPPED);
    }
    cbx_jail_common();
}

static int run_as(enum cbx_role role, uid_t user, const char *root, int (*attempt)(enum cbx_role))
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        drop(role, user, root);
        _exit(attempt(role));
    }
    int status = await_child(pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static uint64_t read_capabilities(bool permitted)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[2] = { { 0 } };
    syscall(SYS_capget, &header, data);
    return permitted ? data[0].permitted | (uint64_t)data[1].permitted << 32
                     : data[0].effective | (uint64_t)data[1].effective << 32;
}

static int has_nothing(enum cbx_role role)
{
    (void)role;
    int bounding = 0;
    for (int c = 0; prctl(PR_CAPBSET_READ, c) >= 0; c++) {
        bounding += prctl(PR_CAPBSET_READ, c);
    }
    return getuid() == 0 || geteuid() == 0 || getgid() == 0 ? 1
           : getgroups(0, NULL) != 0                        ? 2
           : read_capabilities(true) != 0                   ? 3
           : read_capabilities(false) != 0                  ? 4
           : bounding != 0                                  ? 5
           : !DENIED(setuid(0))                             ? 6
           : !DENIED(setgid(0))                             ? 7
           : !DENIED(open("/etc/shadow", O_RDONLY))         ? 8
           : !DENIED(kill(getppid(), 0))                    ? 9
                                                            : 0;
}

static void leaves_processes_without_files_an_id_of_their_own_and_nothing_else(void **state)
{
    static const enum cbx_role roles[] = { CBX_ROLE_FRONT, CBX_ROLE_ANALYZER, CBX_ROLE_SENDER,
                                           CBX_ROLE_KEYS };
    (void)state;
    if (!is_root()) {
        skip();
    }
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(run_as(roles[i], 0, NULL, has_nothing), 0);
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(cbx_privileges_user(roles[i]), cbx_privileges_user(roles[k]));
        }
    }
    assert_int_equal(cbx_privileges_user(CBX_ROLE_EXECUTOR), 0);
}

static int has_only_files(enum cbx_role role)
{
    (void)role;
    return getuid() != 0                                                ? 1
           : read_capabilities(true) != UINT64_C(1) << CAP_DAC_OVERRIDE ? 2
           : !DENIED(setuid(NOBODY))                                    ? 3
           : !DENIED(chroot("/"))                                       ? 4
           : !DENIED(chown("/etc", NOBODY, NOBODY))                     ? 5
           : prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN) != 0                 ? 6
                                                                        : 0;
}

static void leaves_the_executor_the_files_of_all_users_and_no_other_capability(void **state)
{
    (void)state;
    if (!is_root()) {
        skip();
    }
    assert_int_equal(run_as(CBX_ROLE_EXECUTOR, 0, NULL, has_only_files), 0);
}

/* The process neither traces nor signals as root, and its new files belong to root. */
static int makes_files_of_the_caller(enum cbx_role role)
{
    struct stat status;
    CBX_AUTO_FD made = open("plot.png", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    return getuid() != cbx_privileges_user(role) || geteuid() == 0 || getegid() == 0 ? 1
           : getgroups(0, NULL) != 0                                                 ? 2
           : read_capabilities(true) != UINT64_C(1) << CAP_DAC_OVERRIDE              ? 3
           : !DENIED(setuid(0))                                                      ? 4
           : !DENIED(kill(getppid(), 0))                                             ? 5
           : !DENIED(chown("/etc", NOBODY, NOBODY))                                  ? 6
           : prctl(PR_CAPBSET_READ, CAP_SETUID) != 0                                 ? 7
           : made < 0 || fstat(made, &status) < 0                                    ? 8
           : status.st_uid != 0 || status.st_gid != 0                                ? 9
                                                                                     : 0;
}

static void leaves_a_front_of_the_caller_its_files_and_not_its_id(void **state)
{
    (void)state;
    struct scratch s;
    if (!is_root()) {
        skip();
    }
    scratch_make(&s);
    assert_int_equal(chown(s.path, NOBODY, NOBODY), 0); /* `sudo codebox run` in a user's folder */
    assert_int_equal(run_as(CBX_ROLE_CALLER, 0, s.path, makes_files_of_the_caller), 0);
    scratch_remove(&s);
}

static int gains_by_exec(enum cbx_role role)
{
    (void)role;
    execl("/bin/grep", "grep", "-qE", "^CapEff:.*[1-9a-f]", "/proc/self/status", NULL);
    return NOT_DROPPED;
}

static void gives_no_capability_back_to_a_program_that_root_starts(void **state)
{
    (void)state;
    if (!is_root()) {
        skip();
    }
    assert_int_equal(run_as(CBX_ROLE_EXECUTOR, 0, NULL, gains_by_exec), 1); /* grep found none */
}

static int sees_its_folder(enum cbx_role role)
{
    (void)role;
    struct stat status;
    CBX_AUTO_FD fd = open("codebox.db", O_RDWR);
    return fd < 0                                    ? 1
           : stat("/codebox.db", &status) != 0       ? 2
           : stat("/../../etc/passwd", &status) == 0 ? 3
           : stat("../audit.key", &status) == 0      ? 4
                                                     : 0;
}

static void shows_the_front_its_folder_also_where_linux_has_no_landlock(void **state)
{
    (void)state;
    struct scratch s;
    struct cbx_err err;
    char front[128];
    if (!is_root()) {
        skip();
    }
    scratch_make(&s);
    scratch_write(s.path, "audit.key", CBX_STR("secret"));
    scratch_write(s.path, "codebox.db", CBX_STR("of an older version, of root"));
    uid_t owner = cbx_privileges_user(CBX_ROLE_FRONT);
    if (cbx_state_make_front(s.path, owner, front, sizeof(front), &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(run_as(CBX_ROLE_FRONT, 0, front, sees_its_folder), 0);
    scratch_remove(&s);
}

static void gives_the_front_no_file_that_has_another_name(void **state)
{
    (void)state;
    struct scratch s;
    struct cbx_err err;
    struct stat status;
    char front[128], key[128], name[160];
    if (!is_root()) {
        skip();
    }
    scratch_make(&s);
    assert_int_equal(cbx_state_make_front(s.path, geteuid(), front, sizeof(front), &err), 0);
    scratch_write(s.path, "audit.key", CBX_STR("secret"));
    snprintf(key, sizeof(key), "%s/audit.key", s.path);
    snprintf(name, sizeof(name), "%s/codebox.begun", front);
    for (int symbolic = 0; symbolic < 2; symbolic++) {
        assert_int_equal(symbolic ? symlink(key, name) : link(key, name), 0);
        assert_int_equal(cbx_state_make_front(s.path, NOBODY, front, sizeof(front), &err), CBX_EIO);
        assert_int_equal(stat(key, &status), 0);
        assert_int_equal(status.st_uid, 0);
        assert_int_equal(unlink(name), 0);
    }
    scratch_remove(&s);
}

static int has_no_capability(enum cbx_role role)
{
    (void)role;
    return getuid() != NOBODY ? 1 : read_capabilities(true) != 0 ? 2 : 0;
}

static void works_for_an_ordinary_user_without_a_change_of_ids(void **state)
{
    (void)state;
    if (getuid() != 0) {
        skip();
    }
    for (int role = 0; role < ROLES; role++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0 || cbx_privileges_separate() ||
                cbx_privileges_user(CBX_ROLE_FRONT) != NOBODY) {
                _exit(NOT_DROPPED);
            }
            drop((enum cbx_role)role, 0, NULL);
            _exit(has_no_capability((enum cbx_role)role));
        }
        int status = await_child(pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* --- the memory of the others ----------------------------------------------------------------- */

static pid_t start_waiting(enum cbx_role role)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        drop(role, 0, NULL);
        (void)!write(ready[1], "r", 1);
        for (;;) {
            pause();
        }
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static pid_t target;

static int try_memory(enum cbx_role role)
{
    (void)role;
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)target);
    return !DENIED(open(path, O_RDWR | O_CLOEXEC))              ? 1
           : !DENIED(open(path, O_RDONLY | O_CLOEXEC))          ? 2
           : !DENIED(ptrace(PTRACE_ATTACH, target, NULL, NULL)) ? 3
                                                                : 0;
}

static void keeps_every_process_from_the_memory_of_every_other(void **state)
{
    (void)state;
    if (!is_root()) {
        skip();
    }
    for (int of = 0; of < ROLES; of++) {
        target = start_waiting((enum cbx_role)of);
        for (int by = 0; by < ROLES; by++) {
            int found = run_as((enum cbx_role)by, 0, NULL, try_memory);
            if (found != 0) {
                fail_msg("role %d reached the memory of role %d: attempt %d", by, of, found);
            }
        }
        assert_int_equal(kill(target, SIGKILL), 0);
        await_child(target);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(works_for_an_ordinary_user_without_a_change_of_ids),
        cmocka_unit_test(leaves_processes_without_files_an_id_of_their_own_and_nothing_else),
        cmocka_unit_test(leaves_the_executor_the_files_of_all_users_and_no_other_capability),
        cmocka_unit_test(leaves_a_front_of_the_caller_its_files_and_not_its_id),
        cmocka_unit_test(gives_no_capability_back_to_a_program_that_root_starts),
        cmocka_unit_test(shows_the_front_its_folder_also_where_linux_has_no_landlock),
        cmocka_unit_test(gives_the_front_no_file_that_has_another_name),
        cmocka_unit_test(keeps_every_process_from_the_memory_of_every_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
