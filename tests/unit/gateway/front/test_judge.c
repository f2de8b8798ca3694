/* SPDX-License-Identifier: MIT
 * A real zygote and its workers: every source gets its own reply, and a worker that dies or hangs
 * gives a denial, never a pass. */
#include "tests/unit/gateway/worker_rig.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/ioctl.h>

#define ALLOWED CBX_STR("print(1 + 1)\n")
#define DENIED  CBX_STR("import subprocess\nsubprocess.run(['id'])\n")

static int decide(struct worker_rig *rig, struct cbx_str source, struct cbx_judgement *out,
                  struct cbx_err *err)
{
    struct cbx_subject subject = { .action = CBX_ACTION_RUN,
                                   .language = CBX_STR("python"),
                                   .principal = CBX_STR("ann"),
                                   .origin = CBX_STR("test") };
    return cbx_judge_decide(rig->judge, rig->policies.items[0], &subject, source, out, err);
}

static const char *first_rule(const struct cbx_judgement *j)
{
    const char *rule = json_string_value(
        json_object_get(json_array_get(json_object_get(j->decision, "findings"), 0), "rule"));
    return rule != NULL ? rule : "";
}

/* An answer from a worker, sealed with the key, for exactly these bytes. */
static void assert_answers(struct worker_rig *rig, struct cbx_str source, enum cbx_verdict verdict)
{
    CBX_AUTO_DONE(judgement) j = { 0 };
    CBX_AUTO_DONE(sealed) sealed = { 0 };
    struct cbx_err err = { 0 };
    if (decide(rig, source, &j, &err) != 0) {
        fail_msg("%s", err.text);
    }
    if (!j.analysed) {
        fail_msg("not analysed: %s",
                 json_string_value(json_object_get(
                     json_array_get(json_object_get(j.decision, "findings"), 0), "message")));
    }
    assert_int_equal(j.verdict, verdict);
    assert_true(cbx_str_equal(cbx_buf_str(&j.text), source));
    struct cbx_seal_claim claim = { .text = cbx_buf_str(&j.sealed),
                                    .mac = j.mac,
                                    .source = source };
    if (cbx_seal_open(&rig->key, &claim, cbx_time_ms(), &rig->guard, &sealed, &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(sealed.verdict, verdict);
    assert_string_equal(sealed.fields.principal, "ann");
}

static void assert_failed_judgement(const struct cbx_judgement *j)
{
    assert_int_equal(j->verdict, CBX_DENY);
    assert_false(j->analysed);
    assert_string_equal(first_rule(j), "analysis-failed");
    assert_string_equal(json_string_value(json_object_get(j->decision, "verdict")), "deny");
    assert_int_equal(strlen(json_string_value(json_object_get(j->decision, "sha256"))),
                     CBX_SHA256_HEX);
    assert_int_equal(j->sealed.len, 0);
    assert_int_equal(j->text.len, 0);
}

static bool read_stat(pid_t pid, char comm[32], char *status, pid_t *parent)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    CBX_AUTO_FILE f = fopen(path, "re");
    int ppid;
    if (f == NULL || fgets(text, sizeof(text), f) == NULL ||
        sscanf(text, "%*d (%31[^)]) %c %d", comm, status, &ppid) != 3) {
        return false;
    }
    *parent = ppid;
    return true;
}

/* Returns a worker of this zygote that waits for its request, or 0. A worker that has replied runs
 * until its end: it never sleeps again. */
static pid_t find_waiting(struct worker_rig *rig)
{
    pid_t found = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *entry; found == 0 && (entry = readdir(proc)) != NULL;) {
        char comm[32], status;
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10), parent;
        if (pid > 0 && read_stat(pid, comm, &status, &parent) && parent == rig->zygote &&
            status == 'S' && strcmp(comm, "cbx-analyzer") == 0) {
            found = pid;
        }
    }
    closedir(proc);
    return found;
}

/* The worker that waits for the next request, once the zygote has forked it. */
static pid_t find_worker(struct worker_rig *rig)
{
    pid_t found = 0;
    for (int64_t end = cbx_clock_ms() + DEADLINE_MS; found == 0; poll(NULL, 0, 1)) {
        assert_true(cbx_clock_ms() < end);
        found = find_waiting(rig);
    }
    return found;
}

