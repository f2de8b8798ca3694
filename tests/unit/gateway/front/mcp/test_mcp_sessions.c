/* SPDX-License-Identifier: MIT
 * Sessions of the handshake era: their ends, and requests to their clients. */
#include "gateway/front/mcp/mcp_sessions.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <unistd.h>

#define ANN CBX_STR("ann")

static struct cbx_mcp_sessions *sessions;

static int set_up(void **state)
{
    (void)state;
    sessions = cbx_mcp_sessions_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cbx_mcp_sessions_free(sessions);
    return 0;
}

static struct cbx_str open_session(char id[CBX_MCP_SESSION_ID + 1])
{
    CBX_AUTO_JSON params = json_pack("{s:{s:{}},s:{s:s,s:s}}", "capabilities", "roots",
                                     "clientInfo", "name", "editor", "version", "1.2");
    assert_true(cbx_mcp_session_open(sessions, ANN, params, id));
    return cbx_str_of(id);
}

static void a_session_lasts_until_it_is_closed(void **state)
{
    (void)state;
    char text[CBX_MCP_SESSION_ID + 1];
    struct cbx_str id = open_session(text);
    CBX_AUTO_JSON capabilities = cbx_mcp_session_capabilities(sessions, id);
    assert_non_null(json_object_get(capabilities, "roots"));
    assert_int_equal(id.len, CBX_MCP_SESSION_ID);
    cbx_mcp_session_set_level(sessions, id, 4);
    assert_int_equal(cbx_mcp_session_level(sessions, id), 4);
    assert_true(cbx_mcp_session_close(sessions, ANN, id));
    assert_false(cbx_mcp_session_use(sessions, ANN, id));
    assert_false(cbx_mcp_session_close(sessions, ANN, id));
    assert_null(cbx_mcp_session_capabilities(sessions, id));
    assert_int_equal(cbx_mcp_session_level(sessions, id), 0);
    assert_false(cbx_mcp_session_use(sessions, ANN, CBX_STR("")));
}

static void it_is_of_its_principal_alone(void **state)
{
    (void)state;
    char text[CBX_MCP_SESSION_ID + 1];
    struct cbx_str id = open_session(text);
    assert_false(cbx_mcp_session_use(sessions, CBX_STR("bob"), id));
    assert_false(cbx_mcp_session_close(sessions, CBX_STR("bob"), id));
    assert_true(cbx_mcp_session_use(sessions, ANN, id));
}

static void it_knows_the_client_and_what_that_declared_if_it_is_not_too_much(void **state)
{
    (void)state;
    char text[CBX_MCP_SESSION_ID + 1], large[20000];
    struct cbx_claims claims = { 0 };
    struct cbx_str id = open_session(text);
    cbx_mcp_session_claims(sessions, id, &claims);
    assert_string_equal(claims.claimed_client, "editor");
    assert_string_equal(claims.claimed_client_version, "1.2");
    memset(large, 'x', sizeof(large));
    CBX_AUTO_JSON params = json_pack("{s:{s:s#}}", "capabilities", "x", large, sizeof(large));
    assert_true(cbx_mcp_session_open(sessions, ANN, params, text));
    assert_null(cbx_mcp_session_capabilities(sessions, cbx_str_of(text)));
}

static void the_least_used_of_too_many_makes_room(void **state)
{
    (void)state;
    char first[CBX_MCP_SESSION_ID + 1], second[CBX_MCP_SESSION_ID + 1],
        last[CBX_MCP_SESSION_ID + 1];
    struct cbx_str id = open_session(first), unused = open_session(second);
    for (int i = 0; i < CBX_MCP_SESSIONS_MAX - 2; i++) {
        open_session(last);
    }
    usleep(2000);
    assert_true(cbx_mcp_session_use(sessions, ANN, id));
    usleep(2000);
    for (int i = 0; i < CBX_MCP_SESSIONS_MAX - 1; i++) {
        open_session(last);
        usleep(10);
    }
    assert_true(cbx_mcp_session_use(sessions, ANN, cbx_str_of(last)));
    assert_true(cbx_mcp_session_use(sessions, ANN, id));
    assert_false(cbx_mcp_session_use(sessions, ANN, unused));
}

static void who_opens_many_ends_its_own(void **state)
{
    (void)state;
    char id[CBX_MCP_SESSION_ID + 1], mine[2][CBX_MCP_SESSION_ID + 1];
    for (int i = 0; i < 2; i++) { /* before all others, and not used since */
        assert_true(cbx_mcp_session_open(sessions, CBX_STR("ben"), NULL, mine[i]));
    }
    usleep(2000);
    for (int i = 0; i < CBX_MCP_SESSIONS_MAX + 20; i++) {
        open_session(id);
    }
    for (int i = 0; i < 2; i++) {
        assert_true(cbx_mcp_session_use(sessions, CBX_STR("ben"), cbx_str_of(mine[i])));
    }
    /* A third session of ben opens although the table is full: it replaces one of the principal
     * with many. */
    char third[CBX_MCP_SESSION_ID + 1];
    assert_true(cbx_mcp_session_open(sessions, CBX_STR("ben"), NULL, third));
    assert_true(cbx_mcp_session_use(sessions, CBX_STR("ben"), cbx_str_of(third)));
    assert_true(cbx_mcp_session_use(sessions, CBX_STR("ben"), cbx_str_of(mine[0])));
    assert_true(cbx_mcp_session_use(sessions, ANN, cbx_str_of(id)));
}

