/* SPDX-License-Identifier: MIT
 * Times in the audit log: a clock that was set back is reported, and files are not removed by a
 * clock that may be wrong. */
#include "gateway/executor/audit/audit_files.h"
#include "tests/unit/gateway/executor/audit_times.h"

enum { SECOND = 1000, DAY = 24 * 3600 * 1000 };
static const int64_t noon = INT64_C(1767268800000); /* 2026-01-01T12:00:00Z */

static const struct cbx_audit_report *verify(const char *dir)
{
    static struct cbx_audit_report report;
    struct cbx_err err;
    assert_int_equal(cbx_audit_verify(dir, &report, &err), 0);
    assert_int_equal(report.line, 0);
    return &report;
}

static void reports_a_time_before_that_of_the_record_before_it(void **state)
{
    (void)state;
    for (int notes = 0; notes < 2; notes++) {
        struct scratch s;
        struct cbx_chain chain = { 0 };
        const int64_t times[] = { noon, noon + SECOND, noon - 3600 * SECOND, noon - 3600 * SECOND,
                                  noon };
        scratch_make(&s);
        write_times(s.path, CBX_AUDIT_FILE, &chain, times, 5, notes != 0);
        const struct cbx_audit_report *report = verify(s.path);
        assert_int_equal(report->setback_count, 1);
        assert_int_equal(report->setbacks[0].record, 3);
        assert_int_equal(report->setbacks[0].by_ms, 3601 * SECOND);
        assert_int_equal(report->setbacks[0].noted, notes != 0);
        scratch_remove(&s);
    }
}

static void small_steps_of_the_clock_are_no_finding(void **state)
{
    (void)state;
    struct scratch s;
    struct cbx_chain chain = { 0 };
    const int64_t times[] = { noon, noon - CBX_AUDIT_CLOCK_TOLERANCE_MS, noon,
                              noon - CBX_AUDIT_CLOCK_TOLERANCE_MS - 1 };
    scratch_make(&s);
    write_times(s.path, CBX_AUDIT_FILE, &chain, times, 4, false);
    const struct cbx_audit_report *report = verify(s.path);
    assert_int_equal(report->setback_count, 1);
    assert_int_equal(report->setbacks[0].record, 4);
    scratch_remove(&s);
}

static void a_record_says_that_the_clock_was_set_back_before_it(void **state)
{
    (void)state;
    struct scratch s;
    struct cbx_chain chain = { 0 };
    const int64_t ahead = cbx_time_ms() + DAY;
    scratch_make(&s);
    write_times(s.path, CBX_AUDIT_FILE, &chain, &ahead, 1, true);
    append_many(s.path, 2);
    CBX_AUTO_DONE(buf) text;
    scratch_read(s.path, CBX_AUDIT_FILE, &text);
    const char *first = memmem(text.p, text.len, "\"clock_back_ms\":", 16);
    assert_non_null(first);
    const char *end = text.p + text.len;
    assert_null(memmem(first + 16, (size_t)(end - first - 16), "clock_back_ms", 13));
    const struct cbx_audit_report *report = verify(s.path);
    assert_int_equal(report->setback_count, 1);
    assert_int_equal(report->setbacks[0].record, 2);
    assert_true(report->setbacks[0].noted);
    scratch_remove(&s);
}

/* The note is not the body's: a body of others may have a member of that name. */
static void a_body_cannot_note_a_clock_that_was_set_back(void **state)
{
    (void)state;
    struct scratch s;
    struct cbx_chain chain = { 0 };
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO_JSON body = json_pack("{s:i}", "clock_back_ms", DAY);
    const int64_t times[] = { noon, noon - DAY };
    scratch_make(&s);
    write_times(s.path, CBX_AUDIT_FILE, &chain, times, 1, true);
    scratch_read(s.path, CBX_AUDIT_FILE, &text);
    chain.time_ms = 0;
    assert_int_equal(cbx_chain_add(&chain, "note", body, times[1], &text), 0);
    scratch_write(s.path, CBX_AUDIT_FILE, cbx_buf_str(&text));
    CBX_AUTO_DONE(buf) head;
    cbx_buf_init(&head, 1024);
    EVP_PKEY *key = read_signing_key(s.path);
    assert_int_equal(cbx_chain_sign(&chain, key, &head), 0);
    EVP_PKEY_free(key);
    scratch_write(s.path, CBX_AUDIT_HEAD, cbx_buf_str(&head));
    assert_false(verify(s.path)->setbacks[0].noted);
    scratch_remove(&s);
}

/* --- removing files by their age -------------------------------------------------------------- */

/* A closed file of two records at noon, and the current one with these times. */
static void make_two_files(struct scratch *s, const int64_t *times, size_t count)
{
    struct cbx_chain chain = { 0 };
    const int64_t old[] = { noon, noon };
    char name[CBX_AUDIT_NAME_BYTES];
    scratch_make(s);
    cbx_audit_file_name(1, name);
    write_times(s->path, name, &chain, old, 2, true);
    write_times(s->path, CBX_AUDIT_FILE, &chain, times, count, true);
    verify(s->path);
}