static pid_t stop_worker(struct worker_rig *rig)
{
    pid_t worker = find_worker(rig), parent;
    char comm[32], status = '?';
    assert_true(worker > 0);
    assert_int_equal(kill(worker, SIGSTOP), 0);
    for (int64_t end = cbx_clock_ms() + DEADLINE_MS; status != 'T'; poll(NULL, 0, 1)) {
        assert_true(read_stat(worker, comm, &status, &parent));
        assert_true(cbx_clock_ms() < end);
    }
    return worker;
}

struct asking {
    struct worker_rig *rig;
    struct cbx_judgement judgement;
    struct cbx_str source;
    int failed;
    atomic_int tid;
    pthread_t thread;
};

static void *ask(void *context)
{
    struct asking *a = context;
    a->tid = gettid();
    a->failed = decide(a->rig, a->source, &a->judgement, NULL);
    return NULL;
}

static void answers_an_allowed_and_a_denied_source(void **state)
{
    (void)state;
    struct worker_rig rig;
    worker_rig_start(&rig, 1, 20000);
    assert_answers(&rig, ALLOWED, CBX_ALLOW);
    assert_answers(&rig, DENIED, CBX_DENY);
    assert_answers(&rig, CBX_STR("def broken(:\n"), CBX_DENY);
    assert_answers(&rig, ALLOWED, CBX_ALLOW);
    worker_rig_stop(&rig);
}

static void is_a_denial_when_zeroed(void **state)
{
    (void)state;
    CBX_AUTO_DONE(judgement) j = { 0 };
    assert_int_equal(j.verdict, CBX_DENY);
    assert_false(j.analysed);
}

/* Something was sent on one of our sockets that the other end has not read. */
static bool has_unread_output(void)
{
    for (int fd = 3; fd < 256; fd++) {
        int waiting = 0;
        if (ioctl(fd, SIOCOUTQ, &waiting) == 0 && waiting > 0) {
            return true;
        }
    }
    return false;
}

/* Sends a request in a thread, and returns when the stopped worker has the whole request and the
 * thread sleeps. */
static void ask_stopped_worker(struct asking *a)
{
    assert_int_equal(pthread_create(&a->thread, NULL, ask, a), 0);
    char comm[32], status = '?';
    pid_t parent, tid;
    for (int64_t end = cbx_clock_ms() + DEADLINE_MS; status != 'S'; poll(NULL, 0, 1)) {
        assert_true(cbx_clock_ms() < end);
        if (has_unread_output() && (tid = atomic_load(&a->tid)) != 0) {
            read_stat(tid, comm, &status, &parent);
        }
    }
}

static void asks_another_worker_when_one_is_killed_while_it_judges(void **state)
{
    (void)state;
    struct worker_rig rig;
    worker_rig_start(&rig, 1, 60000);
    for (int round = 0; round < 3; round++) {
        struct asking a = { .rig = &rig, .source = ALLOWED };
        assert_answers(&rig, ALLOWED, CBX_ALLOW);
        pid_t worker = stop_worker(&rig);
        ask_stopped_worker(&a);
        assert_int_equal(kill(worker, SIGKILL), 0);
        pthread_join(a.thread, NULL);
        assert_int_equal(a.failed, 0);
        assert_int_equal(a.judgement.verdict, CBX_ALLOW);
        cbx_judgement_done(&a.judgement);
        assert_int_not_equal(find_worker(&rig), worker);
    }
    worker_rig_stop(&rig);
}

static void denies_when_the_worker_does_not_answer_in_time(void **state)
{
    (void)state;
    struct worker_rig rig;
    worker_rig_start(&rig, 1, 1500);
    assert_answers(&rig, ALLOWED, CBX_ALLOW);
    pid_t worker = stop_worker(&rig);
    CBX_AUTO_DONE(judgement) j = { 0 };
    assert_int_equal(decide(&rig, ALLOWED, &j, NULL), 0);
    assert_failed_judgement(&j);
    assert_answers(&rig, ALLOWED, CBX_ALLOW);
    pid_t next = find_worker(&rig);
    assert_int_not_equal(next, worker);
    for (int64_t end = cbx_clock_ms() + DEADLINE_MS; kill(worker, 0) == 0; poll(NULL, 0, 1)) {
        assert_true(cbx_clock_ms() < end); /* it never answers a later question */
    }
    worker_rig_stop(&rig);
}

