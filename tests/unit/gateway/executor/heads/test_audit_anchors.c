/* SPDX-License-Identifier: MIT
 * Anchors: which heads of other replicas become records, and what a verification of several logs
 * finds by them. */
#include "gateway/executor/heads/audit_anchors.h"

#include "gateway/executor/heads/audit_heads.h"
#include "tests/unit/gateway/executor/audit_log.h"

#define HERE  "0123456789abcdef0123456789abcdef"
#define THERE "fedcba9876543210fedcba9876543210"

/* Two replicas: the log of `here` takes the heads of `there`. */
struct replicas {
    struct scratch here, there;
    struct cbx_anchors anchors;
    int64_t now_ms;
};

static void make(struct replicas *r)
{
    *r = (struct replicas){ .now_ms = 1 };
    scratch_make(&r->here);
    scratch_make(&r->there);
    pthread_mutex_init(&r->anchors.lock, NULL);
}

static void remove_all(struct replicas *r)
{
    scratch_remove(&r->here);
    scratch_remove(&r->there);
    pthread_mutex_destroy(&r->anchors.lock);
}

/* The head of a log, as its executor states it. */
static void head_of(const char *dir, const char *instance, char out[CBX_AUDIT_HEAD_CHARS + 1])
{
    CBX_AUTO(audit) audit = open_log(dir);
    struct cbx_err err = { 0 };
    if (cbx_anchors_head(audit, instance, out, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

/* Offers a head, `after_ms` after the one before. Returns the code. */
static int offer(struct replicas *r, const char *name, const char *head, int after_ms,
                 struct cbx_err *err)
{
    CBX_AUTO(audit) audit = open_log(r->here.path);
    r->now_ms += after_ms;
    return cbx_anchors_take(&r->anchors, audit, cbx_str_of(name), cbx_str_of(head), r->now_ms, err);
}

static void take(struct replicas *r, const char *head, int after_ms)
{
    struct cbx_err err = { 0 };
    if (offer(r, "b", head, after_ms, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

/* The number of records with this text. */
static size_t records_with(const struct replicas *r, const char *text)
{
    CBX_AUTO_DONE(buf) log;
    size_t count = 0;
    scratch_read(r->here.path, CBX_AUDIT_FILE, &log);
    for (const char *p = log.p; (p = strstr(p, text)) != NULL; p++) {
        count++;
    }
    return count;
}

static size_t anchors(const struct replicas *r)
{
    return records_with(r, "\"type\":\"" CBX_AUDIT_ANCHOR "\"");
}

/* --- which heads become records --------------------------------------------------------------- */

static void a_log_without_a_record_has_no_head(void **state)
{
    (void)state;
    struct scratch s;
    char head[CBX_AUDIT_HEAD_CHARS + 1];
    scratch_make(&s);
    head_of(s.path, HERE, head);
    assert_string_equal(head, "");
    append_many(s.path, 2);
    head_of(s.path, HERE, head);
    assert_int_equal(strlen(head), CBX_AUDIT_HEAD_CHARS);
    assert_non_null(strstr(head, " 00000000000000000002 "));
    scratch_remove(&s);
}

static void a_head_follows_the_log_and_its_key(void **state)
{
    (void)state;
    struct scratch s;
    char head[CBX_AUDIT_HEAD_CHARS + 1];
    uint8_t key[CBX_AUDIT_PUBLIC_BYTES];
    struct cbx_audit_head read;
    struct cbx_err err;
    scratch_make(&s);
    append_many(s.path, 1);
    CBX_AUTO(audit) audit = open_log(s.path);
    assert_int_equal(append(audit, 1, &err), 0);
    assert_int_equal(cbx_audit_replace_key(s.path, CBX_STR("a"), CBX_STR("b"), key, &err), 0);
    assert_int_equal(cbx_anchors_head(audit, HERE, head, &err), 0);
    assert_true(cbx_audit_head_read(cbx_str_of(head), &read));
    assert_int_equal(read.chain.seq, 3);
    assert_memory_equal(read.key, key, sizeof(key));
    scratch_remove(&s);
}

static void
the_first_head_is_recorded_and_later_ones_once_a_minute_while_the_log_grows(void **state)
{
    (void)state;
    struct replicas r;
    char head[CBX_AUDIT_HEAD_CHARS + 1];
    make(&r);
    append_many(r.there.path, 3);
    head_of(r.there.path, THERE, head);
    take(&r, head, 0);
    assert_int_equal(anchors(&r), 1);
    take(&r, head, 10 * CBX_ANCHOR_MS); /* it does not grow */
    assert_int_equal(anchors(&r), 1);
    append_many(r.there.path, 1);
    head_of(r.there.path, THERE, head);
    take(&r, head, 0);
    assert_int_equal(anchors(&r), 2);
    append_many(r.there.path, 1);
    head_of(r.there.path, THERE, head);
    take(&r, head, CBX_ANCHOR_MS - 1);
    assert_int_equal(anchors(&r), 2);
    take(&r, head, 1);
    assert_int_equal(anchors(&r), 3);
    assert_int_equal(records_with(&r, "went_back_from"), 0);
    remove_all(&r);
}

static void a_head_that_goes_back_is_recorded_at_once(void **state)
{
    (void)state;
    struct replicas r;
    char old[CBX_AUDIT_HEAD_CHARS + 1], head[CBX_AUDIT_HEAD_CHARS + 1];
    make(&r);
    append_many(r.there.path, 3);
    head_of(r.there.path, THERE, old);
    append_many(r.there.path, 1);
    head_of(r.there.path, THERE, head);
    take(&r, head, 0);
    take(&r, old, CBX_ANCHOR_MIN_MS);
    assert_int_equal(records_with(&r, "\"went_back_from\":4"), 1);
    /* Alternating heads fill no disk. */
    for (int i = 0; i < 50; i++) {
        take(&r, i % 2 == 0 ? head : old, 1);
    }
    assert_int_equal(anchors(&r), 2);
    remove_all(&r);
}

static void another_record_of_the_same_number_and_another_log_are_recorded(void **state)
{
    (void)state;
    struct replicas r;
    struct scratch rewritten;
    char head[CBX_AUDIT_HEAD_CHARS + 1];
    make(&r);
    scratch_make(&rewritten);
    append_many(r.there.path, 3);
    head_of(r.there.path, THERE, head);
    take(&r, head, 0);
    append_many(rewritten.path, 3);
    head_of(rewritten.path, THERE, head);
    take(&r, head, CBX_ANCHOR_MIN_MS);
    assert_int_equal(records_with(&r, "\"went_back_from\":3"), 1);
    head_of(rewritten.path, HERE, head);
    take(&r, head, CBX_ANCHOR_MIN_MS);
    assert_int_equal(records_with(&r, "\"instance_before\":\"" THERE "\""), 1);
    scratch_remove(&rewritten);
    remove_all(&r);
}

static void heads_that_are_forged_and_names_that_are_none_are_refused(void **state)
{
    (void)state;
    struct replicas r;
    char head[CBX_AUDIT_HEAD_CHARS + 1], name[16];
    struct cbx_err err = { 0 };
    make(&r);
    append_many(r.there.path, 3);
    append_many(r.here.path, 1);
    head_of(r.there.path, THERE, head);
    static const char *const names[] = { "", "-b", "B", "a b", "a\"" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(offer(&r, names[i], head, 0, &err), CBX_EINVAL);
    }
    head[30] = head[30] == '1' ? '2' : '1'; /* a digit of its number */
    assert_int_equal(offer(&r, "b", head, 0, &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, "no valid signature"));
    assert_int_equal(offer(&r, "b", "codebox-head 1 x", 0, &err), CBX_EINVAL);
    assert_int_equal(offer(&r, "b", "", 0, &err), CBX_EINVAL);
    assert_int_equal(anchors(&r), 0);
    head_of(r.there.path, THERE, head);
    for (int i = 0; i < CBX_REPLICAS_MAX; i++) {
        snprintf(name, sizeof(name), "r%d", i);
        assert_int_equal(offer(&r, name, head, 0, &err), 0);
    }
    assert_int_equal(offer(&r, "one-more", head, 0, &err), CBX_EBUSY);
    assert_int_equal(anchors(&r), CBX_REPLICAS_MAX);
    remove_all(&r);
}

/* --- what a verification of several logs finds ------------------------------------------------ */

static struct cbx_audit_heads_report compare(struct cbx_audit_heads *heads, const char *dir,
                                             const char *instance)
{
    static struct cbx_audit_report log;
    struct cbx_audit_heads_report out = { 0 };
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_audit_verify_heads(dir, NULL, heads, &log, &err), 0);
    if (cbx_audit_heads_judge(heads, instance, &log, &out, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return out;
}

static struct cbx_audit_heads *read_anchors(const struct replicas *r)
{
    struct cbx_audit_heads *heads = cbx_audit_heads_new();
    struct cbx_err err = { 0 };
    if (cbx_audit_heads_read_anchors(heads, r->here.path, &err) != 0 ||
        cbx_audit_heads_read_anchors(heads, r->there.path, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return heads;
}

static void anchors_match_the_log_of_their_replica_and_no_anchor_is_no_error(void **state)
{
    (void)state;
    struct replicas r;
    char head[CBX_AUDIT_HEAD_CHARS + 1];
    make(&r);
    for (int i = 0; i < 3; i++) {
        append_many(r.there.path, 2);
        head_of(r.there.path, THERE, head);
        take(&r, head, CBX_ANCHOR_MS);
    }
    CBX_AUTO(audit_heads) heads = read_anchors(&r);
    struct cbx_audit_heads_report report = compare(heads, r.there.path, THERE);
    assert_int_equal(report.matched, 3);
    assert_int_equal(report.newest, 6);
    assert_int_equal(report.finding_count, 0);
    report = compare(heads, r.here.path, HERE);
    assert_int_equal(report.matched + report.finding_count + report.others, 0);
    struct cbx_audit_lost lost;
    size_t at = 0;
    assert_false(cbx_audit_heads_lost(heads, &at, &lost));
    remove_all(&r);
}

static void a_log_that_is_not_among_the_folders_is_missed(void **state)
{
    (void)state;
    struct replicas r;
    char head[CBX_AUDIT_HEAD_CHARS + 1];
    make(&r);
    append_many(r.there.path, 2);
    head_of(r.there.path, THERE, head);
    take(&r, head, 0);
    CBX_AUTO(audit_heads) heads = read_anchors(&r);
    compare(heads, r.here.path, HERE);
    struct cbx_audit_lost lost;
    size_t at = 0;
    assert_true(cbx_audit_heads_lost(heads, &at, &lost));
    assert_string_equal(lost.instance, THERE);
    assert_int_equal(lost.seq, 2);
    assert_false(cbx_audit_heads_lost(heads, &at, &lost));
    remove_all(&r);
}

/* The attacker has the whole state directory, with the key: the new log is whole and signed. */
static void a_log_that_was_written_anew_with_another_key_is_found(void **state)
{
    (void)state;
    struct replicas r;
    char head[CBX_AUDIT_HEAD_CHARS + 1];
    make(&r);
    append_many(r.there.path, 4);
    head_of(r.there.path, THERE, head);
    take(&r, head, 0);
    scratch_remove(&r.there);
    scratch_make(&r.there);
    append_many(r.there.path, 9);
    assert_verifies(r.there.path, 9, 0, "");
    CBX_AUTO(audit_heads) heads = read_anchors(&r);
    struct cbx_audit_heads_report report = compare(heads, r.there.path, THERE);
    assert_int_equal(report.finding_count, 1);
    assert_int_equal(report.matched, 0);
    assert_non_null(strstr(report.findings[0], "which the log does not name"));
    remove_all(&r);
}

static void a_record_whose_anchor_is_no_head_is_named(void **state)
{
    (void)state;
    struct replicas r;
    struct cbx_err err = { 0 };
    make(&r);
    append_many(r.here.path, 4);
    {
        CBX_AUTO(audit) audit = open_log(r.here.path);
        CBX_AUTO_JSON body = json_pack("{s:s}", "head", "codebox-head 1 forged");
        assert_int_equal(cbx_audit_append(audit, CBX_AUDIT_ANCHOR, body, NULL, &err), 0);
    }
    CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
    assert_int_equal(cbx_audit_heads_read_anchors(heads, r.here.path, &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, ":5: the head is malformed"));
    remove_all(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_without_a_record_has_no_head),
        cmocka_unit_test(a_head_follows_the_log_and_its_key),
        cmocka_unit_test(
            the_first_head_is_recorded_and_later_ones_once_a_minute_while_the_log_grows),
        cmocka_unit_test(a_head_that_goes_back_is_recorded_at_once),
        cmocka_unit_test(another_record_of_the_same_number_and_another_log_are_recorded),
        cmocka_unit_test(heads_that_are_forged_and_names_that_are_none_are_refused),
        cmocka_unit_test(anchors_match_the_log_of_their_replica_and_no_anchor_is_no_error),
        cmocka_unit_test(a_log_that_is_not_among_the_folders_is_missed),
        cmocka_unit_test(a_log_that_was_written_anew_with_another_key_is_found),
        cmocka_unit_test(a_record_whose_anchor_is_no_head_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
