/* SPDX-License-Identifier: MIT
 * Real analyzer workers behind the judge: one that dies, hangs or is stopped is a denial, and is replaced. */
#include "gateway/judge.h"
#include "gateway/review.h"

#include "tests/unit/gateway/scratch.h"

#include <ctype.h>
#include <dirent.h>
#include <pthread.h>
#include <string.h>

static struct scratch dir;
static struct cbx_flow flow;

static void start(int workers, int timeout_ms)
{
    static const char *const policies[] = { "default", "strict" };
    struct cbx_flow_config config = { .policies = policies, .policy_count = 2, .workers = workers, .analysis_timeout_ms = timeout_ms,
                                      .executor = { .state_dir = dir.path, .docker_host = "unix:///nonexistent", .max_sessions = 1, .max_runs = 1, .idle_ms = 1000 } };
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_flow_start(&config, &flow, &err), 0);
}

static int set_up(void **state)
{
    (void)state;
    scratch_make(&dir);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cbx_flow_done(&flow);
    scratch_remove(&dir);
    return 0;
}

static int judge(const char *policy, const char *language, struct cbx_str source, struct cbx_judgement *out, struct cbx_err *err)
{
    struct cbx_request request = { .policy = cbx_str_of(policy), .source = source,
                                   .subject = { .action = CBX_ACTION_CHECK, .language = cbx_str_of(language), .principal = CBX_STR("p"), .session = CBX_STR(""), .origin = CBX_STR("test") } };
    return cbx_review_judge(&flow, &request, out, err);
}

static enum cbx_verdict verdict_of(struct cbx_str source, bool *analysed)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(judgement) judgement = { 0 };
    assert_int_equal(judge("default", "python", source, &judgement, &err), 0);
    *analysed = judgement.analysed;
    return judgement.verdict;
}

/* The one child of `parent` that is called so; 0 when there is none. */
static pid_t child_called(pid_t parent, const char *name)
{
    pid_t found = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *e; proc != NULL && (e = readdir(proc)) != NULL;) {
        char path[300], comm[64] = "", state;
        int pid, ppid;
        snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
        FILE *f = isdigit((unsigned char)e->d_name[0]) ? fopen(path, "r") : NULL;
        if (f != NULL) {
            if (fscanf(f, "%d (%63[^)]) %c %d", &pid, comm, &state, &ppid) == 4 && ppid == parent && strcmp(comm, name) == 0 && state != 'Z') {
                found = pid;
            }
            fclose(f);
        }
    }
    closedir(proc);
    return found;
}

static void judges_what_is_allowed_and_what_is_not(void **state)
{
    (void)state;
    start(1, 0);
    bool analysed;
    assert_int_equal(verdict_of(CBX_STR("print(1)"), &analysed), CBX_ALLOW);
    assert_true(analysed);
    assert_int_equal(verdict_of(CBX_STR("import subprocess"), &analysed), CBX_DENY);
    assert_true(analysed);
}

static void takes_mistakes_of_the_caller_for_what_they_are(void **state)
{
    (void)state;
    start(1, 0);
    CBX_AUTO_DONE(judgement) judgement = { 0 };
    struct cbx_err err = { 0 };
    assert_int_equal(judge("default", "cobol", CBX_STR("x"), &judgement, &err), CBX_EINVAL);
    assert_int_equal(judge("unheard-of", "python", CBX_STR("x"), &judgement, &err), CBX_ENOTFOUND);
    assert_non_null(strstr(err.text, "default, strict"));
    assert_int_equal(judgement.verdict, CBX_DENY);
}

struct asking {
    enum cbx_verdict verdict;
    bool analysed;
    char rule[64];
};

static void *ask(void *context)
{
    struct asking *asking = context;
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(judgement) judgement = { 0 };
    if (judge("default", "python", CBX_STR("print(1)"), &judgement, &err) != 0) {
        return NULL;
    }
    asking->verdict = judgement.verdict;
    asking->analysed = judgement.analysed;
    const char *rule = json_string_value(json_object_get(json_array_get(json_object_get(judgement.decision, "findings"), 0), "rule"));
    snprintf(asking->rule, sizeof(asking->rule), "%s", rule != NULL ? rule : "");
    return NULL;
}

