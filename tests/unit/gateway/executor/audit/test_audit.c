/* SPDX-License-Identifier: MIT
 * Writing the audit log: whole, in order, with many writers, on a full disk, after a crash. */
#include "gateway/executor/redact/redact.h"
#include "tests/unit/gateway/executor/audit_log.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

static void cuts_a_torn_line_off_and_records_it(void **state)
{
    (void)state;
    struct scratch s;
    struct lines lines;
    begin(&s, &lines);
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1 << 20);
    cbx_buf_add(&text, cbx_buf_str(&lines.text));
    cbx_buf_add_cstr(&text, "{\"body\":{\"n\":7},\"ha");
    scratch_write(s.path, CBX_AUDIT_FILE, cbx_buf_str(&text));
    assert_verifies(s.path, RECORDS, RECORDS + 1, "torn");
    append_many(s.path, 1);
    assert_verifies(s.path, RECORDS + 2, 0, "");
    assert_true(scratch_holds(s.path, CBX_AUDIT_FILE, "\"torn_bytes\":19"));
    assert_false(scratch_holds(s.path, CBX_AUDIT_FILE, "\"n\":7"));
    end(&s, &lines);
}

static void refuses_to_continue_after_a_last_line_that_is_no_record(void **state)
{
    (void)state;
    struct scratch s;
    struct lines lines;
    begin(&s, &lines);
    static const char *const tails[] = { "\n", "nonsense\n", "{}\n",
                                         "{\"seq\":7,\"hash\":\"x\"}\n" };
    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        CBX_AUTO_DONE(buf) text;
        cbx_buf_init(&text, 1 << 20);
        cbx_buf_add(&text, cbx_buf_str(&lines.text));
        cbx_buf_add_cstr(&text, tails[i]);
        scratch_write(s.path, CBX_AUDIT_FILE, cbx_buf_str(&text));
        assert_verifies(s.path, RECORDS, RECORDS + 1, "");
        assert_takes_no_more(s.path, "not a record");
    }
    end(&s, &lines);
}

/* --- many writers ----------------------------------------------------------------------------- */

enum { THREADS = 16, EACH = 100 };

static void *append_from_a_thread(void *context)
{
    uint64_t last = 0, seq = 0;
    for (int i = 0; i < EACH; i++) {
        CBX_AUTO_JSON body = json_pack("{s:i}", "n", i);
        if (cbx_audit_append(context, "note", body, &seq, NULL) != 0 || seq <= last) {
            return context;
        }
        last = seq;
    }
    return NULL;
}

static void keeps_the_chain_with_many_threads(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    CBX_AUTO(audit) audit = open_log(s.path);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, append_from_a_thread, audit), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_verifies(s.path, THREADS * EACH, 0, "");
    scratch_remove(&s);
}

/* --- the disk --------------------------------------------------------------------------------- */

static int synced; /* calls of fdatasync(2) */
static bool sync_fails;

/* Replaces libc's function in the whole program. */
int fdatasync(int fd)
{
    synced++;
    if (sync_fails) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

static void a_record_is_on_the_disk_before_its_writer_goes_on(void **state)
{
    (void)state;
    struct scratch s;
    struct cbx_err err = { 0 };
    scratch_make(&s);
    CBX_AUTO(audit) audit = open_log(s.path);
    for (int i = 0; i < 3; i++) {
        synced = 0;
        assert_int_equal(append(audit, i, &err), 0);
        assert_true(synced > 0);
    }
    sync_fails = true;
    int failed = append(audit, 99, &err);
    sync_fails = false;
    assert_int_equal(failed, CBX_EAUDIT);
    assert_false(scratch_holds(s.path, CBX_AUDIT_FILE, "\"n\":99")); /* no partial record */
    assert_int_equal(append(audit, 4, &err), 0);
    assert_verifies(s.path, 4, 0, "");
    scratch_remove(&s);
}

static void secrets_in_bodies_do_not_reach_the_disk(void **state)
{
    (void)state;
    struct scratch s;
    struct cbx_err err = { 0 };
    static const struct cbx_redact_secret secret = { .name = { "API_KEY", 7 },
                                                     .value = { "hunter2-Qx71kz", 14 } };
    CBX_AUTO(redactor) redactor = cbx_redactor_new(&secret, 1);
    scratch_make(&s);
    CBX_AUTO(audit) audit = open_log(s.path);
    cbx_audit_set_redactor(audit, redactor);
    CBX_AUTO_JSON body = json_pack("{s:s, s:{s:[s]}}", "code", "print('hunter2-Qx71kz')", "deep",
                                   "down", "key=hunter2-Qx71kz");
    assert_int_equal(cbx_audit_append(audit, "note", body, NULL, &err), 0);
    assert_false(scratch_holds(s.path, CBX_AUDIT_FILE, "hunter2-Qx71kz"));
    assert_true(scratch_holds(s.path, CBX_AUDIT_FILE, "API_KEY"));
    assert_verifies(s.path, 1, 0, "");
    scratch_remove(&s);
}

static pid_t start_writer(const char *dir, int records)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct cbx_audit *audit;
        int failed = cbx_audit_open(dir, &audit, NULL);
        for (int i = 0; i < records && !failed; i++) {
            failed = append(audit, i, NULL);
        }
        cbx_audit_flush(audit);
        _exit(failed != 0);
    }
    assert_true(pid > 0);
    return pid;
}

