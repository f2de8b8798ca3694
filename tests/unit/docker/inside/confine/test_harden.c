/* SPDX-License-Identifier: MIT
 * The hardening of PID 1, in a child of this process: it cannot be undone. */
#include "docker/inside/confine/harden.c"

#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLONE3 = 435, IO_URING_SETUP = 425, PTRACE_TRACEME_REQUEST = 0 };

/* Hardens a child, which then runs `check`: true if that was true. */
static bool holds(bool (*check)(void), const char *file_bytes, const char *isolation)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        if (file_bytes != NULL) {
            setenv(CBX_HARDEN_FILE_VARIABLE, file_bytes, 1);
        }
        if (isolation != NULL) {
            setenv(CBX_HARDEN_ISOLATION_VARIABLE, isolation, 1);
        }
        _exit(cbx_harden() && check() ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool fails_with(long result, int error)
{
    return result == -1 && errno == error;
}

static bool refuses_calls(void)
{
    return fails_with(syscall(IO_URING_SETUP, 0, NULL), EPERM) &&
           fails_with(syscall(SYS_ptrace, PTRACE_TRACEME_REQUEST, 0, 0, 0), EPERM) &&
           fails_with(syscall(SYS_unshare, 0), EPERM) &&
           fails_with(syscall(SYS_chmod, "/none", 04755), EPERM);
}

static bool answers_clone3_with_its_absence(void)
{
    return fails_with(syscall(CLONE3, NULL, 0), ENOSYS);
}

static bool allows_what_programs_need(void)
{
    int ends[2];
    return pipe(ends) == 0 && write(ends[1], "x", 1) == 1 && getpid() > 0 &&
           fails_with(syscall(SYS_chmod, "/none", 0755), ENOENT) &&
           prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

static bool limit_is(int resource, rlim_t value)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_max == value && limit.rlim_cur <= value;
}

static bool has_the_default_limits(void)
{
    return limit_is(RLIMIT_CORE, 0) && limit_is(RLIMIT_NOFILE, 1024) &&
           limit_is(RLIMIT_FSIZE, CBX_HARDEN_FILE_BYTES);
}

static bool has_the_limit_of_the_variable(void)
{
    return limit_is(RLIMIT_FSIZE, 4096) && getenv(CBX_HARDEN_FILE_VARIABLE) == NULL;
}

static bool has_the_limit_of_processes(void)
{
    return limit_is(RLIMIT_NPROC, 40) && getenv(CBX_HARDEN_PROCESSES_VARIABLE) == NULL;
}

static bool has_no_limit_of_processes(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_max > 40 &&
           getenv(CBX_HARDEN_PROCESSES_VARIABLE) == NULL;
}

static bool has_no_filter(void)
{
    return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 0 &&
           getenv(CBX_HARDEN_ISOLATION_VARIABLE) == NULL && limit_is(RLIMIT_CORE, 0);
}

static void the_profile_refuses_and_allows_as_an_engine_would_make_it(void **state)
{
    (void)state;
    assert_true(holds(refuses_calls, NULL, NULL));
    assert_true(holds(answers_clone3_with_its_absence, NULL, NULL));
    assert_true(holds(allows_what_programs_need, NULL, NULL));
}

static void limits_are_lowered_to_those_of_the_container(void **state)
{
    (void)state;
    assert_true(holds(has_the_default_limits, NULL, NULL));
    assert_true(holds(has_the_limit_of_the_variable, "4096", NULL));
}

static void processes_are_limited_where_users_are_the_sandboxs_own(void **state)
{
    (void)state;
    int status = 0;
    setenv(CBX_HARDEN_PROCESSES_VARIABLE, "40", 1);
    if (!has_own_users()) { /* others of this host have the same user */
        assert_true(holds(has_no_limit_of_processes, NULL, NULL));
    }
    pid_t pid = fork();
    if (pid == 0) {
        char map[32];
        snprintf(map, sizeof(map), "0 %u 1", (unsigned)geteuid());
        int fd = unshare(CLONE_NEWUSER) == 0 ? open("/proc/self/uid_map", O_WRONLY) : -1;
        if (fd < 0 || write(fd, map, strlen(map)) < 0) {
            _exit(77);
        }
        _exit(holds(has_the_limit_of_processes, NULL, NULL) ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    unsetenv(CBX_HARDEN_PROCESSES_VARIABLE);
    assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77));
}

static void a_variable_that_is_no_number_gives_the_default_and_not_no_limit(void **state)
{
    (void)state;
    static const char *const wrong[] = { "", "0", "-1", "unlimited", "12x" };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_true(holds(has_the_default_limits, wrong[i], NULL));
    }
}

static void gvisor_gets_no_filter_and_its_name_alone_does_that(void **state)
{
    (void)state;
    assert_true(holds(has_no_filter, NULL, "gvisor"));
    assert_true(holds(refuses_calls, NULL, "container"));
    assert_true(holds(refuses_calls, NULL, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_profile_refuses_and_allows_as_an_engine_would_make_it),
        cmocka_unit_test(limits_are_lowered_to_those_of_the_container),
        cmocka_unit_test(processes_are_limited_where_users_are_the_sandboxs_own),
        cmocka_unit_test(a_variable_that_is_no_number_gives_the_default_and_not_no_limit),
        cmocka_unit_test(gvisor_gets_no_filter_and_its_name_alone_does_that),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