static void a_call_is_cancelled_by_its_session_alone(void **state)
{
    (void)state;
    char one[CBX_MCP_SESSION_ID + 1], two[CBX_MCP_SESSION_ID + 1];
    struct cbx_str id = open_session(one), other = open_session(two);
    CBX_AUTO_JSON request = json_string("r-1");
    CBX_AUTO_JSON unknown = json_string("r-2");
    struct cbx_mcp_call call, without, last;
    cbx_mcp_session_begin_call(sessions, id, request, &call);
    cbx_mcp_session_begin_call(sessions, CBX_STR(""), request, &without);
    cbx_mcp_session_begin_call(sessions, other, request, &last);
    cbx_mcp_session_cancel(sessions, other, unknown);
    cbx_mcp_session_cancel(sessions, CBX_STR(""), request);
    assert_false(call.cancelled || without.cancelled || last.cancelled);
    cbx_mcp_session_cancel(sessions, id, request);
    assert_true(call.cancelled);
    assert_false(without.cancelled || last.cancelled);
    cbx_mcp_session_close(sessions, ANN, other);
    assert_true(last.cancelled);
    cbx_mcp_session_end_call(sessions, &without);
    cbx_mcp_session_end_call(sessions, &call);
    cbx_mcp_session_end_call(sessions, &last);
}

/* The action on the session when the question is sent. */
struct deed {
    enum { ANSWERS, REFUSES, CLOSES, STOPS, IGNORES, TWICE } kind;
    struct cbx_str id, from; /* the session asked, the one that answers */
    int wait_ms;
    bool gives_up; /* the server, after the first second */
};

static bool goes_on(void *context)
{
    return !((const struct deed *)context)->gives_up;
}

static void do_deed(void *context, struct cbx_str line)
{
    const struct deed *deed = context;
    CBX_AUTO_JSON question = NULL;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_json_parse(line, line.len, &question, &err), 0);
    CBX_AUTO_JSON response = json_pack("{s:O,s:{s:i}}", "id", json_object_get(question, "id"),
                                       deed->kind == REFUSES ? "error" : "result", "code", 7);
    if (deed->kind == TWICE) { /* the second one has no effect */
        CBX_AUTO_JSON second = json_deep_copy(response);
        cbx_mcp_session_answer(sessions, deed->from, response);
        json_object_set_new(json_object_get(second, "result"), "code", json_integer(8));
        cbx_mcp_session_answer(sessions, deed->from, second);
    }
    if (deed->kind == ANSWERS || deed->kind == REFUSES) {
        cbx_mcp_session_answer(sessions, deed->from, response);
    }
    json_object_set_new(response, "id", json_integer(4711)); /* answers no question */
    cbx_mcp_session_answer(sessions, deed->from, response);
    if (deed->kind == CLOSES || deed->from.p != deed->id.p) {
        cbx_mcp_session_close(sessions, ANN, deed->id);
    }
    if (deed->kind == STOPS) {
        cbx_mcp_sessions_stop(sessions);
    }
}

static int ask(struct deed *deed)
{
    CBX_AUTO_JSON question = json_pack("{s:s,s:{}}", "method", "roots/list", "params");
    CBX_AUTO_JSON result = NULL;
    struct cbx_err err = { 0 };
    const struct cbx_mcp_asker asker = {
        .send = do_deed, .goes_on = goes_on, .context = deed, .wait_ms = deed->wait_ms
    };
    int failed = cbx_mcp_session_ask(sessions, deed->id, question, &asker, &result, &err);
    if (!failed) {
        assert_int_equal(json_integer_value(json_object_get(result, "code")), 7);
    }
    return failed;
}

static void a_request_ends_with_its_answer_or_its_session(void **state)
{
    (void)state;
    char one[CBX_MCP_SESSION_ID + 1], two[CBX_MCP_SESSION_ID + 1];
    struct cbx_str id = open_session(one), other = open_session(two);
    assert_int_equal(ask(&(struct deed){ ANSWERS, id, id, 10000, false }), 0);
    assert_int_equal(ask(&(struct deed){ REFUSES, id, id, 10000, false }), CBX_EIO);
    assert_int_equal(ask(&(struct deed){ CLOSES, id, id, 10000, false }), CBX_EIO);
    assert_int_equal(ask(&(struct deed){ ANSWERS, id, id, 10000, false }), CBX_EIO);
    id = open_session(one);
    assert_int_equal(ask(&(struct deed){ STOPS, id, id, 10000, false }), CBX_EIO);
    assert_false(cbx_mcp_session_use(sessions, ANN, other));
    assert_false(cbx_mcp_session_open(sessions, ANN, NULL, one));
}

static void an_answer_from_another_session_has_no_effect(void **state)
{
    (void)state;
    char one[CBX_MCP_SESSION_ID + 1], two[CBX_MCP_SESSION_ID + 1];
    struct cbx_str id = open_session(one), other = open_session(two);
    assert_int_equal(ask(&(struct deed){ ANSWERS, id, other, 10000, false }), CBX_EIO);
}

static void a_request_ends_when_its_time_is_over_or_nobody_waits_any_more(void **state)
{
    (void)state;
    char one[CBX_MCP_SESSION_ID + 1];
    struct cbx_str id = open_session(one);
    assert_int_equal(ask(&(struct deed){ IGNORES, id, id, 20, false }), CBX_ETIMEDOUT);
    assert_int_equal(ask(&(struct deed){ IGNORES, id, id, 60000, true }), CBX_EIO);
    assert_int_equal(ask(&(struct deed){ TWICE, id, id, 10000, false }), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_session_lasts_until_it_is_closed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_is_of_its_principal_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            it_knows_the_client_and_what_that_declared_if_it_is_not_too_much, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_least_used_of_too_many_makes_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_opens_many_ends_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_call_is_cancelled_by_its_session_alone, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_request_ends_when_its_time_is_over_or_nobody_waits_any_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_request_ends_with_its_answer_or_its_session, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_answer_from_another_session_has_no_effect, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
