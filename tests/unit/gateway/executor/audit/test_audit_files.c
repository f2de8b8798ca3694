/* SPDX-License-Identifier: MIT
 * The audit log over several files: closing, pruning, and changes of the signing key; the files
 * after a crash at each step, and the result of verifying changed files. */
#include "gateway/executor/audit/audit_files.h"
#include "tests/unit/gateway/executor/audit_log.h"

static struct cbx_audit *open_small(const char *dir)
{
    struct cbx_audit *audit = open_log(dir);
    cbx_audit_set_max_bytes(audit, 1); /* each record closes the file before it */
    return audit;
}

static void append_small(const char *dir, int count)
{
    CBX_AUTO(audit) audit = open_small(dir);
    for (int i = 0; i < count; i++) {
        assert_int_equal(append(audit, i, NULL), 0);
    }
}

static size_t count_files(const char *dir)
{
    CBX_AUTO_FD fd = open(dir, O_RDONLY | O_DIRECTORY);
    CBX_AUTO_DONE(audit_files) files;
    assert_int_equal(cbx_audit_files_list(fd, &files, NULL), 0);
    return files.count;
}

static void name_of(const char *dir, uint64_t first, char out[128])
{
    char name[CBX_AUDIT_NAME_BYTES];
    cbx_audit_file_name(first, name);
    snprintf(out, 128, "%s/%s", dir, name);
}

static void move(const char *dir, uint64_t from, uint64_t to)
{
    char old_name[128], new_name[128];
    name_of(dir, from, old_name);
    name_of(dir, to, new_name);
    assert_int_equal(rename(old_name, new_name), 0);
}

static void delete (const char *dir, uint64_t first)
{
    char name[128];
    name_of(dir, first, name);
    assert_int_equal(unlink(name), 0);
}

static void assert_problem(const char *dir, const char *file, uint64_t line, const char *problem)
{
    struct cbx_audit_report report;
    assert_int_equal(cbx_audit_verify(dir, &report, NULL), 0);
    if (report.line != line || strcmp(report.file, file) != 0 ||
        strstr(report.problem, problem) == NULL) {
        fail_msg("%s:%llu: %s", report.file, (unsigned long long)report.line, report.problem);
    }
}

/* --- closing ---------------------------------------------------------------------------------- */

static void closes_a_file_at_a_size_and_goes_on_in_the_next(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    append_small(s.path, 5);
    assert_int_equal(count_files(s.path), 4);
    assert_true(scratch_holds(s.path, "audit-00000000000000000004.jsonl", "\"seq\":4,"));
    assert_verifies(s.path, 5, 0, "");
    append_many(s.path, 3);
    assert_int_equal(count_files(s.path), 4);
    assert_verifies(s.path, 8, 0, "");
    scratch_remove(&s);
}

static pid_t start_small_writer(const char *dir, int records)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct cbx_audit *audit;
        int failed = cbx_audit_open(dir, &audit, NULL);
        cbx_audit_set_max_bytes(audit, 3000);
        for (int i = 0; i < records && !failed; i++) {
            failed = append(audit, i, NULL);
        }
        cbx_audit_flush(audit);
        _exit(failed != 0);
    }
    assert_true(pid > 0);
    return pid;
}

static void keeps_the_chain_over_files_with_two_processes_and_a_reader(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    struct scratch s;
    scratch_make(&s);
    append_many(s.path, 1);
    pid_t writers[2] = { start_small_writer(s.path, COUNT), start_small_writer(s.path, COUNT) };
    uint64_t seen = 0;
    int64_t end_ms = cbx_clock_ms() + DEADLINE_MS;
    while (seen < 2 * COUNT + 1 && cbx_clock_ms() < end_ms) {
        struct cbx_audit_report report;
        assert_int_equal(cbx_audit_verify(s.path, &report, NULL), 0);
        if (report.line != 0) {
            fail_msg("%s:%llu: %s", report.file, (unsigned long long)report.line, report.problem);
        }
        seen = report.records;
    }
    assert_int_equal(await_child(writers[0]), 0);
    assert_int_equal(await_child(writers[1]), 0);
    assert_verifies(s.path, 2 * COUNT + 1, 0, "");
    assert_in_range(count_files(s.path), 10, 100);
    scratch_remove(&s);
}

