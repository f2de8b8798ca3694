/* SPDX-License-Identifier: MIT
 * The confinement of an executor, tried from inside by forked children: as the user of the test,
 * and as an ordinary user. */
#include "gateway/executor/executor_confine.h"
#include "gateway/ipc/jail/files.h"
#include "gateway/ipc/jail/jail.h"
#include "tests/unit/gateway/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

enum { NOBODY = 65534, NOT_CONFINED = 99 };

#define REFUSED(call) (errno = 0, (call) < 0 && (errno == EACCES || errno == EPERM))

struct rig {
    struct scratch scratch;
    char state[80], other[80];
};

static int run_confined(const struct rig *rig, uid_t user, const char *docker_host,
                        int (*attempt)(const struct rig *))
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (user != getuid() && (setgid(user) != 0 || setuid(user) != 0)) {
            _exit(NOT_CONFINED);
        }
        cbx_jail_common();
        _exit(cbx_executor_confine(rig->state, docker_host, NULL) != 0 ? NOT_CONFINED
                                                                       : attempt(rig));
    }
    int status = await_child(pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Runs the test for each user that this process can become. */
static void assert_confined(const char *docker_host, int (*attempt)(const struct rig *))
{
    const uid_t users[] = { getuid(), NOBODY };
    if (cbx_files_landlock() < 4) {
        print_message("skipped: this Linux has Landlock version %d, needed is 4\n",
                      cbx_files_landlock());
        skip();
    }
    for (size_t i = 0; i < (getuid() == 0 ? 2 : 1); i++) {
        struct rig rig;
        scratch_make(&rig.scratch);
        assert_int_equal(chown(rig.scratch.path, users[i], users[i]), 0);
        snprintf(rig.state, sizeof(rig.state), "%s/state", rig.scratch.path);
        snprintf(rig.other, sizeof(rig.other), "%s/other", rig.scratch.path);
        scratch_write(rig.scratch.path, "other", CBX_STR("of another program"));
        assert_int_equal(chown(rig.other, users[i], users[i]), 0);
        assert_int_equal(run_confined(&rig, users[i], docker_host, attempt), 0);
        scratch_remove(&rig.scratch);
    }
}

static int try_files(const struct rig *rig)
{
    char log[128], moved[128], folder[128];
    snprintf(log, sizeof(log), "%s/audit.jsonl", rig->state);
    snprintf(moved, sizeof(moved), "%s/audit.old", rig->state);
    snprintf(folder, sizeof(folder), "%s/instances", rig->state);
    CBX_AUTO_FD made = open(log, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    CBX_AUTO_FD probe = open(rig->state, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    char *const argv[] = { (char *)(uintptr_t) "true", NULL };
    return made < 0 || probe < 0 || write(made, "x", 1) != 1         ? 1
           : mkdir(folder, 0700) < 0                                 ? 2
           : rename(log, moved) < 0 || unlink(moved) < 0             ? 3
           : !REFUSED(open(rig->other, O_RDONLY | O_CLOEXEC))        ? 4
           : !REFUSED(open(rig->other, O_WRONLY | O_CLOEXEC))        ? 5
           : !REFUSED(unlink(rig->other))                            ? 6
           : !REFUSED(mkdir("/tmp/cbx-test-confined", 0700))         ? 7
           : !REFUSED(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) ? 8
           : !REFUSED(open("/dev/zero", O_RDONLY | O_CLOEXEC))       ? 9
           : !REFUSED(execv("/bin/true", argv))                      ? 10
                                                                     : 0;
}

static int try_etc(const struct rig *rig)
{
    (void)rig;
    return !REFUSED(open("/etc/passwd", O_RDONLY | O_CLOEXEC)) ? 1 : 0;
}

static int try_internet(const struct rig *rig)
{
    (void)rig;
    return !REFUSED(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) ? 1 : 0;
}

static void reaches_its_state_directory_and_no_other_file(void **state)
{
    (void)state;
    assert_confined("unix:///var/run/docker.sock", try_files);
    assert_confined("tcp://127.0.0.1:2375", try_files);
    assert_confined("unix:///var/run/docker.sock", try_etc);
    assert_confined("unix:///var/run/docker.sock", try_internet);
}

static int connect_to_engine(const struct rig *rig)
{
    (void)rig;
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    CBX_AUTO_FD fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CBX_AUTO_FD hosts = open("/etc/hosts", O_RDONLY | O_CLOEXEC);
    return connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 || errno != ECONNREFUSED ? 1
           : !REFUSED(bind(fd, (struct sockaddr *)&to, sizeof(to)))                      ? 2
           : hosts < 0                                                                   ? 3
           : !REFUSED(open("/etc/hosts", O_WRONLY | O_CLOEXEC))                          ? 4
                                                                                         : 0;
}

static void connects_over_tcp_only_to_an_engine_there(void **state)
{
    (void)state;
    assert_confined("tcp://127.0.0.1:2375", connect_to_engine);
}

static int opens_nothing(const struct rig *rig)
{
    return REFUSED(open(rig->other, O_RDONLY | O_CLOEXEC)) &&
                   REFUSED(open(rig->scratch.path, O_RDONLY | O_CLOEXEC))
               ? 0
               : 1;
}

static void reaches_no_file_when_the_state_directory_cannot_be_made(void **state)
{
    (void)state;
    struct rig rig;
    scratch_make(&rig.scratch);
    scratch_write(rig.scratch.path, "other", CBX_STR("a file"));
    snprintf(rig.other, sizeof(rig.other), "%s/other", rig.scratch.path);
    snprintf(rig.state, sizeof(rig.state), "%s/other/state", rig.scratch.path);
    assert_int_equal(
        cbx_files_landlock() == 0 ? 0 : run_confined(&rig, getuid(), "unix:///none", opens_nothing),
        0);
    scratch_remove(&rig.scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reaches_its_state_directory_and_no_other_file),
        cmocka_unit_test(connects_over_tcp_only_to_an_engine_there),
        cmocka_unit_test(reaches_no_file_when_the_state_directory_cannot_be_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
