/* SPDX-License-Identifier: MIT
 * The jails, from inside: each try runs in a child of its own. */
#include "gateway/jail.h"
#include "tests/unit/gateway/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

static void open_a_file(void)
{
    open("/etc/passwd", O_RDONLY);
}

static void make_a_socket(void)
{
    socket(AF_INET, SOCK_STREAM, 0);
}

static void make_a_unix_socket(void)
{
    socket(AF_UNIX, SOCK_STREAM, 0);
}

static void make_a_pair(void)
{
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
}

static void fork_off(void)
{
    syscall(SYS_fork);
}

static void run_a_program(void)
{
    char *const arguments[] = { (char *)(uintptr_t)"/bin/true", NULL };
    execv("/bin/true", arguments);
}

static void kill_somebody(void)
{
    kill(getppid(), 0);
}

static void look_at_memory(void)
{
    ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
}

static void change_a_directory(void)
{
    syscall(SYS_chdir, "/");
}

static int jailed(void (*attempt)(void))
{
    pid_t child = fork();
    if (child == 0) {
        struct cbx_err err = { 0 };
        if (cbx_jail_worker(&err) != 0) {
            _exit(2);
        }
        attempt();
        _exit(0);
    }
    return wait_for_end(child);
}

static void kills_a_worker_that_tries_anything(void **state)
{
    (void)state;
    static void (*const attempts[])(void) = { open_a_file, make_a_socket, make_a_unix_socket, make_a_pair, fork_off, run_a_program, kill_somebody, look_at_memory, change_a_directory };
    for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
        int status = jailed(attempts[i]);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGSYS);
    }
}

static void compute(void)
{
    static const char text[] = "ok";
    char *memory = malloc(8 * 1024 * 1024);
    struct timespec now;
    if (memory == NULL || clock_gettime(CLOCK_MONOTONIC, &now) != 0 || write(STDERR_FILENO, text, 0) != 0) {
        _exit(3);
    }
    free(memory);
}

static void lets_a_worker_compute(void **state)
{
    (void)state;
    int status = jailed(compute);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* 0 when every attempt of the front fails as it should. */
static int try_as_front(void)
{
    struct cbx_err err = { 0 };
    int pair[2], listening = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_un engine = { .sun_family = AF_UNIX, .sun_path = "/var/run/docker.sock" };
    if (cbx_jail_front(&err) != 0) {
        return 1;
    }
    if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0 || errno != EPERM) {
        return 2;
    }
    if (connect(listening, (const struct sockaddr *)&engine, sizeof(engine)) == 0 || errno != EPERM) {
        return 3;
    }
    errno = 0;
    run_a_program();
    if (errno != EPERM) {
        return 4;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || write(pair[0], "x", 1) != 1) {
        return 5;
    }
    int file = open("/dev/null", O_RDONLY);
    return file < 0 ? 6 : 0;
}

static void keeps_the_front_from_the_engine_and_from_programs(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        _exit(try_as_front());
    }
    int status = wait_for_end(child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void lets_nobody_look_into_any_process_of_ours(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        cbx_jail_common();
        _exit(prctl(PR_GET_DUMPABLE) == 0 && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 1);
    }
    assert_int_equal(wait_for_end(child), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kills_a_worker_that_tries_anything),
        cmocka_unit_test(lets_a_worker_compute),
        cmocka_unit_test(keeps_the_front_from_the_engine_and_from_programs),
        cmocka_unit_test(lets_nobody_look_into_any_process_of_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