/* Asks while the only worker is stopped; then does `what` to it. */
static struct asking ask_a_stopped_worker(int what)
{
    bool analysed;
    verdict_of(CBX_STR("x = 1"), &analysed); /* now there is a worker */
    pid_t worker = child_called(flow.nursery_pid, "cbx-analyzer");
    assert_true(worker > 0);
    assert_int_equal(kill(worker, SIGSTOP), 0);
    struct asking asking = { .verdict = CBX_ALLOW, .analysed = true };
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, ask, &asking), 0);
    if (what != 0) {
        assert_int_equal(kill(worker, what), 0);
    }
    pthread_join(thread, NULL);
    return asking;
}

static void denies_when_the_worker_is_killed_and_replaces_it(void **state)
{
    (void)state;
    start(1, 0);
    struct asking asking = ask_a_stopped_worker(SIGKILL);
    /* The request may have come after the death was seen: then a new worker answered it. */
    if (!asking.analysed) {
        assert_int_equal(asking.verdict, CBX_DENY);
        assert_string_equal(asking.rule, "analysis-failed");
    }
    bool analysed;
    assert_int_equal(verdict_of(CBX_STR("print(2)"), &analysed), CBX_ALLOW);
    assert_true(analysed);
}

static void denies_when_the_worker_hangs_and_replaces_it(void **state)
{
    (void)state;
    start(1, 300);

    struct asking asking = ask_a_stopped_worker(0);
    assert_false(asking.analysed);
    assert_int_equal(asking.verdict, CBX_DENY);
    assert_string_equal(asking.rule, "analysis-failed");
    bool analysed;
    assert_int_equal(verdict_of(CBX_STR("print(2)"), &analysed), CBX_ALLOW);
    assert_true(child_called(flow.nursery_pid, "cbx-analyzer") > 0);

}

/* A crash: the worker is hit by a signal that its jail would send too. */
static void denies_when_the_worker_crashes(void **state)
{
    (void)state;
    start(1, 2000);
    struct asking asking = ask_a_stopped_worker(SIGSEGV);
    if (!asking.analysed) {
        assert_int_equal(asking.verdict, CBX_DENY);
        assert_string_equal(asking.rule, "analysis-failed");
    }
    bool analysed;
    assert_int_equal(verdict_of(CBX_STR("print(2)"), &analysed), CBX_ALLOW);
}

static void is_done_when_the_nursery_is_gone(void **state)
{
    (void)state;
    start(1, 1000);
    assert_int_equal(kill(flow.nursery_pid, SIGKILL), 0);
    bool analysed = true;
    assert_int_equal(verdict_of(CBX_STR("print(1)"), &analysed), CBX_DENY);
    assert_false(analysed);
}

static void *ask_many(void *context)
{
    bool *wrong = context;
    for (int i = 0; i < 50; i++) {
        bool bad = i % 3 == 0, analysed;
        char text[64];
        int n = snprintf(text, sizeof(text), bad ? "import socket # %d" : "x = %d", i);
        enum cbx_verdict verdict = verdict_of((struct cbx_str){ .p = text, .len = (size_t)n }, &analysed);
        *wrong |= verdict != (bad ? CBX_DENY : CBX_ALLOW) || !analysed;
    }
    return NULL;
}

static void gives_each_of_many_threads_its_own_answers(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    start(2, 0);
    pthread_t threads[THREADS];
    bool wrong[THREADS] = { false };
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, ask_many, &wrong[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(wrong[i]);
    }
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* as main.c does */
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(judges_what_is_allowed_and_what_is_not),
        TEST(takes_mistakes_of_the_caller_for_what_they_are),
        TEST(denies_when_the_worker_is_killed_and_replaces_it),
        TEST(denies_when_the_worker_hangs_and_replaces_it),
        TEST(denies_when_the_worker_crashes),
        TEST(is_done_when_the_nursery_is_gone),
        TEST(gives_each_of_many_threads_its_own_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
