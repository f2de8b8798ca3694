/* SPDX-License-Identifier: MIT
 * Kept heads: their form, refusals, and results of the comparison with the log. */
#include "gateway/executor/audit/audit_files.h"
#include "gateway/executor/heads/audit_heads.h"
#include "tests/unit/gateway/executor/audit_times.h"

#include <sys/socket.h>
#include <sys/un.h>

#define OWN   "0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210"
enum { LINE = CBX_AUDIT_HEAD_CHARS };

/* Returns the position of the log in `dir`, from its own head. */
static struct cbx_chain position(const char *dir)
{
    CBX_AUTO_DONE(buf) head;
    struct cbx_chain chain;
    scratch_read(dir, CBX_AUDIT_HEAD, &head);
    assert_int_equal(cbx_chain_open(cbx_buf_str(&head), NULL, &chain, NULL), 0);
    return chain;
}

/* The head of the log as it stands, in the name of this instance. */
static void keep(const char *dir, const char *instance, char out[LINE + 1])
{
    struct cbx_audit_head head = { .chain = position(dir), .time_ms = INT64_C(1767268800000) };
    snprintf(head.instance, sizeof(head.instance), "%s", instance);
    EVP_PKEY *key = read_signing_key(dir);
    assert_int_equal(cbx_audit_head_sign(&head, key, out), 0);
    EVP_PKEY_free(key);
}

static int feed(struct cbx_audit_heads *heads, struct cbx_str bytes, bool may_be_others,
                struct cbx_err *err)
{
    int failed = cbx_audit_heads_begin(heads, "test", may_be_others, err);
    if (failed) {
        return failed;
    }
    failed = cbx_audit_heads_feed(heads, bytes, err);
    if (failed) {
        return failed;
    }
    return cbx_audit_heads_end(heads, err);
}

