/* SPDX-License-Identifier: MIT
 * The files that a confined process can open, and the access of the gateway's processes to each
 * other. A forked child makes each attempt: once as the user of the test, once as an ordinary
 * user. */
#include "gateway/ipc/jail/files.h"
#include "gateway/ipc/jail/jail.h"
#include "gateway/ipc/master/state.h"
#include "tests/unit/gateway/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { NOBODY = 65534, NOT_CONFINED = 99 };

struct rig {
    struct scratch scratch;
    char front[128], key[128];
};

static void rig_start(struct rig *rig)
{
    struct cbx_err err;
    scratch_make(&rig->scratch);
    scratch_write(rig->scratch.path, "audit.key", CBX_STR("secret"));
    if (cbx_state_make_front(rig->scratch.path, geteuid(), rig->front, sizeof(rig->front), &err) !=
        0) {
        fail_msg("%s", err.text);
    }
    scratch_write(rig->front, "codebox.db", CBX_STR("stored"));
    snprintf(rig->key, sizeof(rig->key), "%s/audit.key", rig->scratch.path);
}

static void rig_stop(struct rig *rig)
{
    scratch_remove(&rig->scratch);
}

/* Gives the whole state to the ordinary user, so that only the confinement keeps it from the
 * key. */
static void give_to(uid_t user, const struct rig *rig)
{
    char database[160];
    snprintf(database, sizeof(database), "%s/codebox.db", rig->front);
    const char *const paths[] = { rig->scratch.path, rig->key, rig->front, database };
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        assert_int_equal(chown(paths[i], user, user), 0);
    }
}

static void become(uid_t user)
{
    if (user != 0 && (setgid(user) != 0 || setuid(user) != 0)) {
        _exit(NOT_CONFINED);
    }
}

/* The users to try; an ordinary user can only try itself. */
static size_t users(uid_t out[2])
{
    out[0] = getuid();
    out[1] = NOBODY;
    return getuid() == 0 ? 2 : 1;
}

static bool needs(int version)
{
    if (cbx_files_landlock() < version) {
        print_message("skipped: this Linux has Landlock version %d, needed is %d\n",
                      cbx_files_landlock(), version);
        return false;
    }
    return true;
}

#define DENIED(call) (errno = 0, (call) < 0 && (errno == EACCES || errno == EPERM))

static int try_paths(const struct rig *rig)
{
    char inside[160], moved[160];
    snprintf(inside, sizeof(inside), "%s/codebox.db", rig->front);
    snprintf(moved, sizeof(moved), "%s/audit.key", rig->front);
    CBX_AUTO_FD database = open(inside, O_RDWR);
    return database < 0                                 ? 1
           : !DENIED(open(rig->key, O_RDONLY))          ? 2
           : !DENIED(open(rig->key, O_WRONLY))          ? 3
           : !DENIED(open(rig->scratch.path, O_RDONLY)) ? 4
           : !DENIED(open("/etc/passwd", O_RDONLY))     ? 5
           : !DENIED(open("/proc/self/maps", O_RDONLY)) ? 6
           : !DENIED(unlink(rig->key))                  ? 7
           : rename(rig->key, moved) == 0               ? 8
           : link(rig->key, moved) == 0                 ? 9
           : !DENIED(symlink(rig->key, moved))          ? 10
           : !DENIED(execl("/bin/true", "true", NULL))  ? 11
                                                        : 0;
}

