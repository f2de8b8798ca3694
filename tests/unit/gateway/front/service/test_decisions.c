/* SPDX-License-Identifier: MIT
 * The ring of the last decisions: stored decisions, principals that can read them, and the states
 * of a question. */
#include "gateway/front/service/decisions.h"

#include "gateway/front/service/approvals.h"
#include "tests/unit/unit.h"

static const struct cbx_decisions_approver *by(const char *principal)
{
    static struct cbx_decisions_approver approver;
    approver = (struct cbx_decisions_approver){ principal, "token 0123456789ab", "" };
    return &approver;
}

static struct cbx_decisions *ring;

static int set_up(void **state)
{
    (void)state;
    ring = cbx_decisions_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cbx_decisions_free(ring);
    return 0;
}

/* The decision that a test adds; zeroed members have these values. */
struct adding {
    const char *id, *principal, *origin;
    enum cbx_verdict verdict;
    enum cbx_action action;
    struct cbx_str source;
    const json_t *findings;
    bool admitted;
};

static const char *or_else(const char *text, const char *otherwise)
{
    return text != NULL ? text : otherwise;
}

static void add(struct adding a)
{
    struct cbx_subject subject = { .action = a.action != 0 ? a.action : CBX_ACTION_RUN,
                                   .language = CBX_STR("ipython"),
                                   .principal = cbx_str_of(or_else(a.principal, "ann")),
                                   .session = CBX_STR(""),
                                   .origin = cbx_str_of(or_else(a.origin, "rest")) };
    struct cbx_decision_entry entry = { .id = cbx_str_of(a.id),
                                        .audit_seq = 7,
                                        .verdict = a.verdict,
                                        .subject = &subject,
                                        .policy = CBX_STR("default"),
                                        .source = a.source.p != NULL ? a.source : CBX_STR("x = 1"),
                                        .findings = a.findings,
                                        .digest = a.verdict == CBX_ASK ? "d1" : "",
                                        .admitted = a.admitted };
    cbx_decisions_add(ring, &entry, 1000);
}

static const char *text_at(const json_t *json, const char *name)
{
    const char *text = json_string_value(json_object_get(json, name));
    return text != NULL ? text : "";
}

static size_t count_all(const char *reader)
{
    struct cbx_decisions_filter filter = { .reader = reader, .limit = 10000 };
    CBX_AUTO_JSON list = cbx_decisions_page(ring, &filter, 1000);
    return json_array_size(list);
}

static void a_decision_has_what_was_judged_and_how_its_run_ended(void **state)
{
    (void)state;
    CBX_AUTO_JSON findings = json_pack("[{s:s,s:i}]", "rule", "py.process", "line", 1);
    add((struct adding){ .id = "1", .verdict = CBX_ALLOW, .findings = findings, .admitted = true });
    CBX_AUTO_JSON before = cbx_decisions_get(ring, "ann", "1", 1000);
    assert_null(json_object_get(before, "run"));
    CBX_AUTO_JSON results =
        json_pack("{s:s,s:i,s:i,s:[{s:s}],s:[s]}", "outcome", "ok", "duration_ms", 5, "cpu_ms", 3,
                  "blocked", "rule", "py.process", "output", "left out");
    cbx_decisions_end(ring, "1", results);
    CBX_AUTO_JSON json = cbx_decisions_get(ring, "ann", "1", 1000);
    assert_string_equal(text_at(json, "verdict"), "allow");
    assert_string_equal(text_at(json, "language"), "python");
    assert_string_equal(text_at(json, "code"), "x = 1");
    assert_true(json_equal(json_object_get(json, "findings"), findings));
    const json_t *run = json_object_get(json, "run");
    assert_string_equal(text_at(run, "outcome"), "ok");
    assert_int_equal(json_array_size(json_object_get(run, "blocked")), 1);
    assert_null(json_object_get(run, "output"));
}

static void the_oldest_go_first(void **state)
{
    (void)state;
    char id[16];
    for (int i = 0; i < CBX_DECISIONS_MAX + 3; i++) {
        snprintf(id, sizeof(id), "%d", i);
        add((struct adding){ .id = id });
    }
    assert_int_equal(count_all(NULL), CBX_DECISIONS_MAX);
    assert_null(cbx_decisions_get(ring, NULL, "2", 1000));
    CBX_AUTO_JSON oldest = cbx_decisions_get(ring, NULL, "3", 1000);
    assert_non_null(oldest);
}