static void keeps_the_chain_with_two_processes_and_a_reader(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    struct scratch s;
    scratch_make(&s);
    append_many(s.path, 1);
    pid_t writers[2] = { start_writer(s.path, COUNT), start_writer(s.path, COUNT) };
    uint64_t seen = 0;
    int64_t end_ms = cbx_clock_ms() + DEADLINE_MS;
    while (seen < 2 * COUNT + 1 && cbx_clock_ms() < end_ms) {
        struct cbx_audit_report report;
        assert_int_equal(cbx_audit_verify(s.path, &report, NULL), 0);
        if (report.line != 0) {
            fail_msg("line %llu: %s", (unsigned long long)report.line, report.problem);
        }
        assert_in_range(report.records, seen, 2 * COUNT + 1);
        seen = report.records;
    }
    assert_int_equal(await_child(writers[0]), 0);
    assert_int_equal(await_child(writers[1]), 0);
    assert_verifies(s.path, 2 * COUNT + 1, 0, "");
    assert_false(scratch_holds(s.path, CBX_AUDIT_FILE, "recovered"));
    scratch_remove(&s);
}

static void makes_one_key_when_many_open_it_first(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    pid_t writers[6];
    for (int i = 0; i < 6; i++) {
        writers[i] = start_writer(s.path, 5);
    }
    for (int i = 0; i < 6; i++) {
        assert_int_equal(await_child(writers[i]), 0);
    }
    assert_verifies(s.path, 30, 0, "");
    scratch_remove(&s);
}

/* Appends a record as another program would: with the right hash and no signature. */
static void append_unsigned(const char *dir, int count)
{
    struct cbx_chain chain = { 0 };
    CBX_AUTO_DONE(buf) text;
    scratch_read(dir, CBX_AUDIT_FILE, &text);
    for (const char *p = text.p, *end; (end = memchr(p, '\n', strlen(p))) != NULL; p = end + 1) {
        struct cbx_str line = { .p = p, .len = (size_t)(end - p) };
        assert_int_equal(cbx_chain_check(&chain, line, NULL, NULL), 0);
    }
    for (int i = 0; i < count; i++) {
        CBX_AUTO_JSON body = json_pack("{s:i}", "n", 900 + i);
        assert_int_equal(cbx_chain_add(&chain, "note", body, cbx_time_ms(), &text), 0);
    }
    scratch_write(dir, CBX_AUDIT_FILE, cbx_buf_str(&text));
}

static void assert_unsigned(const char *dir, size_t ranges, uint64_t from, uint64_t to)
{
    struct cbx_audit_report report;
    assert_int_equal(cbx_audit_verify(dir, &report, NULL), 0);
    assert_int_equal(report.line, 0);
    assert_int_equal(report.unsigned_count, ranges);
    if (ranges > 0) {
        assert_int_equal(report.unsigned_ranges[0].from, from);
        assert_int_equal(report.unsigned_ranges[0].to, to);
    }
}

static int acknowledge(const char *dir, struct cbx_err *err)
{
    struct cbx_audit_report report;
    assert_int_equal(cbx_audit_verify(dir, &report, NULL), 0);
    return cbx_audit_acknowledge(dir, &report, CBX_STR("uid:0"), CBX_STR("power cut"), err);
}