static int prune(const char *dir, int64_t now_ms, bool accepts_jump, struct cbx_err *err)
{
    CBX_AUTO(audit) audit = open_log(dir);
    const struct cbx_audit_prune wanted = { .before_ms = now_ms - DAY,
                                            .now_ms = now_ms,
                                            .principal = CBX_STR("test"),
                                            .reason = CBX_STR("test"),
                                            .accepts_jump = accepts_jump };
    struct cbx_audit_pruned pruned = { 0 };
    int failed = cbx_audit_prune(audit, &wanted, &pruned, err);
    assert_true(failed || pruned.files == 1);
    return failed;
}

static void files_are_removed_by_a_clock_that_is_near_the_newest_record(void **state)
{
    (void)state;
    struct scratch s;
    const int64_t times[] = { noon + 2 * DAY, noon + 6 * DAY };
    make_two_files(&s, times, 2);
    struct cbx_err err;
    assert_int_equal(prune(s.path, noon + 8 * DAY, false, &err), 0);
    assert_verifies(s.path, 3, 0, "");
    scratch_remove(&s);
}

static void no_file_is_removed_by_a_clock_that_may_be_wrong(void **state)
{
    (void)state;
    static const struct {
        int64_t times[2];
        int64_t now;
        const char *problem;
    } cases[] = {
        { { DAY, 2 * DAY }, 40 * (int64_t)DAY, "the clock is 38 days ahead of the newest record" },
        { { 3 * DAY, 4 * DAY }, 3 * DAY, "the clock is 24 hours behind the newest record" },
        { { DAY, 20 * (int64_t)DAY }, 20 * (int64_t)DAY, "the time of record 4 is 19 days ahead" },
        { { 20 * (int64_t)DAY, 21 * (int64_t)DAY },
          21 * (int64_t)DAY,
          "the time of record 3 is 20 days ahead" },
        { { 5 * DAY, 3 * DAY }, 3 * DAY, "the time of record 4 is 2 days behind" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scratch s;
        struct cbx_err err = { 0 };
        const int64_t times[] = { noon + cases[i].times[0], noon + cases[i].times[1] };
        make_two_files(&s, times, 2);
        assert_int_equal(prune(s.path, noon + cases[i].now, false, &err), CBX_ESTATE);
        if (strstr(err.text, cases[i].problem) == NULL ||
            strstr(err.text, "--accept-jump") == NULL) {
            fail_msg("'%s' is not '%s'", err.text, cases[i].problem);
        }
        assert_verifies(s.path, 4, 0, ""); /* the file is there */
        assert_int_equal(prune(s.path, noon + cases[i].now, true, &err), 0);
        assert_true(scratch_holds(s.path, CBX_AUDIT_FILE, "\"accepted_jump\":true"));
        scratch_remove(&s);
    }
}

/* The hourly removal of `serve` goes on once a person has looked. */
static void a_jump_that_was_accepted_is_none_afterwards(void **state)
{
    (void)state;
    struct scratch s;
    struct cbx_err err = { 0 };
    struct cbx_chain chain = { 0 };
    char name[CBX_AUDIT_NAME_BYTES];
    const int64_t now = cbx_time_ms(), old[] = { now - 40 * (int64_t)DAY },
                  next[] = { now - 38 * (int64_t)DAY }, last[] = { now - SECOND };
    scratch_make(&s);
    cbx_audit_file_name(1, name);
    write_times(s.path, name, &chain, old, 1, true);
    cbx_audit_file_name(2, name);
    write_times(s.path, name, &chain, next, 1, true);
    write_times(s.path, CBX_AUDIT_FILE, &chain, last, 1, true);
    CBX_AUTO(audit) audit = open_log(s.path);
    struct cbx_audit_prune wanted = { .before_ms = now - 39 * (int64_t)DAY };
    struct cbx_audit_pruned pruned = { 0 };
    assert_int_equal(cbx_audit_prune(audit, &wanted, &pruned, &err), CBX_ESTATE);
    wanted.accepts_jump = true;
    assert_int_equal(cbx_audit_prune(audit, &wanted, &pruned, &err), 0);
    assert_int_equal(pruned.last, 1);
    wanted.accepts_jump = false;
    wanted.before_ms = now - DAY;
    assert_int_equal(cbx_audit_prune(audit, &wanted, &pruned, &err), 0);
    assert_int_equal(pruned.last, 2);
    scratch_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_a_time_before_that_of_the_record_before_it),
        cmocka_unit_test(small_steps_of_the_clock_are_no_finding),
        cmocka_unit_test(a_record_says_that_the_clock_was_set_back_before_it),
        cmocka_unit_test(a_body_cannot_note_a_clock_that_was_set_back),
        cmocka_unit_test(files_are_removed_by_a_clock_that_is_near_the_newest_record),
        cmocka_unit_test(no_file_is_removed_by_a_clock_that_may_be_wrong),
        cmocka_unit_test(a_jump_that_was_accepted_is_none_afterwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
