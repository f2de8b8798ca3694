/* SPDX-License-Identifier: MIT
 * The last decisions over REST, and approval: the principals that can read them, the principals
 * that may approve, and the approved runs. */
#include "gateway/front/service/decisions.h"
#include "tests/unit/gateway/front/rest/rig.h"

#define BIT(right) (1U << CBX_RIGHT_##right)

/* ann and bob run code; carol approves, and can read only her own decisions; dora approves, and can
 * read all. */
static const struct cbx_principal rows[] = {
    { .name = "ann", .rights = BIT(EXECUTE) | BIT(CHECK) },
    { .name = "bob", .rights = BIT(EXECUTE) | BIT(CHECK) },
    { .name = "carol", .rights = BIT(EXECUTE) | BIT(CHECK) | BIT(APPROVE) },
    { .name = "dora", .rights = BIT(CHECK) | BIT(APPROVE) | BIT(AUDIT_READ) },
};
enum who { ANN, BOB, CAROL, DORA };

/* From now on the requests are of this principal. */
static void become(struct rig *rig, enum who who)
{
    static struct cbx_caller callers[sizeof(rows) / sizeof(rows[0])];
    callers[who].row = &rows[who];
    snprintf(callers[who].principal, sizeof(callers[who].principal), "%s", rows[who].name);
    rig->caller = &callers[who];
}

/* Posts code that needs approval, with this approval ("" = none); returns the id of its denial. */
static void ask(struct rig *rig, const char *session, char id[CBX_ID_CHARS + 1])
{
    char body[256];
    snprintf(body, sizeof(body), "{'code':'ASK'%s%s%s}",
             session[0] != '\0' ? ",'session_id':'" : "", session, session[0] != '\0' ? "'" : "");
    const json_t *json = assert_problem(rig_json(rig, "POST", "/v1/executions", body), 400,
                                        "send the same request again with the member \"approval\"");
    assert_string_equal(text_at(json, "verdict"), "ask");
    assert_string_equal(text_at(json, "approval"), text_at(json, "decision"));
    assert_contains(text_at(json, "detail"), "needs approval by rule py.process");
    snprintf(id, CBX_ID_CHARS + 1, "%s", text_at(json, "decision"));
}

static struct cbx_http_exchange *answer(struct rig *rig, const char *id, const char *what)
{
    char path[128];
    snprintf(path, sizeof(path), "/v1/decisions/%s/%s", id, what);
    return rig_json(rig, "POST", path, "");
}

static struct cbx_http_exchange *send_again(struct rig *rig, const char *code, const char *id)
{
    char body[256];
    snprintf(body, sizeof(body), "{'code':'%s','approval':'%s'}", code, id);
    return rig_json(rig, "POST", "/v1/executions", body);
}

static struct cbx_http_exchange *get(struct rig *rig, const char *id)
{
    char path[128];
    snprintf(path, sizeof(path), "/v1/decisions/%s", id);
    return rig_get(rig, path);
}

static void denials_and_runs_are_listed_the_newest_first(void **state)
{
    struct rig *rig = *state;
    const json_t *done =
        await_answer(rig_json(rig, "POST", "/v1/executions", "{'code':'x = 1'}"), 200);
    await_answer(rig_json(rig, "POST", "/v1/executions", "{'code':'DENY'}"), 400);
    await_answer(rig_json(rig, "POST", "/v1/check", "{'code':'y','language':'python'}"), 200);
    const json_t *list =
        json_object_get(await_answer(rig_get(rig, "/v1/decisions"), 200), "decisions");
    assert_int_equal(json_array_size(list), 3);
    assert_string_equal(text_at(json_array_get(list, 0), "action"), "check");
    assert_string_equal(text_at(json_array_get(list, 1), "verdict"), "deny");
    assert_true(json_array_size(json_object_get(json_array_get(list, 1), "findings")) > 0);
    const json_t *run = json_object_get(json_array_get(list, 2), "run");
    assert_string_equal(text_at(run, "outcome"), "ok");
    assert_null(json_object_get(json_array_get(list, 2), "code"));
    const json_t *one = await_answer(get(rig, text_at(done, "decision")), 200);
    assert_string_equal(text_at(one, "code"), "x = 1");
}

static void they_come_in_pages_and_by_their_verdict(void **state)
{
    struct rig *rig = *state;
    for (int i = 0; i < 5; i++) {
        await_answer(rig_json(rig, "POST", "/v1/executions",
                              i % 2 == 0 ? "{'code':'DENY'}" : "{'code':'x'}"),
                     i % 2 == 0 ? 400 : 200);
    }
    const json_t *first = await_answer(rig_get(rig, "/v1/decisions?verdict=deny&limit=2"), 200);
    assert_int_equal(json_array_size(json_object_get(first, "decisions")), 2);
    char path[800];
    snprintf(path, sizeof(path), "/v1/decisions?verdict=deny&limit=2&cursor=%s",
             text_at(first, "next"));
    const json_t *second = await_answer(rig_get(rig, path), 200);
    assert_int_equal(json_array_size(json_object_get(second, "decisions")), 1);
    assert_null(json_object_get(second, "next"));
    assert_problem(rig_get(rig, "/v1/decisions?verdict=maybe"), 400, "allowed are allow, ask");
    assert_problem(rig_get(rig, "/v1/decisions?limit=0"), 400, "limit");
}