static void reports_records_that_were_never_signed_until_they_are_acknowledged(void **state)
{
    (void)state;
    struct scratch s;
    struct cbx_err err = { 0 };
    scratch_make(&s);
    append_many(s.path, 3);
    assert_unsigned(s.path, 0, 0, 0);
    append_unsigned(s.path, 2);
    assert_verifies(s.path, 5, 4, "not signed");
    assert_int_equal(acknowledge(s.path, &err), CBX_ESTATE); /* not before the record 'recovered' */
    append_many(s.path, 1);
    assert_true(scratch_holds(s.path, CBX_AUDIT_FILE, "\"type\":\"recovered\""));
    assert_unsigned(s.path, 1, 4, 5);
    append_many(s.path, 2);
    assert_unsigned(s.path, 1, 4, 5);
    append_unsigned(s.path, 1);
    append_many(s.path, 1);
    assert_unsigned(s.path, 2, 4, 5);
    assert_int_equal(acknowledge(s.path, &err), 0);
    assert_unsigned(s.path, 0, 0, 0);
    assert_true(scratch_holds(s.path, CBX_AUDIT_FILE, "power cut"));
    append_unsigned(s.path, 1);
    append_many(s.path, 1);
    assert_unsigned(s.path, 1, 14, 14);
    scratch_remove(&s);
}

static void reports_that_its_file_was_moved_away_or_replaced(void **state)
{
    (void)state;
    struct scratch s;
    struct cbx_err err = { 0 };
    char head[128], aside[128];
    scratch_make(&s);
    append_many(s.path, 1);
    snprintf(head, sizeof(head), "%s/" CBX_AUDIT_FILE, s.path);
    snprintf(aside, sizeof(aside), "%s/aside", s.path);
    CBX_AUTO(audit) audit = open_log(s.path);
    assert_int_equal(append(audit, 1, &err), 0);
    cbx_audit_flush(audit);
    assert_int_equal(cbx_audit_check(audit, &err), 0);
    assert_int_equal(rename(head, aside), 0);
    assert_int_equal(cbx_audit_check(audit, &err), CBX_EAUDIT);
    scratch_write(s.path, CBX_AUDIT_FILE, CBX_STR("another file\n"));
    assert_int_equal(cbx_audit_check(audit, &err), CBX_EAUDIT);
    assert_non_null(strstr(err.text, "replaced"));
    scratch_remove(&s);
}

static void is_whole_after_its_writer_is_killed(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    append_many(s.path, 1);
    for (int round = 0; round < 30; round++) {
        pid_t writer = start_writer(s.path, 1000000);
        poll(NULL, 0, 1 + round % 7);
        kill(writer, SIGKILL);
        assert_true(WIFSIGNALED(await_child(writer)));
        append_many(s.path, 1);
        struct cbx_audit_report report;
        assert_int_equal(cbx_audit_verify(s.path, &report, NULL), 0);
        assert_int_equal(report.line, 0);
    }
    scratch_remove(&s);
}

/* --- records that do not fit ------------------------------------------------------------------ */

static int limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    return setrlimit(RLIMIT_FSIZE, &limit);
}

static int fill_the_disk(const char *dir)
{
    struct cbx_audit *audit;
    struct cbx_err err = { 0 };
    struct cbx_audit_report report;
    CBX_AUTO_DONE(buf) text;
    signal(SIGXFSZ, SIG_IGN);
    scratch_read(dir, CBX_AUDIT_FILE, &text);
    if (cbx_audit_open(dir, &audit, &err) != 0 || append(audit, 1, &err) != 0) {
        return 1;
    }
    /* Room for half a record, then for none. */
    if (limit_files(text.len + 350) != 0 || append(audit, 1002, &err) != CBX_EAUDIT ||
        strstr(err.text, "nothing runs") == NULL) {
        return 2;
    }
    limit_files(1);
    if (append(audit, 1003, &err) != CBX_EAUDIT) {
        return 3;
    }
    limit_files(RLIM_INFINITY);
    if (cbx_audit_verify(dir, &report, &err) != 0 || report.line != 0 ||
        report.records != RECORDS + 1) {
        return 4;
    }
    if (append(audit, 1004, &err) != 0 || cbx_audit_verify(dir, &report, &err) != 0 ||
        report.line != 0 || report.records != RECORDS + 2) {
        return 5;
    }
    return 0;
}

