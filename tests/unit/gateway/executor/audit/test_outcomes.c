/* SPDX-License-Identifier: MIT
 * Permitted actions without an outcome: a new executor finds the actions of an earlier one in the
 * log, each gets one outcome, and an outcome that the log does not take waits. */
#include "gateway/executor/audit/outcomes.h"
#include "tests/unit/gateway/executor/audit_log.h"

#define OWN   "0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210"

static void record(struct cbx_audit *audit, const char *type, json_t *body)
{
    struct cbx_err err;
    if (cbx_audit_append(audit, type, body, NULL, &err) != 0) {
        fail_msg("%s", err.text);
    }
    json_decref(body);
}

static void record_decision(struct cbx_audit *audit, const char *id, const char *verdict,
                            const char *action, const char *instance)
{
    json_t *body = json_pack("{s:s,s:s,s:s}", "id", id, "verdict", verdict, "action", action);
    if (instance != NULL) {
        json_object_set_new(body, CBX_OUTCOMES_INSTANCE, json_string(instance));
    }
    record(audit, "decision", body);
}

static void record_about(struct cbx_audit *audit, const char *type, const char *decision)
{
    record(audit, type, json_pack("{s:s}", "decision", decision));
}

/* How many outcomes a decision has in the current file of the log. */
static int count_outcomes(const char *dir, const char *decision)
{
    CBX_AUTO_DONE(buf) text;
    char wanted[100];
    int count = 0;
    scratch_read(dir, CBX_AUDIT_FILE, &text);
    struct cbx_str left = cbx_buf_str(&text);
    snprintf(wanted, sizeof(wanted), "\"decision\":\"%s\"", decision);
    while (left.len > 0) {
        const char *end = memchr(left.p, '\n', left.len);
        assert_non_null(end);
        struct cbx_str line = cbx_str_take(&left, (size_t)(end + 1 - left.p));
        count += memmem(line.p, line.len, wanted, strlen(wanted)) != NULL &&
                 memmem(line.p, line.len, "\"type\":\"outcome\"", 16) != NULL;
    }
    return count;
}

static struct cbx_outcomes *read_log(const char *dir, bool persistent)
{
    struct cbx_outcomes *outcomes = cbx_outcomes_new();
    struct cbx_err err;
    if (cbx_outcomes_read(outcomes, dir, OWN, persistent, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return outcomes;
}

/* The context is the id of the live session, or NULL. */
static bool lives(void *context, const char *decision)
{
    return context != NULL && strcmp(context, decision) == 0;
}

static void what_an_executor_left_gets_one_outcome_that_says_it_is_not_known(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    CBX_AUTO(audit) audit = open_log(s.path);
    record_decision(audit, "ended", "allow", "run", OWN);
    record_about(audit, "outcome", "ended");
    record_decision(audit, "left", "allow", "run", OWN);
    record_decision(audit, "opened", "allow", "open", OWN);
    record_decision(audit, "old", "allow", "run",
                    NULL); /* from a version that recorded no instance */
    record_decision(audit, "denied", "deny", "run", OWN);
    record_decision(audit, "checked", "allow", "check", OWN);
    record_decision(audit, "asked", "ask", "run", OWN);
    record_decision(audit, "approved", "ask", "run", OWN);
    record_about(audit, "approval", "approved");
    record_decision(audit, "elsewhere", "allow", "run", OTHER);
    for (int i = 0; i < 3; i++) {
        CBX_AUTO(outcomes) outcomes = read_log(s.path, true);
        assert_int_equal(cbx_outcomes_sweep(outcomes, audit, lives, NULL), i == 0 ? 4 : 0);
        assert_int_equal(cbx_outcomes_sweep(outcomes, audit, lives, NULL), 0);
    }
    static const char *const one[] = { "ended", "left", "opened", "old", "approved" };
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(count_outcomes(s.path, one[i]), 1);
    }
    static const char *const none[] = { "denied", "checked", "asked", "elsewhere" };
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(count_outcomes(s.path, none[i]), 0);
    }
    assert_true(scratch_holds(s.path, CBX_AUDIT_FILE, "outcome unknown: the executor ended"));
    scratch_remove(&s);
}

static void a_run_that_lives_keeps_its_outcome_for_the_call_that_resumes_it(void **state)
{
    (void)state;
    struct scratch s;
    char living[] = "living";
    scratch_make(&s);
    CBX_AUTO(audit) audit = open_log(s.path);
    record_decision(audit, "living", "allow", "run", OWN);
    CBX_AUTO(outcomes) outcomes = read_log(s.path, false);
    assert_int_equal(cbx_outcomes_sweep(outcomes, audit, lives, living), 0);
    assert_true(cbx_outcomes_take(outcomes, "living"));
    assert_false(cbx_outcomes_take(outcomes, "living")); /* another call for the same run */
    assert_int_equal(cbx_outcomes_sweep(outcomes, audit, lives, NULL),
                     0); /* its outcome is being recorded */
    record_about(audit, "outcome", "living");
    cbx_outcomes_settle(outcomes, "living");
    assert_false(cbx_outcomes_take(outcomes, "living"));
    assert_int_equal(count_outcomes(s.path, "living"), 1);
    scratch_remove(&s);
}

