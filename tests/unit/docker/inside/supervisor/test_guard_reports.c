/* SPDX-License-Identifier: MIT
 * The calls by which the kernel of Python reports to the supervisor, and the start of judged lines
 * of shell. */
#include "tests/unit/docker/guard_rig.h"

enum { SECRET = 4711 };

static int report(pid_t pid, uint64_t what, const char *text, uint64_t secret)
{
    return decide_with(CBX_PYTHON_BIT, pid, SYS_prctl,
                       (uint64_t[6]){ CBX_REPORT_OPTION, what, at(text), strlen(text), secret });
}

/* A kernel that has sent its hello, and whose first run has begun. */
static int begin(void **state)
{
    (void)state;
    refuse(ALL, "sh\0ls", 6);
    cbx_kernel.pid = getpid();
    assert_int_equal(report(getpid(), CBX_REPORT_SECRET, "", SECRET), CBX_GUARD_ANSWERED);
    cbx_guard.has_run = true;
    return 0;
}

static void a_refusal_of_the_hook_is_noted_with_its_text(void **state)
{
    (void)state;
    assert_int_equal(report(getpid(), CBX_REPORT_REFUSED | CBX_GUARD_READ, "/etc/shadow", SECRET),
                     CBX_GUARD_ANSWERED);
    assert_int_equal(notes, 1);
    assert_int_equal(noted_row, CBX_GUARD_READ);
    assert_string_equal(noted, "/etc/shadow");
}

static void forks_of_the_kernel_report_too(void **state)
{
    (void)state;
    cbx_kernel.pid = getpid() + 1;
    assert_int_equal(report(getpid(), CBX_REPORT_REFUSED | CBX_GUARD_IMPORT, "ctypes", SECRET),
                     CBX_GUARD_ANSWERED);
    assert_int_equal(notes, 1);
}

static void a_report_without_the_secret_is_no_report(void **state)
{
    (void)state;
    for (uint64_t secret = 0; secret < 2; secret++) {
        assert_int_equal(
            report(getpid(), CBX_REPORT_REFUSED | CBX_GUARD_READ, "/etc/shadow", secret), -EPERM);
        assert_int_equal(report(getpid(), CBX_REPORT_LINES, "", secret), -EPERM);
        assert_int_equal(notes, 0);
    }
    assert_int_equal(cbx_guard.line_thread, 0);
}

static void only_rows_of_the_hook_are_reported(void **state)
{
    (void)state;
    static const uint32_t others[] = { CBX_GUARD_START, CBX_GUARD_SOCKET, CBX_GUARD_SIGNAL,
                                       CBX_GUARD_COUNT, 200 };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_int_equal(report(getpid(), CBX_REPORT_REFUSED | others[i], "forged", SECRET),
                         -EPERM);
        assert_int_equal(notes, 0);
    }
}

static void the_secret_is_taken_once_from_the_kernel_before_its_first_run(void **state)
{
    (void)state;
    assert_int_equal(report(getpid(), CBX_REPORT_SECRET, "", 1), -EPERM);
    assert_int_equal(cbx_guard.secret, SECRET);
    refuse(ALL, "", 0);
    assert_int_equal(report(getpid(), CBX_REPORT_SECRET, "", 1),
                     -EPERM); /* another process than the kernel */
    cbx_kernel.pid = getpid();
    assert_int_equal(report(getpid(), CBX_REPORT_SECRET, "", 0), -EPERM);
    cbx_guard.has_run = true;
    assert_int_equal(report(getpid(), CBX_REPORT_SECRET, "", 1), -EPERM);
    assert_int_equal(cbx_guard.secret, 0);
}

static void the_kernel_starts_listed_programs_only_while_it_runs_a_judged_line(void **state)
{
    (void)state;
    assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_vfork, 0, 0, 0), -EACCES);
    assert_int_equal(exec_as(CBX_PYTHON_BIT, "/bin/sh"), -EACCES);
    assert_int_equal(report(getpid(), CBX_REPORT_LINES, "", SECRET), CBX_GUARD_ANSWERED);
    assert_int_equal(decide_as(CBX_PYTHON_BIT, SYS_vfork, 0, 0, 0), 0);
    assert_int_equal(exec_as(CBX_PYTHON_BIT, "/bin/sh"), 0);
    assert_int_equal(exec_as(CBX_PYTHON_BIT, "/usr/bin/env"), -EACCES); /* not in the list */
    assert_int_equal(report(getpid(), CBX_REPORT_DONE, "", SECRET), CBX_GUARD_ANSWERED);
    assert_int_equal(exec_as(CBX_PYTHON_BIT, "/bin/sh"), -EACCES);
}

static void the_kernel_is_told_where_its_frames_begin(void **state)
{
    (void)state;
    frame_offset = 77;
    uint64_t args[6] = { CBX_REPORT_OPTION, CBX_REPORT_FRAME | CBX_FRAME_RUN, 77, 0, SECRET };
    assert_int_equal(decide_with(CBX_PYTHON_BIT, getpid(), SYS_prctl, args), CBX_GUARD_ANSWERED);
    args[2] = 78;
    assert_int_equal(decide_with(CBX_PYTHON_BIT, getpid(), SYS_prctl, args), -EPERM);
    args[2] = 77;
    args[4] = SECRET + 1;
    assert_int_equal(decide_with(CBX_PYTHON_BIT, getpid(), SYS_prctl, args), -EPERM);
}

static void *start_from_a_thread(void *answer)
{
    *(int *)answer = decide_with(CBX_PYTHON_BIT, gettid(), SYS_vfork, (uint64_t[6]){ 0 });
    return NULL;
}

static void another_thread_of_the_kernel_starts_nothing_meanwhile(void **state)
{
    (void)state;
    pthread_t thread;
    int answer = 0;
    assert_int_equal(report(getpid(), CBX_REPORT_LINES, "", SECRET), CBX_GUARD_ANSWERED);
    assert_int_equal(pthread_create(&thread, NULL, start_from_a_thread, &answer), 0);
    pthread_join(thread, NULL);
    assert_int_equal(answer, -EACCES);
}

static void processes_of_a_line_go_on_after_it(void **state)
{
    (void)state;
    cbx_kernel.pid = getppid(); /* the caller is another process */
    assert_int_equal(exec_as(CBX_PYTHON_BIT, "/bin/ls"), 0);
    assert_int_equal(exec_as(CBX_PYTHON_BIT, "/usr/bin/env"), -EACCES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_refusal_of_the_hook_is_noted_with_its_text, begin),
        cmocka_unit_test_setup(forks_of_the_kernel_report_too, begin),
        cmocka_unit_test_setup(a_report_without_the_secret_is_no_report, begin),
        cmocka_unit_test_setup(only_rows_of_the_hook_are_reported, begin),
        cmocka_unit_test_setup(the_secret_is_taken_once_from_the_kernel_before_its_first_run,
                               begin),
        cmocka_unit_test_setup(the_kernel_starts_listed_programs_only_while_it_runs_a_judged_line,
                               begin),
        cmocka_unit_test_setup(the_kernel_is_told_where_its_frames_begin, begin),
        cmocka_unit_test_setup(another_thread_of_the_kernel_starts_nothing_meanwhile, begin),
        cmocka_unit_test_setup(processes_of_a_line_go_on_after_it, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