static void refuses_records_only_while_the_disk_is_full(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    append_many(s.path, RECORDS);
    pid_t pid = fork();
    if (pid == 0) {
        _exit(fill_the_disk(s.path));
    }
    int status = await_child(pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_verifies(s.path, RECORDS + 2, 0, "");
    assert_false(scratch_holds(s.path, CBX_AUDIT_FILE, "\"n\":1002"));
    assert_true(scratch_holds(s.path, CBX_AUDIT_FILE, "\"n\":1004"));
    scratch_remove(&s);
}

static int append_text(struct cbx_audit *audit, size_t len, struct cbx_err *err)
{
    char *text = malloc(len + 1);
    assert_non_null(text);
    memset(text, 'x', len);
    CBX_AUTO_JSON body = json_object();
    json_object_set_new(body, "text", json_stringn(text, len));
    free(text);
    return cbx_audit_append(audit, "note", body, NULL, err);
}

static void takes_the_largest_record_that_it_can_read_again(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    CBX_AUTO(audit) audit = open_log(s.path);
    struct cbx_err err;
    uint64_t taken = 0;
    bool refused = false;
    for (size_t len = CBX_AUDIT_LINE_MAX - 400; len < CBX_AUDIT_LINE_MAX; len += 7) {
        int failed = append_text(audit, len, &err);
        assert_true(failed == 0 || failed == CBX_EAUDIT);
        assert_false(refused && !failed);
        refused = refused || failed;
        taken += !failed;
        CBX_AUTO(audit) again = open_log(s.path);
        assert_int_equal(append(again, 1, &err),
                         0); /* the log continues after the largest record */
        taken++;
    }
    assert_true(refused);
    assert_verifies(s.path, taken, 0, "");
    scratch_remove(&s);
}

struct mixed {
    struct cbx_audit *audit;
    bool large;
    int failures;
};

static void *append_mixed(void *context)
{
    struct mixed *m = context;
    for (int i = 0; i < 50; i++) {
        m->failures += append_text(m->audit, m->large ? CBX_AUDIT_LINE_MAX : 10, NULL) != 0;
    }
    return NULL;
}

static void a_record_that_is_too_large_fails_alone(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    CBX_AUTO(audit) audit = open_log(s.path);
    pthread_t threads[8];
    struct mixed mixed[8];
    for (int i = 0; i < 8; i++) {
        mixed[i] = (struct mixed){ .audit = audit, .large = i % 2 == 1 };
        assert_int_equal(pthread_create(&threads[i], NULL, append_mixed, &mixed[i]), 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(mixed[i].failures, mixed[i].large ? 50 : 0);
    }
    assert_verifies(s.path, 200, 0, "");
    scratch_remove(&s);
}

static void keeps_hostile_texts_on_one_line(void **state)
{
    (void)state;
    static const struct cbx_str texts[] = {
        CBX_STR("a\0b\nc\rd\x1b[31m\x7f"),
        CBX_STR("\xff\xfe\xc3"),
        CBX_STR("\xed\xa0\x80"),
        CBX_STR("\xe2\x80\xa8\xe2\x80\xae"),
        CBX_STR("\"},\"seq\":1,\"x\":{\""),
        CBX_STR(""),
    };
    struct scratch s;
    scratch_make(&s);
    CBX_AUTO(audit) audit = open_log(s.path);
    uint64_t records = 0;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++, records++) {
        CBX_AUTO_JSON body = json_object();
        json_object_set_new(body, "text", cbx_json_text(texts[i]));
        assert_int_equal(cbx_audit_append(audit, "note", body, NULL, NULL), 0);
    }
    char *big = malloc(100000);
    for (size_t i = 0; i < 100000; i++) {
        big[i] = (char)(i * 7);
    }
    CBX_AUTO_JSON body = json_object();
    json_object_set_new(body, "text", cbx_json_text((struct cbx_str){ .p = big, .len = 100000 }));
    free(big);
    struct cbx_err err = { 0 };
    if (cbx_audit_append(audit, "note", body, NULL, &err) != 0) {
        fail_msg("%s", err.text);
    }
    records++;
    assert_verifies(s.path, records, 0, "");
    CBX_AUTO_DONE(buf) text;
    scratch_read(s.path, CBX_AUDIT_FILE, &text);
    uint64_t lines = 0;
    for (size_t i = 0; i < text.len; i++) {
        lines += text.p[i] == '\n';
        assert_true(text.p[i] == '\n' || (unsigned char)text.p[i] >= 0x20);
    }
    assert_int_equal(lines, records);
    scratch_remove(&s);
}

/* --- permits ---------------------------------------------------------------------------------- */

static void gives_a_permit_with_its_records_number_only_for_what_is_allowed(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    CBX_AUTO(audit) audit = open_log(s.path);
    for (int verdict = CBX_DENY; verdict <= CBX_ALLOW; verdict++) {
        for (int action = CBX_ACTION_CHECK; action <= CBX_ACTION_RUN; action++) {
            CBX_AUTO_JSON body = json_object();
            struct cbx_sealed sealed = { .verdict = (enum cbx_verdict)verdict,
                                         .json = body,
                                         .fields = { .action = (enum cbx_action)action } };
            CBX_AUTO(permit) permit = NULL;
            uint64_t seq = 0;
            assert_int_equal(cbx_audit_admit(audit, &sealed, NULL, &permit, &seq, NULL), 0);
            assert_int_equal(seq, 3 * verdict + action + 1);
            assert_int_equal(permit != NULL, verdict == CBX_ALLOW && action != CBX_ACTION_CHECK);
            assert_true(permit == NULL || permit->audit_seq == seq);
        }
    }
    scratch_remove(&s);
}

static void gives_a_permit_for_what_asks_only_behind_the_record_of_its_approval(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    CBX_AUTO(audit) audit = open_log(s.path);
    CBX_AUTO_JSON approval = json_pack("{s:s}", "decision", "one");
    for (int verdict = CBX_DENY; verdict <= CBX_ALLOW; verdict++) {
        CBX_AUTO_JSON body = json_object();
        struct cbx_sealed sealed = { .verdict = (enum cbx_verdict)verdict,
                                     .json = body,
                                     .fields = { .action = CBX_ACTION_RUN } };
        CBX_AUTO(permit) permit = NULL;
        uint64_t seq = 0;
        assert_int_equal(cbx_audit_admit(audit, &sealed, approval, &permit, &seq, NULL), 0);
        assert_int_equal(seq, 2 * verdict + 1); /* of the decision, before the approval */
        assert_int_equal(permit != NULL, verdict != CBX_DENY);
    }
    assert_true(scratch_holds(s.path, CBX_AUDIT_FILE, "\"type\":\"approval\""));
    scratch_remove(&s);
}

static void assert_does_not_open(const char *dir, const char *why)
{
    struct cbx_audit *audit = NULL;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_audit_open(dir, &audit, &err), CBX_EAUDIT);
    assert_null(audit);
    assert_non_null(strstr(err.text, why));
    assert_try_says(dir, why);
}

