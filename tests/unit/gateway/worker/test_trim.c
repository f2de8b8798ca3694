/* SPDX-License-Identifier: MIT
 * The libraries of a child after the zygote unmapped some. Forked children unmap them, because the
 * process of the tests cannot map them again. */
#include "gateway/worker/trim.h"
#include "policies/base/auto.h"
#include "tests/unit/gateway/scratch.h"

#include <dlfcn.h>

enum { AS_BEFORE = 3, FEWER = 4, NO_FORK = 5 };

static int count_mappings(void)
{
    CBX_AUTO_FILE maps = fopen("/proc/self/maps", "re");
    char line[512];
    int lines = 0;
    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
        lines += strstr(line, ".so") != NULL;
    }
    return lines;
}

static void succeed(void *context)
{
    (void)context;
}

static void end_with(void *context)
{
    _exit(*(int *)context);
}

static void crash(void *context)
{
    (void)context;
    signal(SIGABRT, SIG_DFL);
    abort();
}

/* Returns the status of a child of a process that trims with this trial: compares the mappings of
 * both. */
static int trim_with(void (*trial)(void *), bool *trimmed)
{
    int reported[2], status = NO_FORK, code = 1;
    assert_int_equal(pipe(reported), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        bool left_out = cbx_trim_children(trial, &code);
        int before = count_mappings();
        (void)!write(reported[1], &left_out, sizeof(left_out));
        pid_t child = cbx_trim_fork(left_out);
        if (child == 0) {
            _exit(count_mappings() < before ? FEWER : AS_BEFORE);
        }
        waitpid(child, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : NO_FORK);
    }
    assert_int_equal(read(reported[0], trimmed, sizeof(*trimmed)), sizeof(*trimmed));
    close(reported[0]);
    close(reported[1]);
    status = await_child(pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void children_have_fewer_libraries_and_work(void **state)
{
    (void)state;
    bool trimmed;
    int child = trim_with(succeed, &trimmed);
    if (!trimmed) {
        assert_int_equal(child, AS_BEFORE);
        print_message("skipped: a build with sanitizers, or with all in one program\n");
        skip();
    }
    assert_int_equal(child, FEWER);
}

static void nothing_is_left_out_when_a_first_child_fails(void **state)
{
    (void)state;
    bool trimmed;
    assert_int_equal(trim_with(end_with, &trimmed), AS_BEFORE);
    assert_false(trimmed);
    assert_int_equal(trim_with(crash, &trimmed), AS_BEFORE);
    assert_false(trimmed);
}

int main(void)
{
    /* Stands for a library that only libraries need: it is behind the C library. */
    if (dlopen("libcurl.so.4", RTLD_NOW) == NULL) {
        print_message("%s\n", dlerror());
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_have_fewer_libraries_and_work),
        cmocka_unit_test(nothing_is_left_out_when_a_first_child_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