/* The exit status of a child of this user that is confined to the front's folder. */
static int run_confined(const struct rig *rig, uid_t user, int (*attempt)(const struct rig *))
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const struct cbx_grant grant = { .path = rig->front, .reads = true, .writes = true };
        become(user);
        cbx_jail_common();
        _exit(cbx_files_confine(&grant, 1, false, NULL) != 0 ? NOT_CONFINED : attempt(rig));
    }
    int status = await_child(pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void keeps_the_front_from_the_audit_key_and_all_other_files(void **state)
{
    (void)state;
    struct rig rig;
    uid_t user[2];
    if (!needs(1)) {
        skip();
    }
    rig_start(&rig);
    for (size_t i = 0; i < users(user); i++) {
        give_to(user[i], &rig);
        assert_int_equal(run_confined(&rig, user[i], try_paths), 0);
    }
    rig_stop(&rig);
}

static int try_tcp(const struct rig *rig)
{
    (void)rig;
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    CBX_AUTO_FD fd = socket(AF_INET, SOCK_STREAM, 0);
    return !DENIED(bind(fd, (struct sockaddr *)&to, sizeof(to)))      ? 1
           : !DENIED(connect(fd, (struct sockaddr *)&to, sizeof(to))) ? 2
                                                                      : 0;
}

static void refuses_tcp_where_linux_can(void **state)
{
    (void)state;
    struct rig rig;
    if (!needs(4)) {
        skip();
    }
    rig_start(&rig);
    assert_int_equal(run_confined(&rig, getuid(), try_tcp), 0);
    rig_stop(&rig);
}

static struct sockaddr_un abstract_address;

static int try_others(const struct rig *rig)
{
    (void)rig;
    CBX_AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return !DENIED(kill(getppid(), 0)) ? 1
           : !DENIED(connect(fd, (struct sockaddr *)&abstract_address, sizeof(abstract_address)))
               ? 2
               : 0;
}

static void refuses_signals_and_abstract_sockets_where_linux_can(void **state)
{
    (void)state;
    struct rig rig;
    if (!needs(6)) {
        skip();
    }
    rig_start(&rig);
    CBX_AUTO_FD listener = socket(AF_UNIX, SOCK_STREAM, 0);
    abstract_address.sun_family = AF_UNIX;
    snprintf(abstract_address.sun_path + 1, sizeof(abstract_address.sun_path) - 1, "%s",
             rig.scratch.path);
    assert_int_equal(bind(listener, (struct sockaddr *)&abstract_address, sizeof(abstract_address)),
                     0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(run_confined(&rig, getuid(), try_others), 0);
    rig_stop(&rig);
}

static int try_writing(const struct rig *rig)
{
    char path[160];
    snprintf(path, sizeof(path), "%s/plot.png", rig->front);
    const struct cbx_grant grant = { .path = rig->front, .writes = true };
    if (cbx_files_confine(&grant, 1, false, NULL) != 0) {
        return NOT_CONFINED;
    }
    CBX_AUTO_FD made = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    return made < 0 || write(made, "x", 1) != 1 ? 1 : !DENIED(open(path, O_RDONLY)) ? 2 : 0;
}

static void lets_a_folder_of_output_be_written_and_not_read(void **state)
{
    (void)state;
    struct rig rig;
    if (!needs(1)) {
        skip();
    }
    rig_start(&rig);
    assert_int_equal(run_confined(&rig, getuid(), try_writing), 0);
    rig_stop(&rig);
}

static void fails_when_a_granted_folder_is_not_there(void **state)
{
    (void)state;
    const struct cbx_grant grant = { .path = "/nonexistent" };
    struct cbx_err err;
    if (!needs(1)) {
        skip();
    }
    assert_int_equal(cbx_files_confine(&grant, 1, false, &err), CBX_EIO);
    assert_non_null(strstr(err.text, "landlock"));
    assert_int_equal(close(open("/etc/passwd", O_RDONLY | O_CLOEXEC)), 0); /* still permitted */
}

/* --- the memory of the others ----------------------------------------------------------------- */

/* A waiting child of this user with the confinement that all processes of the gateway have. */
static pid_t start_waiting(uid_t user)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        become(user);
        prctl(PR_SET_DUMPABLE, 1); /* as after execve: setuid alone may clear it */
        cbx_jail_common();
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

static int try_memory(pid_t of)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)of);
    return !DENIED(open(path, O_RDWR | O_CLOEXEC))          ? 1
           : !DENIED(open(path, O_RDONLY | O_CLOEXEC))      ? 2
           : !DENIED(ptrace(PTRACE_ATTACH, of, NULL, NULL)) ? 3
                                                            : 0;
}