/* A torn end, which a writer would cut off, and the files of a log that does not exist yet. */
static void a_try_changes_nothing(void **state)
{
    (void)state;
    struct scratch s;
    struct lines lines;
    CBX_AUTO_DONE(buf) after;
    char name[PATH_MAX];
    scratch_make(&s);
    assert_try_says(s.path, "");
    static const char *const files[] = { CBX_AUDIT_FILE, CBX_AUDIT_HEAD, CBX_AUDIT_KEY };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(name, sizeof(name), "%s/%s", s.path, files[i]);
        assert_int_equal(access(name, F_OK), -1);
    }
    snprintf(name, sizeof(name), "%s/none", s.path);
    assert_try_says(name, "");
    assert_int_equal(access(name, F_OK), -1);
    scratch_remove(&s);
    begin(&s, &lines);
    cbx_buf_add_cstr(&lines.text, "{\"torn");
    scratch_write(s.path, CBX_AUDIT_FILE, cbx_buf_str(&lines.text));
    assert_try_says(s.path, "");
    scratch_read(s.path, CBX_AUDIT_FILE, &after);
    assert_true(cbx_str_equal(cbx_buf_str(&lines.text), cbx_buf_str(&after)));
    end(&s, &lines);
}

/* A log with a new key could not be distinguished from a forged log. */
static void makes_no_key_beside_a_log(void **state)
{
    (void)state;
    struct scratch s;
    struct lines lines;
    begin(&s, &lines);
    char key[PATH_MAX], kept[PATH_MAX];
    snprintf(key, sizeof(key), "%s/" CBX_AUDIT_KEY, s.path);
    snprintf(kept, sizeof(kept), "%s/kept", s.path);
    assert_int_equal(rename(key, kept), 0);
    assert_does_not_open(s.path, "is missing beside its log");
    assert_int_equal(access(key, F_OK), -1);
    /* The log alone is as good a sign as the head alone. */
    scratch_write(s.path, CBX_AUDIT_FILE, CBX_STR(""));
    assert_does_not_open(s.path, "is missing beside its log");
    scratch_write(s.path, CBX_AUDIT_FILE, cbx_buf_str(&lines.text));
    scratch_write(s.path, CBX_AUDIT_HEAD, CBX_STR(""));
    assert_does_not_open(s.path, "is missing beside its log");
    end(&s, &lines);
}