/* The executor before this one was still ending when this one read the log. */
static void an_outcome_that_comes_after_the_log_was_read_counts(void **state)
{
    (void)state;
    struct scratch s;
    struct cbx_err err;
    scratch_make(&s);
    CBX_AUTO(audit) audit = open_log(s.path);
    record_decision(audit, "a", "allow", "run", OWN);
    CBX_AUTO(outcomes) outcomes = read_log(s.path, false);
    record_decision(audit, "b", "allow", "run", OWN);
    record_about(audit, "outcome", "a");
    cbx_outcomes_begin(outcomes, "own"); /* a run of this executor, meanwhile */
    record_decision(audit, "own", "allow", "run", OWN);
    cbx_outcomes_permit(outcomes, "own", 4);
    assert_int_equal(cbx_outcomes_read(outcomes, s.path, OWN, false, &err), 0);
    assert_int_equal(cbx_outcomes_sweep(outcomes, audit, lives, NULL), 1);
    assert_int_equal(count_outcomes(s.path, "a"), 1);
    assert_int_equal(count_outcomes(s.path, "b"), 1);
    assert_int_equal(count_outcomes(s.path, "own"), 0);
    assert_true(cbx_outcomes_take(outcomes, "own"));
    scratch_remove(&s);
}

static void what_was_not_permitted_has_no_outcome(void **state)
{
    (void)state;
    CBX_AUTO(outcomes) outcomes = cbx_outcomes_new();
    cbx_outcomes_begin(outcomes, "a");
    assert_false(cbx_outcomes_take(outcomes, "a"));
    cbx_outcomes_cancel(outcomes, "a");
    assert_false(cbx_outcomes_take(outcomes, "a"));
    assert_false(cbx_outcomes_take(outcomes, "never"));
}

static void an_outcome_that_the_log_does_not_take_is_written_later_and_once(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    CBX_AUTO(audit) audit = open_log(s.path);
    CBX_AUTO(outcomes) outcomes = cbx_outcomes_new();
    static const char *const ids[] = { "a", "b", "c" };
    for (size_t i = 0; i < 3; i++) {
        cbx_outcomes_begin(outcomes, ids[i]);
        record_decision(audit, ids[i], "allow", "run", OWN);
        cbx_outcomes_permit(outcomes, ids[i], i + 1);
        assert_true(cbx_outcomes_take(outcomes, ids[i]));
        CBX_AUTO_JSON body = json_pack("{s:s,s:i}", "decision", ids[i], "exit_code", 7);
        cbx_outcomes_defer(outcomes, ids[i], body);
    }
    cbx_audit_flush(audit);
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = before;
    none.rlim_cur = 1;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0); /* as a full disk */
    size_t waiting = cbx_outcomes_retry(outcomes, audit);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(waiting, 3);
    assert_int_equal(cbx_outcomes_retry(outcomes, audit), 0);
    assert_int_equal(cbx_outcomes_retry(outcomes, audit), 0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(count_outcomes(s.path, ids[i]), 1);
        assert_false(cbx_outcomes_take(outcomes, ids[i]));
    }
    assert_true(scratch_holds(s.path, CBX_AUDIT_FILE, "\"exit_code\":7"));
    cbx_audit_flush(audit);
    assert_verifies(s.path, 6, 0, "");
    scratch_remove(&s);
}

static void the_file_saves_reading_what_is_settled_and_hides_nothing(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    CBX_AUTO(audit) audit = open_log(s.path);
    record_decision(audit, "before", "allow", "run", OWN);
    {
        CBX_AUTO(outcomes) outcomes = cbx_outcomes_new(); /* as if the action had an outcome */
        cbx_outcomes_begin(outcomes, "open");
        cbx_outcomes_save(outcomes, audit, s.path); /* its record may be any */
        assert_false(scratch_holds(s.path, CBX_OUTCOMES_FILE, "0"));
        record_decision(audit, "open", "allow", "run", OWN);
        cbx_outcomes_permit(outcomes, "open", 2);
        record_decision(audit, "after", "deny", "run", OWN);
        cbx_outcomes_save(outcomes, audit, s.path);
        assert_true(scratch_holds(s.path, CBX_OUTCOMES_FILE, "00000000000000000001\n"));
    }
    {
        CBX_AUTO(outcomes) outcomes = read_log(s.path, true);
        assert_false(cbx_outcomes_take(outcomes, "before"));
        assert_true(cbx_outcomes_take(outcomes, "open"));
    }
    /* An action of another log, or of none. */
    static const char *const wrong[] = { "00000000000000000099\n", "nonsense", "" };
    for (size_t i = 0; i < 3; i++) {
        scratch_write(s.path, CBX_OUTCOMES_FILE, cbx_str_of(wrong[i]));
        CBX_AUTO(outcomes) outcomes = read_log(s.path, true);
        assert_true(cbx_outcomes_take(outcomes, "before"));
        assert_true(cbx_outcomes_take(outcomes, "open"));
    }
    scratch_remove(&s);
}

