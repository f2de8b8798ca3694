/* SPDX-License-Identifier: MIT
 * A file whose judgement crashes or hangs loses only its own verdict, whatever the number and order
 * of files. The judgement is a function of the test, controlled by the file's name. */
#include "analyzer/lint/lint_run.h"
#include "analyzer/lint/watch.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

enum { PATHS_MAX = 300 };

/* 'c' crashes, 'a' aborts, 'h' hangs, 'x' exits, 'l' has a long report, anything else is fine. */
static void check(const struct cbx_lint *lint, struct cbx_lint_worker *worker,
                  const struct cbx_lint_path *path, struct cbx_lint_result *out)
{
    (void)lint;
    (void)worker;
    char kind = path->path.p[0];
    *out = (struct cbx_lint_result){ .status = kind == 'd', .findings = 1 };
    cbx_buf_init(&out->output, CBX_LINT_OUTPUT_MAX_BYTES);
    cbx_buf_add(&out->output, path->path);
    if (kind == 'c') {
        kill(getpid(), SIGSEGV);
    } else if (kind == 'a') {
        abort();
    } else if (kind == 'x') {
        _exit(0);
    } else if (kind == 'h') {
        cbx_lint_watch_timer(20);
        for (;;) {
            nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);
        }
    }
    for (size_t i = 0; kind == 'l' && i < 300000; i++) {
        cbx_buf_add_cstr(&out->output, "0123456789");
    }
}

struct rig {
    struct cbx_lint lint;
    struct cbx_lint_path items[PATHS_MAX];
    struct cbx_lint_paths paths;
    char statuses[PATHS_MAX + 1]; /* '0' to '2' */
    char error[200];              /* of the last file that was not judged */
    size_t taken, output_bytes;
};

static void take(void *context, struct cbx_lint_result *result, size_t done, size_t all)
{
    struct rig *rig = context;
    assert_int_equal(done, rig->taken + 1);
    assert_int_equal(all, rig->paths.count);
    rig->statuses[rig->taken++] = (char)('0' + result->status);
    rig->output_bytes += result->output.len;
    assert_true((result->failure != NULL) == (result->status == 2));
    if (result->failure != NULL) {
        assert_true(cbx_str_equal(cbx_json_str(json_object_get(result->failure, "path")),
                                  rig->items[rig->taken - 1].path));
        snprintf(rig->error, sizeof(rig->error), "%s",
                 json_string_value(json_object_get(result->failure, "error")));
    }
}

/* Runs one path for each letter; returns the statuses. */
static const char *run(struct rig *rig, const char *kinds, unsigned jobs)
{
    static const char letters[] = "a\0c\0d\0g\0h\0l\0x";
    *rig = (struct rig){ .lint.format = cbx_report_format_find("json") };
    for (size_t i = 0; kinds[i] != '\0'; i++) {
        const char *name = memchr(letters, kinds[i], sizeof(letters));
        rig->items[i] =
            (struct cbx_lint_path){ .path = cbx_str_of(name), .normal = cbx_str_of(name) };
        rig->paths.count++;
    }
    rig->paths.items = rig->items;
    struct cbx_lint_run options = {
        .lint = &rig->lint, .paths = &rig->paths, .jobs = jobs, .check = check
    };
    cbx_lint_run(&options, &(struct cbx_lint_sink){ take, rig });
    return rig->statuses;
}

static void a_crash_costs_the_verdict_of_its_file(void **state)
{
    (void)state;
    static const struct {
        const char *kinds, *statuses;
    } cases[] = {
        { "c", "2" },       { "gcg", "020" },   { "cgggd", "20001" },         { "gggdc", "00012" },
        { "gccg", "0220" }, { "cccc", "2222" }, { "gdgcgdgag", "010201020" }, { "gxg", "020" },
        { "ghd", "021" },
    };
    struct rig rig;
    for (unsigned jobs = 1; jobs <= 3; jobs++) {
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            assert_string_equal(run(&rig, cases[i].kinds, jobs), cases[i].statuses);
        }
    }
}