static void feed_line(struct cbx_audit_heads *heads, const char *line)
{
    struct cbx_err err;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 4096);
    cbx_buf_printf(&text, "%s\n", line);
    if (feed(heads, cbx_buf_str(&text), true, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static int judge(const char *dir, struct cbx_audit_heads *heads, struct cbx_audit_heads_report *out,
                 struct cbx_err *err)
{
    static struct cbx_audit_report report;
    assert_int_equal(cbx_audit_verify_heads(dir, NULL, heads, &report, err), 0);
    return cbx_audit_heads_judge(heads, OWN, &report, out, err);
}

static struct cbx_audit_heads_report compare(const char *dir, struct cbx_audit_heads *heads)
{
    struct cbx_audit_heads_report out = { 0 };
    struct cbx_err err;
    if (judge(dir, heads, &out, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return out;
}

static void assert_refused(struct cbx_str bytes, const char *problem)
{
    CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
    struct cbx_err err = { 0 };
    assert_true(feed(heads, bytes, false, &err) < 0);
    if (strstr(err.text, problem) == NULL) {
        fail_msg("'%s' does not say '%s'", err.text, problem);
    }
}

/* --- the form --------------------------------------------------------------------------------- */

static void a_head_is_read_as_it_was_signed_and_in_no_other_form(void **state)
{
    (void)state;
    struct scratch s;
    char line[LINE + 1];
    struct cbx_audit_head head;
    scratch_make(&s);
    append_many(s.path, 3);
    keep(s.path, OWN, line);
    assert_int_equal(strlen(line), LINE);
    assert_true(cbx_audit_head_read(cbx_str_of(line), &head));
    assert_int_equal(head.chain.seq, 3);
    assert_string_equal(head.instance, OWN);
    EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, head.key, sizeof(head.key));
    assert_true(cbx_audit_head_is_signed(cbx_str_of(line), key));
    /* Any byte, changed: another head, whose signature is not valid, or none. */
    for (size_t i = 0; i < LINE; i++) {
        for (int bit = 0; bit < 8; bit++) {
            line[i] ^= (char)(1 << bit);
            assert_false(cbx_audit_head_read(cbx_str_of(line), &head) &&
                         cbx_audit_head_is_signed(cbx_str_of(line), key));
            line[i] ^= (char)(1 << bit);
        }
    }
    for (size_t len = 0; len < LINE; len++) {
        assert_false(cbx_audit_head_read((struct cbx_str){ .p = line, .len = len }, &head));
    }
    EVP_PKEY_free(key);
    scratch_remove(&s);
}

static void refuses_heads_that_are_forged_cut_or_none(void **state)
{
    (void)state;
    struct scratch s;
    char line[LINE + 1], text[2 * LINE + 64];
    scratch_make(&s);
    append_many(s.path, 3);
    keep(s.path, OWN, line);
    snprintf(text, sizeof(text), "%.*s%c\n", LINE - 1, line, line[LINE - 1] == '0' ? '1' : '0');
    assert_refused(cbx_str_of(text), "test:1: the signature of the head is not valid");
    snprintf(text, sizeof(text), "%s\n%.*s\n", line, LINE - 129, line);
    assert_refused(cbx_str_of(text), "test:2: the head is malformed, or has no signature");
    snprintf(text, sizeof(text), "%s \n", line);
    assert_refused(cbx_str_of(text), "test:1: the head is malformed");
    snprintf(text, sizeof(text), "%s\r\n", line);
    assert_refused(cbx_str_of(text), "test:1: the head is malformed");
    snprintf(text, sizeof(text), "%s\n\n", line);
    assert_refused(cbx_str_of(text), "test:2: the line has no kept head");
    assert_refused(CBX_STR("<html>\n"), "test:1: the line has no kept head");
    assert_refused(CBX_STR("<html>"), "test:1: the line has no kept head");
    snprintf(text, sizeof(text), "%s\n", line);
    text[40] = '\0'; /* a NUL byte is a byte as any other one */
    assert_refused((struct cbx_str){ .p = text, .len = LINE + 1 }, "test:1: the head is malformed");
    assert_refused((struct cbx_str){ .p = "\0\0\0\n", .len = 4 },
                   "test:1: the line has no kept head");
    static char long_line[CBX_AUDIT_HEADS_LINE_MAX + 1];
    memset(long_line, 'a', sizeof(long_line));
    assert_refused((struct cbx_str){ .p = long_line, .len = sizeof(long_line) },
                   "test:1: there are more than 2048 bytes in the line");
    scratch_remove(&s);
}

static void a_line_that_a_crash_or_a_full_disk_cut_is_counted(void **state)
{
    (void)state;
    struct scratch s;
    char line[LINE + 1], text[4 * LINE];
    scratch_make(&s);
    append_many(s.path, 3);
    keep(s.path, OWN, line);
    for (int cut = 1; cut < LINE; cut++) {
        CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
        struct cbx_err err;
        snprintf(text, sizeof(text), "%.*s" CBX_AUDIT_HEAD_TORN "\n%s\n%.*s", cut, line, line, cut,
                 line);
        if (feed(heads, cbx_str_of(text), false, &err) != 0) {
            fail_msg("%d: %s", cut, err.text);
        }
        struct cbx_audit_heads_report report = compare(s.path, heads);
        assert_int_equal(report.torn, 2);
        assert_int_equal(report.matched, 1);
    }
    /* The line's end alone is missing. */
    CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
    snprintf(text, sizeof(text), "%s" CBX_AUDIT_HEAD_TORN "\n%s", line, line);
    assert_int_equal(feed(heads, cbx_str_of(text), false, NULL), 0);
    assert_int_equal(compare(s.path, heads).matched, 2);
    scratch_remove(&s);
}

static void reads_what_a_syslog_daemon_writes_before_a_head(void **state)
{
    (void)state;
    struct scratch s;
    char line[LINE + 1], text[2 * LINE + 200];
    scratch_make(&s);
    append_many(s.path, 3);
    keep(s.path, OWN, line);
    snprintf(text, sizeof(text),
             "Nov 26 10:00:00 host codebox[1]: %s\n<109>1 2026-11-26T10:00:00Z h codebox - head "
             "[codebox@32473 seq=\"3\"] %s\n",
             line, line);
    CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
    assert_int_equal(feed(heads, cbx_str_of(text), false, NULL), 0);
    assert_int_equal(compare(s.path, heads).matched, 2);
    scratch_remove(&s);
}

static void reads_no_more_than_a_million_lines(void **state)
{
    (void)state;
    struct cbx_err err;
    CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
    CBX_AUTO_DONE(buf) torn; /* no signature is checked */
    cbx_buf_init(&torn, 1 << 20);
    for (int i = 0; i < 1000; i++) {
        cbx_buf_add_cstr(&torn, "codebox" CBX_AUDIT_HEAD_TORN "\n");
    }
    assert_int_equal(cbx_audit_heads_begin(heads, "test", false, &err), 0);
    for (int i = 0; i < CBX_AUDIT_HEADS_MAX / 1000; i++) {
        assert_int_equal(cbx_audit_heads_feed(heads, cbx_buf_str(&torn), &err), 0);
    }
    assert_int_equal(cbx_audit_heads_feed(heads, cbx_buf_str(&torn), &err), CBX_ETOOBIG);
    assert_non_null(strstr(err.text, "test:1000001: there are more than 1000000 lines"));
}

static void reads_no_more_than_a_few_keys_and_instances(void **state)
{
    (void)state;
    CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
    struct cbx_err err = { 0 };
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    int failed = cbx_audit_heads_begin(heads, "test", true, &err);
    for (int i = 0; i <= CBX_AUDIT_HEADS_KEYS_MAX; i++) {
        struct cbx_audit_head head = { .chain.seq = 1 };
        char line[LINE + 2];
        assert_int_equal(failed, 0);
        snprintf(head.instance, sizeof(head.instance), "%032x", (unsigned)i);
        assert_int_equal(cbx_audit_head_sign(&head, key, line), 0);
        line[LINE] = '\n';
        failed = cbx_audit_heads_feed(heads, (struct cbx_str){ .p = line, .len = LINE + 1 }, &err);
    }
    EVP_PKEY_free(key);
    assert_int_equal(failed, CBX_ETOOBIG);
    assert_non_null(strstr(err.text, "there are more than 256 instances"));
}

/* --- the comparison --------------------------------------------------------------------------- */

static void heads_of_a_log_that_grew_match(void **state)
{
    (void)state;
    struct scratch s;
    char line[LINE + 1];
    CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
    scratch_make(&s);
    for (int i = 0; i < 4; i++) {
        append_many(s.path, 3);
        keep(s.path, OWN, line);
        feed_line(heads, line);
    }
    append_many(s.path, 5);
    struct cbx_audit_heads_report report = compare(s.path, heads);
    assert_int_equal(report.matched, 4);
    assert_int_equal(report.newest, 12);
    assert_int_equal(report.finding_count, 0);
    scratch_remove(&s);
}

/* Everything in the state directory, key and head included, as it was. */
static void copy_state(const char *from, const char *to)
{
    static const char *const names[] = { CBX_AUDIT_FILE, CBX_AUDIT_HEAD, CBX_AUDIT_KEY,
                                         CBX_AUDIT_PUB };
    for (size_t i = 0; i < 4; i++) {
        CBX_AUTO_DONE(buf) text;
        scratch_read(from, names[i], &text);
        scratch_write(to, names[i], cbx_buf_str(&text));
        char path[128];
        snprintf(path, sizeof(path), "%s/%s", to, names[i]);
        assert_int_equal(chmod(path, 0600), 0);
    }
}

static void finds_a_log_that_was_put_back_to_an_older_copy(void **state)
{
    (void)state;
    struct scratch s, old;
    char line[LINE + 1];
    CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
    scratch_make(&s);
    scratch_make(&old);
    append_many(s.path, 3);
    keep(s.path, OWN, line);
    feed_line(heads, line);
    copy_state(s.path, old.path);
    append_many(s.path, 4);
    keep(s.path, OWN, line);
    feed_line(heads, line);
    assert_int_equal(compare(s.path, heads).matched, 2);
    copy_state(old.path, s.path);
    assert_verifies(s.path, 3, 0, ""); /* the log alone is complete */
    struct cbx_audit_heads_report report = compare(s.path, heads);
    assert_int_equal(report.matched, 1);
    assert_int_equal(report.finding_count, 1);
    assert_non_null(strstr(report.findings[0], "record 7 is missing"));
    assert_non_null(strstr(report.findings[0], "the log ends after record 3"));
    assert_non_null(strstr(report.findings[0], "2026-01-01T12:00:00.000Z"));
    /* The log has continued since, past the head. */
    for (int i = 0; i < 6; i++) {
        append_many(s.path, 1);
    }
    report = compare(s.path, heads);
    assert_int_equal(report.finding_count, 1);
    assert_non_null(strstr(report.findings[0], "record 7 is another one"));
    scratch_remove(&s);
    scratch_remove(&old);
}

static void heads_of_pruned_records_are_no_finding(void **state)
{
    (void)state;
    struct scratch s;
    char line[LINE + 1];
    CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
    scratch_make(&s);
    {
        CBX_AUTO(audit) audit = open_log(s.path);
        struct cbx_err err;
        cbx_audit_set_max_bytes(audit, 1); /* a file for each record */
        for (int i = 0; i < 5; i++) {
            assert_int_equal(append(audit, i, &err), 0);
            cbx_audit_flush(audit);
            keep(s.path, OWN, line);
            feed_line(heads, line);
        }
        struct cbx_audit_prune wanted = { .before_ms = INT64_MAX };
        struct cbx_audit_pruned pruned;
        assert_int_equal(cbx_audit_prune(audit, &wanted, &pruned, &err), 0);
        assert_int_equal(pruned.last, 4);
    }
    struct cbx_audit_heads_report report = compare(s.path, heads);
    assert_int_equal(report.pruned, 4);
    assert_int_equal(report.matched, 1);
    assert_int_equal(report.finding_count, 0);
    scratch_remove(&s);
}

static void heads_of_every_key_of_the_log_match(void **state)
{
    (void)state;
    struct scratch s;
    char line[LINE + 1];
    uint8_t key[CBX_AUDIT_PUBLIC_BYTES];
    struct cbx_err err;
    CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
    scratch_make(&s);
    for (int i = 0; i < 3; i++) {
        append_many(s.path, 2);
        keep(s.path, OWN, line);
        feed_line(heads, line);
        assert_int_equal(cbx_audit_replace_key(s.path, CBX_STR("a"), CBX_STR("b"), key, &err), 0);
    }
    assert_int_equal(compare(s.path, heads).matched, 3);
    scratch_remove(&s);
}

/* The older copy does not know the key of later heads: they are of this log all the same. */
static void finds_an_older_copy_from_before_a_change_of_the_key(void **state)
{
    (void)state;
    struct scratch s, old;
    char line[LINE + 1];
    uint8_t key[CBX_AUDIT_PUBLIC_BYTES];
    struct cbx_err err = { 0 };
    struct cbx_audit_heads_report report;
    CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
    scratch_make(&s);
    scratch_make(&old);
    append_many(s.path, 2);
    copy_state(s.path, old.path);
    assert_int_equal(cbx_audit_replace_key(s.path, CBX_STR("a"), CBX_STR("b"), key, &err), 0);
    append_many(s.path, 2);
    keep(s.path, OWN, line);
    feed_line(heads, line);
    report = compare(old.path, heads);
    assert_int_equal(report.finding_count, 1);
    assert_non_null(strstr(report.findings[0], "record 5 is missing"));
    append_many(old.path, 5);
    assert_int_equal(judge(old.path, heads, &report, &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, "a key that the log does not name"));
    scratch_remove(&s);
    scratch_remove(&old);
}

static void heads_of_another_log_are_an_error_and_left_out_in_a_folder(void **state)
{
    (void)state;
    struct scratch s, other;
    char line[LINE + 1], text[LINE + 2];
    struct cbx_err err = { 0 };
    struct cbx_audit_heads_report report;
    scratch_make(&s);
    scratch_make(&other);
    append_many(s.path, 3);
    append_many(other.path, 9);
    keep(other.path, OTHER, line);
    snprintf(text, sizeof(text), "%s\n", line);
    CBX_AUTO(audit_heads) file = cbx_audit_heads_new();
    assert_int_equal(feed(file, cbx_str_of(text), false, NULL), 0);
    assert_int_equal(judge(s.path, file, &report, &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, "is of another log"));
    assert_non_null(strstr(err.text, OTHER));
    CBX_AUTO(audit_heads) folder = cbx_audit_heads_new();
    feed_line(folder, line);
    assert_int_equal(judge(s.path, folder, &report, &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, "so is every other one"));
    keep(s.path, OWN, line);
    feed_line(folder, line);
    report = compare(s.path, folder);
    assert_int_equal(report.matched, 1);
    assert_int_equal(report.others, 1);
    /* A head with the id of this log, signed with another key. */
    keep(other.path, OWN, line);
    feed_line(folder, line);
    report = compare(s.path, folder);
    assert_int_equal(report.finding_count, 1);
    scratch_remove(&s);
    scratch_remove(&other);
}

/* An attacker who restores the state directory may also remove the name of its instance. */
static void heads_with_a_key_of_the_log_are_its_own_in_any_name(void **state)
{
    (void)state;
    struct scratch s, old;
    char line[LINE + 1];
    CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
    scratch_make(&s);
    scratch_make(&old);
    append_many(s.path, 3);
    copy_state(s.path, old.path);
    append_many(s.path, 3);
    keep(s.path, OTHER, line);
    feed_line(heads, line);
    assert_int_equal(compare(s.path, heads).matched, 1);
    append_many(old.path, 4);
    struct cbx_audit_heads_report report = compare(old.path, heads);
    assert_int_equal(report.finding_count, 1);
    assert_int_equal(report.others, 0);
    scratch_remove(&s);
    scratch_remove(&old);
}

static void no_heads_at_all_are_an_error(void **state)
{
    (void)state;
    struct scratch s;
    struct cbx_err err = { 0 };
    struct cbx_audit_heads_report report;
    CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
    scratch_make(&s);
    append_many(s.path, 3);
    assert_int_equal(feed(heads, CBX_STR(""), false, NULL), 0);
    assert_int_equal(judge(s.path, heads, &report, &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, "no kept head was found"));
    scratch_remove(&s);
}

static void heads_behind_a_wrong_line_are_not_judged(void **state)
{
    (void)state;
    struct scratch s;
    struct lines lines;
    char line[LINE + 1];
    struct cbx_audit_heads_report report = { 0 };
    static struct cbx_audit_report log;
    struct cbx_err err;
    CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
    begin(&s, &lines);
    keep(s.path, OWN, line);
    feed_line(heads, line);
    rewrite(&s, &lines, "12356");
    assert_int_equal(cbx_audit_verify_heads(s.path, NULL, heads, &log, &err), 0);
    assert_int_equal(log.line, 4);
    assert_int_equal(cbx_audit_heads_judge(heads, OWN, &log, &report, &err), 0);
    assert_int_equal(report.unmet, 1);
    assert_int_equal(report.finding_count, 0);
    end(&s, &lines);
}

/* --- files ------------------------------------------------------------------------------------ */

static void assert_unreadable(const char *path, const char *problem)
{
    CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
    struct cbx_err err = { 0 };
    assert_true(cbx_audit_heads_read(heads, path, &err) < 0);
    if (strstr(err.text, problem) == NULL) {
        fail_msg("'%s' does not say '%s'", err.text, problem);
    }
}

static void reads_files_and_folders_and_nothing_that_blocks_or_acts(void **state)
{
    (void)state;
    struct scratch s;
    char line[LINE + 1], text[LINE + 2], path[128], link[160];
    scratch_make(&s);
    append_many(s.path, 3);
    keep(s.path, OWN, line);
    snprintf(text, sizeof(text), "%s\n", line);
    assert_unreadable(s.path,
                      "has no kept heads, which are in files with names that end in .heads");
    scratch_write(s.path, OWN CBX_AUDIT_HEADS_SUFFIX, cbx_str_of(text));
    scratch_write(s.path, "notes.txt", CBX_STR("no heads\n"));
    CBX_AUTO(audit_heads) folder = cbx_audit_heads_new();
    assert_int_equal(cbx_audit_heads_read(folder, s.path, NULL), 0);
    assert_int_equal(compare(s.path, folder).matched, 1);
    snprintf(path, sizeof(path), "%s/" OWN CBX_AUDIT_HEADS_SUFFIX, s.path);
    CBX_AUTO(audit_heads) file = cbx_audit_heads_new();
    assert_int_equal(cbx_audit_heads_read(file, path, NULL), 0);
    assert_int_equal(compare(s.path, file).matched, 1);
    assert_unreadable("/dev/zero", "is a device, allowed is");
    assert_unreadable("/nonexistent", "No such file");
    snprintf(link, sizeof(link), "%s/x" CBX_AUDIT_HEADS_SUFFIX, s.path);
    assert_int_equal(symlink(path, link), 0);
    assert_unreadable(s.path, "is a symbolic link, allowed is a regular file");
    assert_int_equal(unlink(link), 0);
    assert_int_equal(mkfifo(link, 0600), 0);
    assert_unreadable(s.path, "is a FIFO, allowed is a regular file");
    assert_unreadable(link, "is a FIFO, allowed is");
    scratch_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_is_read_as_it_was_signed_and_in_no_other_form),
        cmocka_unit_test(refuses_heads_that_are_forged_cut_or_none),
        cmocka_unit_test(a_line_that_a_crash_or_a_full_disk_cut_is_counted),
        cmocka_unit_test(reads_what_a_syslog_daemon_writes_before_a_head),
        cmocka_unit_test(reads_no_more_than_a_million_lines),
        cmocka_unit_test(reads_no_more_than_a_few_keys_and_instances),
        cmocka_unit_test(heads_of_a_log_that_grew_match),
        cmocka_unit_test(finds_a_log_that_was_put_back_to_an_older_copy),
        cmocka_unit_test(heads_of_pruned_records_are_no_finding),
        cmocka_unit_test(heads_of_every_key_of_the_log_match),
        cmocka_unit_test(finds_an_older_copy_from_before_a_change_of_the_key),
        cmocka_unit_test(heads_of_another_log_are_an_error_and_left_out_in_a_folder),
        cmocka_unit_test(heads_with_a_key_of_the_log_are_its_own_in_any_name),
        cmocka_unit_test(no_heads_at_all_are_an_error),
        cmocka_unit_test(heads_behind_a_wrong_line_are_not_judged),
        cmocka_unit_test(reads_files_and_folders_and_nothing_that_blocks_or_acts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