/* The worker ended without a request, so its end is no verdict on the next request. */
static void replaces_a_worker_that_died_between_two_requests(void **state)
{
    (void)state;
    struct worker_rig rig;
    worker_rig_start(&rig, 1, 20000);
    for (int round = 0; round < 3; round++) {
        assert_answers(&rig, ALLOWED, CBX_ALLOW);
        pid_t worker = find_worker(&rig), parent;
        char comm[32], status = '?';
        assert_int_equal(kill(worker, SIGKILL), 0);
        for (int64_t end = cbx_clock_ms() + DEADLINE_MS; status != 'Z'; poll(NULL, 0, 1)) {
            assert_true(read_stat(worker, comm, &status, &parent) && cbx_clock_ms() < end);
        }
        assert_answers(&rig, DENIED, CBX_DENY);
    }
    worker_rig_stop(&rig);
}

/* A source that takes its worker over must not reach the next judgement. */
static void has_every_source_judged_by_a_worker_of_its_own(void **state)
{
    (void)state;
    enum { ROUNDS = 20 };
    struct worker_rig rig;
    pid_t used[ROUNDS];
    worker_rig_start(&rig, 1, 20000);
    assert_answers(&rig, ALLOWED, CBX_ALLOW);
    for (int round = 0; round < ROUNDS; round++) {
        used[round] = find_worker(&rig);
        for (int i = 0; i < round; i++) {
            assert_int_not_equal(used[i], used[round]);
        }
        assert_answers(&rig, round % 2 == 0 ? ALLOWED : DENIED,
                       round % 2 == 0 ? CBX_ALLOW : CBX_DENY);
    }
    worker_rig_stop(&rig);
}

static void is_an_error_that_allows_nothing_when_no_worker_can_be_started(void **state)
{
    (void)state;
    struct worker_rig rig;
    worker_rig_start(&rig, 2, 20000);
    assert_answers(&rig, ALLOWED, CBX_ALLOW);
    assert_int_equal(kill(rig.zygote, SIGKILL), 0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)rig.zygote, &info, WEXITED | WNOWAIT), 0);
    int failed = 0;
    for (int64_t end = cbx_clock_ms() + DEADLINE_MS; !failed;
         poll(NULL, 0, 1)) { /* its worker follows it soon */
        CBX_AUTO_DONE(judgement) j = { 0 };
        failed = decide(&rig, DENIED, &j, NULL);
        assert_true(failed == 0 || failed == CBX_EIO);
        assert_int_equal(j.verdict, CBX_DENY);
        assert_true(cbx_clock_ms() < end);
    }
    CBX_AUTO_DONE(judgement) j = { 0 };
    struct cbx_err err = { 0 };
    assert_int_equal(decide(&rig, ALLOWED, &j, &err), CBX_EIO);
    assert_non_null(strstr(err.text, "no analyzer can be started"));
    assert_int_equal(j.verdict, CBX_DENY);
    assert_false(j.analysed);
    assert_null(j.decision);
    worker_rig_stop(&rig);
}

static void tells_a_callers_mistake_from_a_denial(void **state)
{
    (void)state;
    struct worker_rig rig;
    worker_rig_start(&rig, 1, 20000);
    struct cbx_judgement j = { 0 };
    struct cbx_err err = { 0 };
    struct cbx_policy unknown = { .name = CBX_STR("nobody's") };
    struct cbx_subject subject = { .action = CBX_ACTION_RUN, .language = CBX_STR("python") };
    assert_int_equal(cbx_judge_decide(rig.judge, &unknown, &subject, ALLOWED, &j, &err),
                     CBX_ENOTFOUND);
    assert_non_null(strstr(err.text, "nobody's"));
    static const struct cbx_str languages[] = {
        { "cobol", 5 }, { "", 0 }, { "Python", 6 }, { "a language with a long name", 27 }
    };
    for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++) {
        subject.language = languages[i];
        assert_int_equal(
            cbx_judge_decide(rig.judge, rig.policies.items[0], &subject, ALLOWED, &j, &err),
            CBX_EINVAL);
    }
    assert_null(j.decision);
    assert_false(j.analysed);
    assert_answers(&rig, ALLOWED, CBX_ALLOW);
    worker_rig_stop(&rig);
}