static void a_principal_that_makes_many_pushes_out_its_own(void **state)
{
    (void)state;
    char id[16];
    add((struct adding){ .id = "asked", .principal = "ann", .verdict = CBX_ASK });
    add((struct adding){ .id = "own-asked", .principal = "bob", .verdict = CBX_ASK });
    for (int i = 0; i < 3 * CBX_DECISIONS_MAX; i++) {
        snprintf(id, sizeof(id), "%d", i);
        add((struct adding){ .id = id, .principal = "bob" });
    }
    assert_int_equal(count_all(NULL), CBX_DECISIONS_MAX);
    assert_int_equal(count_all("ann"), 1);
    assert_true(cbx_decisions_waits(ring, "asked", 1000));
    assert_true(cbx_decisions_waits(ring, "own-asked", 1000)); /* nor a waiting one */
    CBX_AUTO_JSON first = cbx_decisions_get(ring, NULL, "0", 1000);
    CBX_AUTO_JSON last = cbx_decisions_get(ring, NULL, id, 1000);
    assert_null(first);
    assert_non_null(last);
}

static void questions_push_out_the_oldest_question_of_the_same_principal(void **state)
{
    (void)state;
    char id[16];
    add((struct adding){ .id = "asked", .principal = "ann", .verdict = CBX_ASK });
    for (int i = 0; i < CBX_DECISIONS_MAX + 5; i++) {
        snprintf(id, sizeof(id), "%d", i);
        add((struct adding){ .id = id, .principal = "bob", .verdict = CBX_ASK });
    }
    assert_true(cbx_decisions_waits(ring, "asked", 1000));
    assert_false(cbx_decisions_waits(ring, "0", 1000));
    assert_true(cbx_decisions_waits(ring, id, 1000));
}

static void the_bytes_of_all_are_bounded_and_so_is_the_source_of_one(void **state)
{
    (void)state;
    enum { BYTES = CBX_DECISION_SOURCE_BYTES + 1, FIT = CBX_DECISIONS_BYTES_MAX / BYTES };
    CBX_AUTO_MEM char *source = malloc(BYTES);
    assert_non_null(source);
    memset(source, 'x', BYTES);
    memcpy(source + CBX_DECISION_SOURCE_BYTES - 1, "\xC3\xA4", 2);
    char id[16];
    for (int i = 0; i < FIT + 10; i++) {
        snprintf(id, sizeof(id), "%d", i);
        add((struct adding){ .id = id, .source = { .p = source, .len = BYTES } });
    }
    assert_in_range(count_all(NULL), FIT - 1, FIT + 1);
    CBX_AUTO_JSON json = cbx_decisions_get(ring, NULL, id, 1000);
    assert_true(json_is_true(json_object_get(json, "code_cut")));
    assert_int_equal(strlen(text_at(json, "code")), CBX_DECISION_SOURCE_BYTES - 1);
}

static void findings_that_have_no_room_are_counted(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    CBX_AUTO_JSON findings = json_array();
    for (int i = 0; i < COUNT; i++) {
        json_array_append_new(findings, json_pack("{s:s,s:i}", "message",
                                                  "a sentence of some length for each", "line", i));
    }
    add((struct adding){ .id = "1", .findings = findings });
    CBX_AUTO_JSON json = cbx_decisions_get(ring, NULL, "1", 1000);
    size_t shown = json_array_size(json_object_get(json, "findings"));
    assert_in_range(shown, 100, COUNT - 1);
    assert_int_equal(json_integer_value(json_object_get(json, "finding_count")), COUNT);
}

static void a_source_with_nul_and_bytes_that_are_not_utf8_is_shown(void **state)
{
    (void)state;
    add((struct adding){ .id = "1", .source = { .p = "a\0b\xFF", .len = 4 } });
    CBX_AUTO_JSON json = cbx_decisions_get(ring, NULL, "1", 1000);
    assert_non_null(json_object_get(json, "code"));
}

static void those_of_others_do_not_exist_for_a_reader(void **state)
{
    (void)state;
    add((struct adding){ .id = "1", .principal = "ann" });
    add((struct adding){ .id = "2", .principal = "bob", .verdict = CBX_ASK });
    struct cbx_approval approval;
    struct cbx_err err;
    assert_int_equal(count_all("ann"), 1);
    assert_int_equal(count_all(NULL), 2);
    assert_null(cbx_decisions_get(ring, "ann", "2", 1000));
    assert_int_equal(cbx_decisions_answer(ring, "ann", "2", by("ann"), true, 1000, &err),
                     CBX_ENOTFOUND);
    assert_int_equal(cbx_decisions_answer(ring, NULL, "2", by("carol"), true, 1000, &err), 0);
    assert_int_equal(cbx_decisions_approval(ring, "ann", CBX_STR("2"), 1000, &approval, &err),
                     CBX_ENOTFOUND);
    assert_int_equal(cbx_decisions_approval(ring, "bob", CBX_STR("2"), 1000, &approval, &err), 0);
    assert_string_equal(approval.approver, "carol");
    assert_string_equal(approval.digest, "d1");
}