static void is_whole_after_a_writer_that_closes_files_is_killed(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    append_many(s.path, 1);
    for (int i = 0; i < 20; i++) {
        pid_t pid = start_small_writer(s.path, 100000);
        struct timespec pause = { .tv_nsec = (i * 1700000L) % 30000000L };
        nanosleep(&pause, NULL);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        append_small(s.path, 1);
        struct cbx_audit_report report;
        assert_int_equal(cbx_audit_verify(s.path, &report, NULL), 0);
        if (report.line != 0) {
            fail_msg("%s:%llu: %s", report.file, (unsigned long long)report.line, report.problem);
        }
    }
    scratch_remove(&s);
}

static void goes_on_after_a_crash_between_closing_a_file_and_making_the_next(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    append_many(s.path, 3);
    move(s.path, 0, 1);
    assert_verifies(s.path, 3, 0, "");
    append_many(s.path, 2);
    assert_verifies(s.path, 5, 0, "");
    assert_true(scratch_holds(s.path, CBX_AUDIT_FILE, "\"seq\":4,"));
    move(s.path, 0, 4);
    scratch_write(s.path, CBX_AUDIT_FILE, CBX_STR("")); /* made, and nothing written to it */
    assert_verifies(s.path, 5, 0, "");
    append_many(s.path, 1);
    assert_verifies(s.path, 6, 0, "");
    scratch_remove(&s);
}

static void an_open_writer_follows_the_file_that_another_closed(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    CBX_AUTO(audit) audit = open_log(s.path);
    struct cbx_err err = { 0 };
    assert_int_equal(append(audit, 0, NULL), 0);
    append_small(s.path, 2);
    assert_int_equal(cbx_audit_check(audit, &err), 0);
    assert_int_equal(append(audit, 0, NULL), 0);
    cbx_audit_flush(audit);
    assert_verifies(s.path, 4, 0, "");
    move(s.path, 0, 7); /* no record 7 has been written */
    assert_int_equal(append(audit, 0, NULL), 0);
    cbx_audit_flush(audit);
    assert_problem(s.path, "audit-00000000000000000007.jsonl", 1, "removed, added or renamed");
    scratch_remove(&s);
}

/* --- changed files ---------------------------------------------------------------------------- */

static void finds_a_closed_file_that_is_missing_cut_renamed_or_too_many(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    append_small(s.path, 5);
    CBX_AUTO_DONE(buf) third;
    scratch_read(s.path, "audit-00000000000000000003.jsonl", &third);
    delete (s.path, 3);
    assert_problem(s.path, "audit-00000000000000000004.jsonl", 1, "record 3 belongs here");
    scratch_write(s.path, "audit-00000000000000000003.jsonl", CBX_STR(""));
    assert_problem(s.path, "audit-00000000000000000003.jsonl", 1, "no record");
    scratch_write(s.path, "audit-00000000000000000003.jsonl",
                  cbx_str_sub(cbx_buf_str(&third), 0, third.len - 1));
    assert_problem(s.path, "audit-00000000000000000003.jsonl", 1, "torn");
    third.p[third.len - 8] ^= 1;
    scratch_write(s.path, "audit-00000000000000000003.jsonl", cbx_buf_str(&third));
    assert_problem(s.path, "audit-00000000000000000003.jsonl", 1, "");
    third.p[third.len - 8] ^= 1;
    scratch_write(s.path, "audit-00000000000000000003.jsonl", cbx_buf_str(&third));
    assert_verifies(s.path, 5, 0, "");
    move(s.path, 2, 9);
    move(s.path, 3, 2);
    move(s.path, 9, 3);
    assert_problem(s.path, "audit-00000000000000000002.jsonl", 1, "removed, added or moved");
    move(s.path, 2, 9);
    move(s.path, 3, 2);
    move(s.path, 9, 3);
    scratch_write(s.path, "audit-00000000000000000009.jsonl", cbx_buf_str(&third));
    assert_problem(s.path, "audit-00000000000000000009.jsonl", 1, "added");
    delete (s.path, 9);
    scratch_write(s.path, "audit-9.jsonl", cbx_buf_str(&third));
    assert_problem(s.path, "audit-9.jsonl", 1, "none of the audit log's");
    char stray[128];
    snprintf(stray, sizeof(stray), "%s/audit-9.jsonl", s.path);
    unlink(stray);
    delete (s.path, 0);
    assert_problem(s.path, CBX_AUDIT_FILE, 1, "records at the end are missing");
    assert_takes_no_more(s.path, "record 5 was written");
    scratch_remove(&s);
}