struct asker {
    struct worker_rig *rig;
    int number, wrong;
};

static void *ask_many(void *context)
{
    struct asker *a = context;
    for (int i = 0; i < 50; i++) {
        char text[128];
        bool denied = (a->number + i) % 3 == 0;
        snprintf(text, sizeof(text), "x%d = %d\n%s", a->number, i,
                 denied ? "import subprocess\n" : "print(1)\n");
        struct cbx_sha256 hash = cbx_sha256_of(cbx_str_of(text));
        char hex[CBX_SHA256_HEX + 1];
        cbx_sha256_hex(&hash, hex);
        CBX_AUTO_DONE(judgement) j = { 0 };
        a->wrong += decide(a->rig, cbx_str_of(text), &j, NULL) != 0 || !j.analysed ||
                    j.verdict != (denied ? CBX_DENY : CBX_ALLOW) ||
                    !cbx_str_is(cbx_buf_str(&j.text), text) ||
                    !cbx_str_is(cbx_json_str(json_object_get(j.decision, "sha256")), hex) ||
                    memmem(j.sealed.p, j.sealed.len, hex, CBX_SHA256_HEX) == NULL;
    }
    return NULL;
}

static void gives_everybody_their_own_answer(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    struct worker_rig rig;
    worker_rig_start(&rig, 3, 20000);
    pthread_t threads[THREADS];
    struct asker askers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        askers[i] = (struct asker){ .rig = &rig, .number = i };
        assert_int_equal(pthread_create(&threads[i], NULL, ask_many, &askers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(askers[i].wrong, 0);
    }
    worker_rig_stop(&rig);
}

static void takes_its_workers_with_it_when_it_ends(void **state)
{
    (void)state;
    struct worker_rig rig;
    worker_rig_start(&rig, 1, 20000);
    assert_answers(&rig, ALLOWED, CBX_ALLOW);
    pid_t worker = stop_worker(&rig);
    worker_rig_stop(&rig);
    for (int64_t end = cbx_clock_ms() + DEADLINE_MS; kill(worker, 0) == 0; poll(NULL, 0, 1)) {
        char comm[32], status = 'Z';
        pid_t parent;
        if (read_stat(worker, comm, &status, &parent) && status == 'Z') {
            break; /* a zombie that its new parent has not reaped yet */
        }
        assert_true(cbx_clock_ms() < end);
    }
}

/* The words of a key as a hash function keeps them: as they are or with the pads of HMAC, and with
 * the bytes of each word in either order. */
static void write_forms(const struct cbx_seal_key *key, uint8_t out[6][sizeof(key->bytes)])
{
    static const uint8_t pads[] = { 0, 0x36, 0x5c };
    for (size_t form = 0; form < 6; form++) {
        for (size_t i = 0; i < sizeof(key->bytes); i++) {
            out[form][i] = key->bytes[form < 3 ? i : i ^ 3] ^ pads[form % 3];
        }
    }
}

/* Copies of half a key in a process's memory; -1 when only root may read it. */
static int count_copies(pid_t pid, const struct cbx_seal_key *key)
{
    enum { HALF = sizeof(key->bytes) / 2 };
    char path[64], line[512];
    uint8_t forms[6][sizeof(key->bytes)];
    write_forms(key, forms);
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    CBX_AUTO_FILE maps = fopen(path, "re");
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
    CBX_AUTO_FD mem = open(path, O_RDONLY | O_CLOEXEC);
    if (maps == NULL || mem < 0) {
        return -1;
    }
    int copies = 0;
    size_t pages = 0;
    unsigned long from, to;
    while (fgets(line, sizeof(line), maps) != NULL && sscanf(line, "%lx-%lx r", &from, &to) == 2) {
        static uint8_t bytes[4096];
        if (to - from > 1ul << 30) {
            continue; /* the shadow of a sanitizer */
        }
        for (; from < to; from += sizeof(bytes)) {
            if (pread(mem, bytes, sizeof(bytes), (off_t)from) == (ssize_t)sizeof(bytes)) {
                pages++;
                for (size_t i = 0; i < 12; i++) {
                    copies +=
                        memmem(bytes, sizeof(bytes), forms[i / 2] + i % 2 * HALF, HALF) != NULL;
                }
            }
        }
    }
    return pages > 100 ? copies : -1;
}

/* A worker that was taken over can read all of its memory. */
static void workers_have_no_copy_of_the_seal_key(void **state)
{
    (void)state;
    struct worker_rig rig;
    worker_rig_start(&rig, 1, 60000);
    for (int round = 0; round < 5; round++) {
        assert_answers(&rig, ALLOWED, CBX_ALLOW);
        pid_t worker = find_worker(&rig);
        int copies = count_copies(worker, &rig.key);
        if (copies < 0) {
            worker_rig_stop(&rig);
            skip(); /* only root reads the memory of a process that is not dumpable */
        }
        assert_true(count_copies(worker, &rig.pasts) > 0); /* so the search finds copies */
        assert_true(count_copies(rig.zygote, &rig.key) > 0);
        assert_int_equal(copies, 0);
    }
    worker_rig_stop(&rig);
}

static int decide_with_past(struct worker_rig *rig, struct cbx_str past, struct cbx_judgement *out,
                            struct cbx_err *err)
{
    struct cbx_subject subject = { .action = CBX_ACTION_RUN,
                                   .language = CBX_STR("python"),
                                   .principal = CBX_STR("ann"),
                                   .session = CBX_STR("s1"),
                                   .past = past,
                                   .origin = CBX_STR("test") };
    return cbx_judge_decide(rig->judge, rig->policies.items[0], &subject, ALLOWED, out, err);
}

static void refuses_a_past_under_a_key_of_decisions(void **state)
{
    (void)state;
    struct worker_rig rig;
    worker_rig_start(&rig, 1, 60000);
    const struct cbx_seal_token token = sealing_token(&rig.key);
    const struct cbx_seal_key *keys[] = { NULL, &rig.pasts, &rig.key, &token.key };
    CBX_AUTO_DONE(judgement) first = { 0 };
    assert_int_equal(decide_with_past(&rig, (struct cbx_str){ 0 }, &first, NULL), 0);
    assert_true(first.past.len > CBX_SHA256_BYTES);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        CBX_AUTO_DONE(judgement) j = { 0 };
        struct cbx_err err = { 0 };
        struct cbx_str past = cbx_buf_str(&first.past);
        if (keys[i] != NULL) { /* NULL: as the worker sealed it */
            struct cbx_str key = { .p = (const char *)keys[i]->bytes,
                                   .len = sizeof(keys[i]->bytes) };
            struct cbx_sha256 mac =
                cbx_hmac_sha256(key, cbx_str_sub(past, CBX_SHA256_BYTES, past.len));
            memcpy(first.past.p, mac.bytes, sizeof(mac.bytes));
        }
        int failed = decide_with_past(&rig, past, &j, &err);
        assert_int_equal(failed, i < 2 ? 0 : CBX_ESEAL);
        assert_int_equal(j.verdict, i < 2 ? CBX_ALLOW : CBX_DENY);
        assert_true(i < 2 || strstr(err.text, "the past's seal is not valid") != NULL);
    }
    worker_rig_stop(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_an_allowed_and_a_denied_source),
        cmocka_unit_test(is_a_denial_when_zeroed),
        cmocka_unit_test(asks_another_worker_when_one_is_killed_while_it_judges),
        cmocka_unit_test(denies_when_the_worker_does_not_answer_in_time),
        cmocka_unit_test(replaces_a_worker_that_died_between_two_requests),
        cmocka_unit_test(has_every_source_judged_by_a_worker_of_its_own),
        cmocka_unit_test(is_an_error_that_allows_nothing_when_no_worker_can_be_started),
        cmocka_unit_test(tells_a_callers_mistake_from_a_denial),
        cmocka_unit_test(gives_everybody_their_own_answer),
        cmocka_unit_test(takes_its_workers_with_it_when_it_ends),
        cmocka_unit_test(workers_have_no_copy_of_the_seal_key),
        cmocka_unit_test(refuses_a_past_under_a_key_of_decisions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