static void takes_no_key_that_others_can_use(void **state)
{
    (void)state;
    struct scratch s;
    struct lines lines;
    begin(&s, &lines);
    char key[PATH_MAX];
    snprintf(key, sizeof(key), "%s/" CBX_AUDIT_KEY, s.path);
    static const mode_t modes[] = { 0640, 0604, 0620, 0602, 0644 };
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        assert_int_equal(chmod(key, modes[i]), 0);
        assert_does_not_open(s.path, "by other users");
    }
    assert_int_equal(chmod(key, 0400), 0);
    append_many(s.path, 1);
    assert_verifies(s.path, RECORDS + 1, 0, "");
    end(&s, &lines);
}

static void refuses_a_state_directory_that_others_can_write(void **state)
{
    (void)state;
    struct scratch s;
    struct cbx_audit *audit = NULL;
    struct cbx_err err;
    scratch_make(&s);
    assert_int_equal(chmod(s.path, 0722), 0);
    assert_int_equal(cbx_audit_open(s.path, &audit, &err), CBX_EAUDIT);
    assert_int_equal(chmod(s.path, 0700), 0);
    scratch_write(s.path, CBX_AUDIT_KEY, CBX_STR("no key"));
    assert_int_equal(cbx_audit_open(s.path, &audit, &err), CBX_EAUDIT);
    scratch_remove(&s);
    scratch_make(&s);
    char path[128];
    snprintf(path, sizeof(path), "%s/" CBX_AUDIT_FILE, s.path);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_int_equal(cbx_audit_open(s.path, &audit, &err), CBX_EAUDIT);
    assert_null(audit);
    scratch_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_a_torn_line_off_and_records_it),
        cmocka_unit_test(refuses_to_continue_after_a_last_line_that_is_no_record),
        cmocka_unit_test(a_record_is_on_the_disk_before_its_writer_goes_on),
        cmocka_unit_test(secrets_in_bodies_do_not_reach_the_disk),
        cmocka_unit_test(keeps_the_chain_with_many_threads),
        cmocka_unit_test(keeps_the_chain_with_two_processes_and_a_reader),
        cmocka_unit_test(makes_one_key_when_many_open_it_first),
        cmocka_unit_test(reports_records_that_were_never_signed_until_they_are_acknowledged),
        cmocka_unit_test(reports_that_its_file_was_moved_away_or_replaced),
        cmocka_unit_test(is_whole_after_its_writer_is_killed),
        cmocka_unit_test(refuses_records_only_while_the_disk_is_full),
        cmocka_unit_test(takes_the_largest_record_that_it_can_read_again),
        cmocka_unit_test(a_record_that_is_too_large_fails_alone),
        cmocka_unit_test(keeps_hostile_texts_on_one_line),
        cmocka_unit_test(gives_a_permit_with_its_records_number_only_for_what_is_allowed),
        cmocka_unit_test(gives_a_permit_for_what_asks_only_behind_the_record_of_its_approval),
        cmocka_unit_test(makes_no_key_beside_a_log),
        cmocka_unit_test(a_try_changes_nothing),
        cmocka_unit_test(takes_no_key_that_others_can_use),
        cmocka_unit_test(refuses_a_state_directory_that_others_can_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