static int attempt_as(uid_t user, pid_t of)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        become(user);
        cbx_jail_common();
        _exit(try_memory(of));
    }
    int status = await_child(pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void keeps_processes_of_one_user_from_the_memory_of_each_other(void **state)
{
    (void)state;
    uid_t user = getuid() == 0 ? NOBODY : getuid();
    pid_t other = start_waiting(user);
    assert_int_equal(attempt_as(user, other), 0);
    assert_int_equal(kill(other, SIGKILL), 0);
    await_child(other);
}

/* --- the state directory ---------------------------------------------------------------------- */

static void moves_the_files_of_an_older_version_to_the_fronts_folder(void **state)
{
    (void)state;
    static const char *const names[] = { "codebox.db", "codebox.db-wal", "codebox.begun" };
    struct scratch s;
    char front[128];
    struct cbx_err err;
    scratch_make(&s);
    scratch_write(s.path, names[0], CBX_STR("codebox.db"));
    scratch_write(s.path, names[1], CBX_STR("codebox.db-wal"));
    scratch_write(s.path, names[2], CBX_STR("codebox.begun"));
    scratch_write(s.path, "audit.key", CBX_STR("secret"));
    for (int start = 0; start < 2; start++) {
        assert_int_equal(cbx_state_make_front(s.path, geteuid(), front, sizeof(front), &err), 0);
        for (size_t i = 0; i < 3; i++) {
            assert_true(scratch_holds(front, names[i], names[i]));
            assert_false(scratch_holds(s.path, names[i], names[i]));
        }
    }
    assert_true(scratch_holds(s.path, "audit.key", "secret"));
    scratch_write(s.path, "codebox.db", CBX_STR("of a downgrade"));
    assert_int_equal(cbx_state_make_front(s.path, geteuid(), front, sizeof(front), &err),
                     CBX_EINVAL);
    assert_true(scratch_holds(front, "codebox.db", "codebox.db"));
    scratch_remove(&s);
}

static void moves_nothing_while_an_older_version_serves(void **state)
{
    (void)state;
    struct scratch s;
    char front[128], path[128];
    struct cbx_err err;
    scratch_make(&s);
    scratch_write(s.path, "codebox.db", CBX_STR("in use"));
    snprintf(path, sizeof(path), "%s/codebox.lock", s.path);
    CBX_AUTO_FD lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    assert_int_equal(cbx_state_make_front(s.path, geteuid(), front, sizeof(front), &err),
                     CBX_EBUSY);
    assert_true(scratch_holds(s.path, "codebox.db", "in use"));
    scratch_remove(&s);
}

static void refuses_a_link_for_the_fronts_folder(void **state)
{
    (void)state;
    struct scratch s;
    char front[128], path[128];
    struct cbx_err err;
    scratch_make(&s);
    snprintf(path, sizeof(path), "%s/front", s.path);
    assert_int_equal(symlink("/tmp", path), 0);
    assert_int_equal(cbx_state_make_front(s.path, geteuid(), front, sizeof(front), &err),
                     CBX_EAUDIT);
    scratch_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_front_from_the_audit_key_and_all_other_files),
        cmocka_unit_test(refuses_tcp_where_linux_can),
        cmocka_unit_test(refuses_signals_and_abstract_sockets_where_linux_can),
        cmocka_unit_test(lets_a_folder_of_output_be_written_and_not_read),
        cmocka_unit_test(fails_when_a_granted_folder_is_not_there),
        cmocka_unit_test(keeps_processes_of_one_user_from_the_memory_of_each_other),
        cmocka_unit_test(moves_the_files_of_an_older_version_to_the_fronts_folder),
        cmocka_unit_test(moves_nothing_while_an_older_version_serves),
        cmocka_unit_test(refuses_a_link_for_the_fronts_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