static void those_of_another_principal_do_not_exist(void **state)
{
    struct rig *rig = *state;
    char id[CBX_ID_CHARS + 1];
    become(rig, ANN);
    ask(rig, "", id);
    await_answer(get(rig, id), 200);
    become(rig, BOB);
    const json_t *foreign = await_answer(get(rig, id), 404);
    assert_true(json_equal(foreign, await_answer(get(rig, "01ABC"), 404)));
    assert_json(await_answer(rig_get(rig, "/v1/decisions"), 200), "{'decisions':[]}");
    become(rig, DORA);
    await_answer(get(rig, id), 200);
}

static void nobody_approves_without_the_right(void **state)
{
    struct rig *rig = *state;
    char id[CBX_ID_CHARS + 1];
    become(rig, ANN);
    ask(rig, "", id);
    assert_problem(answer(rig, id, "approve"), 403, "lacks the right 'approve'");
    assert_problem(answer(rig, id, "deny"), 403, "lacks the right 'approve'");
    become(rig, CAROL); /* who cannot read it */
    assert_problem(answer(rig, id, "approve"), 404, "no such decision");
    become(rig, ANN);
    assert_problem(send_again(rig, "ASK", id), 409, "nobody has approved");
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), 1);
}

static void what_was_approved_runs_once_for_who_asked(void **state)
{
    struct rig *rig = *state;
    char id[CBX_ID_CHARS + 1];
    become(rig, ANN);
    ask(rig, "", id);
    become(rig, DORA);
    const json_t *shown = await_answer(answer(rig, id, "approve"), 200);
    assert_string_equal(text_at(json_object_get(shown, "approval"), "state"), "approved");
    assert_string_equal(text_at(shown, "code"), "ASK");
    assert_problem(answer(rig, id, "deny"), 409, "was approved before");
    become(rig, BOB);
    assert_problem(send_again(rig, "ASK", id), 404, "no such decision");
    become(rig, ANN);
    const json_t *json = await_answer(send_again(rig, "ASK", id), 200);
    assert_json(json_object_get(json, "approved_by"), "{'principal':'dora'}");
    const struct seen *seen = executor_last(&rig->executor, CBX_CALL_submit);
    assert_string_equal(text_at(seen->header, "approval_asked"), id);
    assert_string_equal(text_at(seen->header, "approval_approver"), "dora");
    assert_string_equal(text_at(seen->header, "approval_how"), "rest");
    assert_problem(send_again(rig, "ASK", id), 409, "used before");
    const json_t *run = await_answer(get(rig, text_at(json, "decision")), 200);
    assert_null(
        json_object_get(run, "approval")); /* the decision of this run waits for no approval */
}

static void what_was_denied_does_not_run(void **state)
{
    struct rig *rig = *state;
    char id[CBX_ID_CHARS + 1];
    become(rig, CAROL); /* her own */
    ask(rig, "", id);
    await_answer(answer(rig, id, "deny"), 200);
    assert_problem(send_again(rig, "ASK", id), 409, "was denied");
    assert_problem(answer(rig, id, "approve"), 409, "was denied");
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), 1);
}

static void code_that_changed_is_asked_about_anew(void **state)
{
    struct rig *rig = *state;
    char id[CBX_ID_CHARS + 1];
    become(rig, CAROL);
    ask(rig, "", id);
    await_answer(answer(rig, id, "approve"), 200);
    const json_t *json = assert_problem(send_again(rig, "ASK # more", id), 400, "needs approval");
    assert_string_not_equal(text_at(json, "decision"), id);
    await_answer(send_again(rig, "ASK", id), 200); /* the other code did not use it up */
    assert_problem(send_again(rig, "ASK", id), 409, "used before");
}

static void a_session_that_changed_is_asked_about_anew(void **state)
{
    struct rig *rig = *state;
    char id[CBX_ID_CHARS + 1], session[37], body[256];
    become(rig, CAROL);
    open_session(rig, "{}", session);
    ask(rig, session, id);
    await_answer(answer(rig, id, "approve"), 200);
    await_answer(post_code(rig, session, "x = 1"), 200);
    snprintf(body, sizeof(body), "{'code':'ASK','session_id':'%s','approval':'%s'}", session, id);
    assert_problem(rig_json(rig, "POST", "/v1/executions", body), 400, "needs approval");
    assert_problem(rig_json(rig, "POST", "/v1/executions", body), 400, "needs approval");
}

static void a_denial_and_a_check_wait_for_nobody(void **state)
{
    struct rig *rig = *state;
    const json_t *json =
        await_answer(rig_json(rig, "POST", "/v1/executions", "{'code':'DENY'}"), 400);
    assert_null(json_object_get(json, "approval"));
    assert_problem(answer(rig, text_at(json, "decision"), "approve"), 409, "does not wait");
    json =
        await_answer(rig_json(rig, "POST", "/v1/check", "{'code':'ASK','language':'python'}"), 200);
    assert_problem(answer(rig, text_at(json, "decision"), "approve"), 409, "does not wait");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(denials_and_runs_are_listed_the_newest_first),
        RIG_TEST(they_come_in_pages_and_by_their_verdict),
        RIG_TEST(those_of_another_principal_do_not_exist),
        RIG_TEST(nobody_approves_without_the_right),
        RIG_TEST(what_was_approved_runs_once_for_who_asked),
        RIG_TEST(what_was_denied_does_not_run),
        RIG_TEST(code_that_changed_is_asked_about_anew),
        RIG_TEST(a_session_that_changed_is_asked_about_anew),
        RIG_TEST(a_denial_and_a_check_wait_for_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