static void an_approval_is_used_once_and_a_denial_never(void **state)
{
    (void)state;
    struct cbx_approval approval;
    struct cbx_err err;
    add((struct adding){ .id = "1", .verdict = CBX_ASK });
    add((struct adding){ .id = "2", .verdict = CBX_ASK });
    assert_int_equal(cbx_decisions_approval(ring, "ann", CBX_STR("1"), 1000, &approval, &err),
                     CBX_ESTATE);
    assert_int_equal(cbx_decisions_answer(ring, NULL, "1", by("ann"), true, 1000, &err), 0);
    assert_int_equal(cbx_decisions_answer(ring, NULL, "1", by("ann"), false, 1000, &err),
                     CBX_ESTATE);
    assert_int_equal(cbx_decisions_approval(ring, "ann", CBX_STR("1"), 1000, &approval, &err), 0);
    assert_int_equal(cbx_decisions_use(ring, "ann", &approval, 1000, &err), 0);
    assert_int_equal(cbx_decisions_use(ring, "ann", &approval, 1000, &err), CBX_ESTATE);
    assert_int_equal(cbx_decisions_approval(ring, "ann", CBX_STR("1"), 1000, &approval, &err),
                     CBX_ESTATE);
    cbx_decisions_give_back(ring, "ann", &approval);
    assert_int_equal(cbx_decisions_use(ring, "ann", &approval, 1000, &err), 0);
    assert_int_equal(cbx_decisions_answer(ring, NULL, "2", by("ann"), false, 1000, &err), 0);
    assert_int_equal(cbx_decisions_approval(ring, "ann", CBX_STR("2"), 1000, &approval, &err),
                     CBX_ESTATE);
    assert_int_equal(cbx_decisions_answer(ring, NULL, "2", by("ann"), true, 1000, &err),
                     CBX_ESTATE);
}

static void a_question_and_an_approval_expire(void **state)
{
    (void)state;
    struct cbx_approval approval;
    struct cbx_err err;
    int64_t late = 1000 + CBX_APPROVAL_MS;
    add((struct adding){ .id = "1", .verdict = CBX_ASK });
    add((struct adding){ .id = "2", .verdict = CBX_ASK });
    assert_true(cbx_decisions_waits(ring, "1", late - 1));
    assert_false(cbx_decisions_waits(ring, "1", late));
    assert_int_equal(cbx_decisions_answer(ring, NULL, "1", by("ann"), true, late, &err),
                     CBX_ESTATE);
    assert_int_equal(cbx_decisions_answer(ring, NULL, "2", by("ann"), true, late - 1, &err), 0);
    assert_int_equal(cbx_decisions_approval(ring, "ann", CBX_STR("2"), late, &approval, &err),
                     CBX_ESTATE);
    CBX_AUTO_JSON json = cbx_decisions_get(ring, NULL, "2", late);
    assert_string_equal(text_at(json_object_get(json, "approval"), "state"), "expired");
}

static void only_code_over_rest_that_would_run_waits(void **state)
{
    (void)state;
    add((struct adding){ .id = "1", .verdict = CBX_ASK, .origin = "mcp" });
    add((struct adding){ .id = "2", .verdict = CBX_ASK, .action = CBX_ACTION_FILE });
    add((struct adding){ .id = "3", .verdict = CBX_ASK, .admitted = true });
    add((struct adding){ .id = "4", .verdict = CBX_DENY });
    add((struct adding){ .id = "5", .verdict = CBX_ASK });
    for (const char *id = "12345"; *id != '\0'; id++) {
        assert_int_equal(cbx_decisions_waits(ring, (char[]){ *id, '\0' }, 1000), *id == '5');
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_decision_has_what_was_judged_and_how_its_run_ended),
        TEST(the_oldest_go_first),
        TEST(a_principal_that_makes_many_pushes_out_its_own),
        TEST(questions_push_out_the_oldest_question_of_the_same_principal),
        TEST(the_bytes_of_all_are_bounded_and_so_is_the_source_of_one),
        TEST(findings_that_have_no_room_are_counted),
        TEST(a_source_with_nul_and_bytes_that_are_not_utf8_is_shown),
        TEST(those_of_others_do_not_exist_for_a_reader),
        TEST(an_approval_is_used_once_and_a_denial_never),
        TEST(a_question_and_an_approval_expire),
        TEST(only_code_over_rest_that_would_run_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