/* --- takeover --------------------------------------------------------------------------------- */

static json_t *note(const char *replica, const char *one, const char *two)
{
    return json_pack("{s:s,s:[s,s]}", "replica", replica, CBX_OUTCOMES_DECISIONS, one, two);
}

static void
runs_that_were_taken_over_get_their_outcome_here_also_from_the_next_executor(void **state)
{
    (void)state;
    struct scratch s;
    char living[] = "living";
    scratch_make(&s);
    CBX_AUTO(audit) audit = open_log(s.path);
    record(audit, CBX_OUTCOMES_TAKEOVER, note("a", "living", "gone"));
    for (int i = 0; i < 2; i++) {
        CBX_AUTO(outcomes) outcomes = read_log(s.path, true);
        assert_int_equal(cbx_outcomes_sweep(outcomes, audit, lives, living), i == 0 ? 1 : 0);
        if (i == 1) {
            assert_true(cbx_outcomes_take(outcomes, "living")); /* the call that resumes it */
            record_about(audit, "outcome", "living");
            cbx_outcomes_settle(outcomes, "living");
        }
    }
    assert_int_equal(count_outcomes(s.path, "gone"), 1);
    assert_int_equal(count_outcomes(s.path, "living"), 1);
    assert_true(scratch_holds(s.path, CBX_AUDIT_FILE, "outcome unknown: replica 'a', which"));
    assert_true(scratch_holds(s.path, CBX_AUDIT_FILE, "\"presumed\":true"));
    scratch_remove(&s);
}

static void runs_that_another_replica_has_get_no_outcome_here(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    CBX_AUTO(audit) audit = open_log(s.path);
    record_decision(audit, "taken", "allow", "run", OWN);
    record_decision(audit, "own", "allow", "run", OWN);
    record(audit, CBX_OUTCOMES_RELEASED, note("b", "taken", "unknown"));
    CBX_AUTO(outcomes) outcomes = read_log(s.path, true);
    assert_int_equal(cbx_outcomes_sweep(outcomes, audit, lives, NULL), 1);
    assert_int_equal(count_outcomes(s.path, "taken"), 0);
    assert_int_equal(count_outcomes(s.path, "own"), 1);
    scratch_remove(&s);
}

static void an_outcome_that_the_client_did_not_store_waits_for_the_end_of_its_sandbox(void **state)
{
    (void)state;
    struct scratch s;
    char living[] = "run";
    scratch_make(&s);
    CBX_AUTO(audit) audit = open_log(s.path);
    CBX_AUTO(outcomes) outcomes = cbx_outcomes_new();
    CBX_AUTO_JSON body = json_pack("{s:s,s:s}", "decision", "run", "text", "the real one");
    cbx_outcomes_begin(outcomes, "run");
    record_decision(audit, "run", "allow", "run", OWN);
    cbx_outcomes_permit(outcomes, "run", 1);
    assert_true(cbx_outcomes_take(outcomes, "run"));
    cbx_outcomes_leave(outcomes, "run", body);
    assert_int_equal(cbx_outcomes_sweep(outcomes, audit, lives, living), 0);
    assert_int_equal(count_outcomes(s.path, "run"), 0);
    assert_int_equal(cbx_outcomes_sweep(outcomes, audit, lives, NULL), 1);
    assert_int_equal(count_outcomes(s.path, "run"), 1);
    assert_true(scratch_holds(s.path, CBX_AUDIT_FILE, "the real one"));
    scratch_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_an_executor_left_gets_one_outcome_that_says_it_is_not_known),
        cmocka_unit_test(a_run_that_lives_keeps_its_outcome_for_the_call_that_resumes_it),
        cmocka_unit_test(an_outcome_that_comes_after_the_log_was_read_counts),
        cmocka_unit_test(what_was_not_permitted_has_no_outcome),
        cmocka_unit_test(an_outcome_that_the_log_does_not_take_is_written_later_and_once),
        cmocka_unit_test(the_file_saves_reading_what_is_settled_and_hides_nothing),
        cmocka_unit_test(
            runs_that_were_taken_over_get_their_outcome_here_also_from_the_next_executor),
        cmocka_unit_test(runs_that_another_replica_has_get_no_outcome_here),
        cmocka_unit_test(an_outcome_that_the_client_did_not_store_waits_for_the_end_of_its_sandbox),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