static void takes_no_record_when_all_files_are_gone(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    append_small(s.path, 2);
    CBX_AUTO(audit) audit = open_log(s.path);
    struct cbx_err err = { 0 };
    assert_int_equal(append(audit, 1, NULL), 0);
    cbx_audit_flush(audit);
    delete (s.path, 0);
    assert_int_equal(append(audit, 1, &err), CBX_EAUDIT);
    assert_non_null(strstr(err.text, "removed or replaced"));
    delete (s.path, 1);
    assert_takes_no_more(s.path, "was written");
    scratch_remove(&s);
}

/* --- pruning ---------------------------------------------------------------------------------- */

static struct cbx_audit_pruned prune(const char *dir, int64_t before_ms)
{
    CBX_AUTO(audit) audit = open_log(dir);
    struct cbx_audit_prune wanted = { .before_ms = before_ms,
                                      .principal = CBX_STR("uid:0"),
                                      .reason = CBX_STR("old") };
    struct cbx_audit_pruned pruned = { 0 };
    struct cbx_err err;
    if (cbx_audit_prune(audit, &wanted, &pruned, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return pruned;
}

static const int64_t LATER_MS = 60000;

static void prunes_what_is_old_and_stays_provable(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    append_small(s.path, 6);
    assert_int_equal(prune(s.path, cbx_time_ms() - LATER_MS).files, 0);
    struct cbx_audit_pruned pruned = prune(s.path, cbx_time_ms() + LATER_MS);
    assert_int_equal(pruned.files, 5);
    assert_int_equal(pruned.last, 5);
    assert_int_equal(count_files(s.path), 0);
    assert_verifies(s.path, 2, 0, ""); /* 6, and the record 'pruned' */
    append_small(s.path, 4);
    assert_verifies(s.path, 6, 0, "");
    assert_int_equal(prune(s.path, cbx_time_ms() + LATER_MS).first, 6);
    append_small(s.path, 1);
    assert_verifies(s.path, 3, 0, "");
    scratch_remove(&s);
}

static void accepts_the_removed_files_that_a_record_names_and_no_others(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    append_small(s.path, 4);
    CBX_AUTO_DONE(buf) two;
    scratch_read(s.path, "audit-00000000000000000002.jsonl", &two);
    prune(s.path, cbx_time_ms() + LATER_MS);
    append_small(s.path, 2);
    assert_verifies(s.path, 4, 0, "");
    /* A crash between two removals leaves a file that the record names. */
    scratch_write(s.path, "audit-00000000000000000002.jsonl", cbx_buf_str(&two));
    assert_problem(s.path, "audit-00000000000000000004.jsonl", 1, "record 3 belongs");
    delete (s.path, 2);
    delete (s.path, 4);
    assert_problem(s.path, "audit-00000000000000000006.jsonl", 1, "record 1 belongs");
    scratch_remove(&s);
}

static void keeps_files_with_records_that_are_to_be_forwarded(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    append_small(s.path, 6);
    char folder[128];
    snprintf(folder, sizeof(folder), "%s/syslog", s.path);
    assert_int_equal(mkdir(folder, 0700), 0);
    scratch_write(s.path, "syslog/cursor", CBX_STR(""));
    assert_int_equal(prune(s.path, cbx_time_ms() + LATER_MS).files, 0);
    scratch_write(s.path, "syslog/cursor", CBX_STR("00000000000000000003 hash\n"));
    struct cbx_audit_pruned pruned = prune(s.path, cbx_time_ms() + LATER_MS);
    assert_int_equal(pruned.last, 3);
    assert_true(pruned.waits);
    assert_verifies(s.path, 4, 0, "");
    scratch_remove(&s);
}

static void finds_old_files_that_nobody_recorded(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    append_small(s.path, 4);
    delete (s.path, 1);
    assert_problem(s.path, "audit-00000000000000000002.jsonl", 1, "record 1 belongs");
    scratch_remove(&s);
}

static void goes_on_pruning_after_a_crash_before_the_removal(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    append_small(s.path, 4);
    struct cbx_buf files[3];
    for (uint64_t i = 0; i < 3; i++) {
        char name[CBX_AUDIT_NAME_BYTES];
        cbx_audit_file_name(i + 1, name);
        scratch_read(s.path, name, &files[i]);
    }
    prune(s.path, cbx_time_ms() + LATER_MS);
    for (uint64_t i = 3; i > 0; i--) { /* as if the newest of them had been removed last */
        char name[CBX_AUDIT_NAME_BYTES];
        cbx_audit_file_name(i, name);
        scratch_write(s.path, name, cbx_buf_str(&files[i - 1]));
        assert_verifies(s.path, 2 + 4 - i, 0, "");
    }
    assert_int_equal(prune(s.path, cbx_time_ms() + LATER_MS).files, 3);
    assert_verifies(s.path, 3, 0, "");
    for (size_t i = 0; i < 3; i++) {
        cbx_buf_done(&files[i]);
    }
    scratch_remove(&s);
}

static void prunes_nothing_when_a_file_was_changed(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    append_small(s.path, 3);
    CBX_AUTO_DONE(buf) one;
    scratch_read(s.path, "audit-00000000000000000001.jsonl", &one);
    one.p[10] ^= 1;
    scratch_write(s.path, "audit-00000000000000000001.jsonl", cbx_buf_str(&one));
    CBX_AUTO(audit) audit = open_log(s.path);
    struct cbx_audit_prune wanted = { .before_ms = cbx_time_ms() + LATER_MS };
    struct cbx_audit_pruned pruned;
    assert_int_equal(cbx_audit_prune(audit, &wanted, &pruned, NULL), CBX_EAUDIT);
    assert_int_equal(count_files(s.path), 2);
    scratch_remove(&s);
}

/* --- keys ------------------------------------------------------------------------------------- */

static void public_key_of(const char *dir, uint8_t out[CBX_AUDIT_PUBLIC_BYTES])
{
    char path[128];
    snprintf(path, sizeof(path), "%s/" CBX_AUDIT_PUB, dir);
    assert_int_equal(cbx_audit_public_key(path, out, NULL), 0);
}

static void replace_key(const char *dir, uint8_t out[CBX_AUDIT_PUBLIC_BYTES])
{
    struct cbx_err err;
    if (cbx_audit_replace_key(dir, CBX_STR("uid:0"), CBX_STR("yearly"), out, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static void assert_pinned(const char *dir, const uint8_t *key, const char *problem)
{
    struct cbx_audit_report report;
    assert_int_equal(cbx_audit_verify_pinned(dir, key, &report, NULL), 0);
    if ((report.line == 0) != (problem[0] == '\0') || strstr(report.problem, problem) == NULL) {
        fail_msg("line %llu: %s", (unsigned long long)report.line, report.problem);
    }
}

static void trusts_a_new_key_that_the_old_one_signed(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    uint8_t first[CBX_AUDIT_PUBLIC_BYTES], second[CBX_AUDIT_PUBLIC_BYTES],
        third[CBX_AUDIT_PUBLIC_BYTES], other[CBX_AUDIT_PUBLIC_BYTES] = { 0 };
    CBX_AUTO(audit) audit = open_log(s.path);
    assert_int_equal(append(audit, 1, NULL), 0);
    public_key_of(s.path, first);
    replace_key(s.path, second);
    public_key_of(s.path, other);
    assert_memory_equal(second, other, sizeof(other));
    assert_int_equal(append(audit, 2, NULL), 0); /* by a process that has the old key open */
    cbx_audit_flush(audit);
    replace_key(s.path, third);
    append_small(s.path, 2);
    assert_verifies(s.path, 6, 0, "");
    assert_pinned(s.path, first, "");
    assert_pinned(s.path, second, "");
    assert_pinned(s.path, third, "");
    other[0] ^= 1;
    assert_pinned(s.path, other, "given public key");
    scratch_remove(&s);
}

static void finishes_or_forgets_a_change_of_the_key_that_a_crash_ended(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    append_many(s.path, 1);
    uint8_t first[CBX_AUDIT_PUBLIC_BYTES], second[CBX_AUDIT_PUBLIC_BYTES];
    public_key_of(s.path, first);
    CBX_AUTO_DONE(buf) key;
    CBX_AUTO_DONE(buf) pub;
    CBX_AUTO_DONE(buf) head;
    CBX_AUTO_DONE(buf) next;
    scratch_read(s.path, CBX_AUDIT_KEY, &key);
    scratch_read(s.path, CBX_AUDIT_PUB, &pub);
    scratch_read(s.path, CBX_AUDIT_HEAD, &head);
    replace_key(s.path, second);
    scratch_read(s.path, CBX_AUDIT_KEY, &next);
    /* before the last steps: the head is of the new key, the files of the old one */
    scratch_write(s.path, CBX_AUDIT_KEY ".new", cbx_buf_str(&next));
    scratch_write(s.path, CBX_AUDIT_KEY, cbx_buf_str(&key));
    scratch_write(s.path, CBX_AUDIT_PUB, cbx_buf_str(&pub));
    assert_verifies(s.path, 2, 0, "");
    append_many(s.path, 1);
    assert_verifies(s.path, 3, 0, "");
    assert_pinned(s.path, first, "");
    assert_pinned(s.path, second, "");
    scratch_remove(&s);
    /* before the head: the record is there, and the old key goes on */
    scratch_make(&s);
    append_many(s.path, 1);
    cbx_buf_reset(&key);
    CBX_AUTO_DONE(buf) old_key;
    CBX_AUTO_DONE(buf) old_pub;
    CBX_AUTO_DONE(buf) old_head;
    scratch_read(s.path, CBX_AUDIT_KEY, &old_key);
    scratch_read(s.path, CBX_AUDIT_PUB, &old_pub);
    scratch_read(s.path, CBX_AUDIT_HEAD, &old_head);
    public_key_of(s.path, first);
    replace_key(s.path, second);
    scratch_write(s.path, CBX_AUDIT_KEY, cbx_buf_str(&old_key));
    scratch_write(s.path, CBX_AUDIT_PUB, cbx_buf_str(&old_pub));
    scratch_write(s.path, CBX_AUDIT_HEAD, cbx_buf_str(&old_head));
    append_many(s.path, 1);
    assert_pinned(s.path, first, "");
    assert_pinned(s.path, second, "given public key");
    replace_key(s.path, second);
    assert_pinned(s.path, first, "");
    assert_pinned(s.path, second, "");
    scratch_remove(&s);
}

static void refuses_a_change_of_the_key_that_the_old_key_did_not_sign(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    append_many(s.path, 1);
    CBX_AUTO(audit) audit = open_log(s.path);
    char digits[129];
    memset(digits, 'a', 128);
    digits[128] = '\0';
    CBX_AUTO_JSON body = json_pack("{s:s%,s:s%,s:s}", "old", digits, (size_t)64, "new", digits,
                                   (size_t)64, "signature", digits);
    assert_int_equal(cbx_audit_append(audit, "key", body, NULL, NULL), 0);
    cbx_audit_flush(audit);
    assert_problem(s.path, CBX_AUDIT_FILE, 2, "did not sign");
    scratch_remove(&s);
}

static void reads_the_times_of_records(void **state)
{
    (void)state;
    int64_t ms = 0;
    assert_true(cbx_chain_time(CBX_STR("1970-01-02T00:00:01.250Z"), &ms));
    assert_int_equal(ms, 86401250);
    assert_true(cbx_chain_time(CBX_STR("1970-01-02"), &ms));
    assert_int_equal(ms, 86400000);
    assert_true(cbx_chain_time(CBX_STR("1970-01-01T00:00:01Z"), &ms));
    static const char *const wrong[] = { "", "yesterday", "1970-13-01", "1970-01-01x",
                                         "1970-01-01T00:00:01.2Z" };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_false(cbx_chain_time(cbx_str_of(wrong[i]), &ms));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closes_a_file_at_a_size_and_goes_on_in_the_next),
        cmocka_unit_test(keeps_the_chain_over_files_with_two_processes_and_a_reader),
        cmocka_unit_test(is_whole_after_a_writer_that_closes_files_is_killed),
        cmocka_unit_test(goes_on_after_a_crash_between_closing_a_file_and_making_the_next),
        cmocka_unit_test(an_open_writer_follows_the_file_that_another_closed),
        cmocka_unit_test(finds_a_closed_file_that_is_missing_cut_renamed_or_too_many),
        cmocka_unit_test(takes_no_record_when_all_files_are_gone),
        cmocka_unit_test(prunes_what_is_old_and_stays_provable),
        cmocka_unit_test(accepts_the_removed_files_that_a_record_names_and_no_others),
        cmocka_unit_test(keeps_files_with_records_that_are_to_be_forwarded),
        cmocka_unit_test(finds_old_files_that_nobody_recorded),
        cmocka_unit_test(goes_on_pruning_after_a_crash_before_the_removal),
        cmocka_unit_test(prunes_nothing_when_a_file_was_changed),
        cmocka_unit_test(trusts_a_new_key_that_the_old_one_signed),
        cmocka_unit_test(finishes_or_forgets_a_change_of_the_key_that_a_crash_ended),
        cmocka_unit_test(refuses_a_change_of_the_key_that_the_old_key_did_not_sign),
        cmocka_unit_test(reads_the_times_of_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