static void many_crashes_among_many_files_cost_their_verdicts(void **state)
{
    (void)state;
    char kinds[PATHS_MAX + 1] = "", expected[PATHS_MAX + 1] = "";
    for (size_t i = 0; i < PATHS_MAX; i++) {
        kinds[i] = i % 7 == 3 || i % 31 < 2 ? 'c' : i % 5 == 0 ? 'd' : 'g';
        expected[i] = kinds[i] == 'c' ? '2' : kinds[i] == 'd' ? '1' : '0';
    }
    struct rig rig;
    assert_string_equal(run(&rig, kinds, 1), expected);
    assert_string_equal(run(&rig, kinds, 4), expected);
}

static void the_reason_names_the_signal(void **state)
{
    (void)state;
    struct rig rig;
    run(&rig, "gc", 1);
    assert_string_equal(rig.error,
                        "not judged: the analyzer was ended by signal 11 (Segmentation fault)");
    run(&rig, "gh", 1);
    assert_string_equal(rig.error, "not judged: the analyzer did not end in time");
}

static void long_reports_arrive_whole(void **state)
{
    (void)state;
    struct rig rig;
    assert_string_equal(run(&rig, "llgllcl", 2), "0000020");
    assert_true(rig.output_bytes > 5 * 3000000);
}

static void a_single_file_that_crashes_ends_the_process_with_its_name(void **state)
{
    (void)state;
    static const char kinds[] = "cah";
    for (size_t i = 0; kinds[i] != '\0'; i++) {
        int ends[2], status;
        char text[200] = "";
        assert_int_equal(pipe(ends), 0);
        pid_t pid = fork();
        if (pid == 0) {
            dup2(ends[1], STDERR_FILENO);
            struct rig rig = { .lint.format = cbx_report_format_find("text") };
            rig.items[0].path = (struct cbx_str){ (const char[]){ kinds[i], ':', '\0' }, 2 };
            rig.paths = (struct cbx_lint_paths){ .items = rig.items, .count = 1 };
            struct cbx_lint_run options = {
                .lint = &rig.lint, .paths = &rig.paths, .jobs = 1, .check = check
            };
            cbx_lint_run(&options, &(struct cbx_lint_sink){ take, &rig });
            _exit(0);
        }
        close(ends[1]);
        assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
        close(ends[0]);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
        assert_memory_equal(text, "codebox-lint: ", 14);
        assert_int_equal(text[14], kinds[i]);
    }
}

/* 1 when a judgement with this limit is ended by it, 0 when it ends in time and nothing comes
 * later. */
static int is_ended(unsigned limit_ms, size_t lines)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        CBX_AUTO(policy) policy = NULL;
        struct cbx_err err;
        char name[] = "/tmp/cbx-lint-XXXXXX";
        FILE *file = fdopen(mkstemp(name), "w");
        for (size_t i = 0; i < lines; i++) {
            fprintf(file, "x%zu = [y for y in range(%zu)]\n", i, i);
        }
        fclose(file);
        struct cbx_lint_path path = { .path = cbx_str_of(name),
                                      .normal = CBX_STR("n"),
                                      .language = "python" };
        struct cbx_lint_worker worker;
        struct cbx_lint_result result;
        int failed = cbx_policy_load("default", &policy, &err);
        struct cbx_lint lint = { .format = cbx_report_format_find("text"),
                                 .report.policy = policy };
        cbx_lint_worker_init(&worker);
        worker.limit_ms = limit_ms;
        signal(SIGALRM, SIG_DFL);
        cbx_lint_file(&lint, &worker, &path, &result);
        unlink(name);
        nanosleep(&(struct timespec){ .tv_nsec = (long)limit_ms * 1500 * 1000 }, NULL);
        _exit(failed);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGALRM : WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

static void a_judgement_has_a_limit_of_time(void **state)
{
    (void)state;
    assert_int_equal(is_ended(300, 1), 0);
    assert_int_equal(is_ended(1, 20000), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crash_costs_the_verdict_of_its_file),
        cmocka_unit_test(many_crashes_among_many_files_cost_their_verdicts),
        cmocka_unit_test(the_reason_names_the_signal),
        cmocka_unit_test(long_reports_arrive_whole),
        cmocka_unit_test(a_single_file_that_crashes_ends_the_process_with_its_name),
        cmocka_unit_test(a_judgement_has_a_limit_of_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
