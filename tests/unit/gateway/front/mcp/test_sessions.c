/* SPDX-License-Identifier: MIT
 * Sessions of the handshake era: their ends, and requests to their clients. */
#include "gateway/front/mcp/sessions.h"
#include "tests/unit/unit.h"

#include <pthread.h>

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
    CBX_AUTO_JSON capabilities = json_pack("{s:{}}", "roots");
    assert_true(cbx_mcp_session_open(sessions, capabilities, id));
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
    assert_true(cbx_mcp_session_close(sessions, id));
    assert_false(cbx_mcp_session_exists(sessions, id));
    assert_false(cbx_mcp_session_close(sessions, id));
    assert_null(cbx_mcp_session_capabilities(sessions, id));
    assert_int_equal(cbx_mcp_session_level(sessions, id), 0);
    assert_false(cbx_mcp_session_exists(sessions, CBX_STR("")));
}

static void the_first_of_too_many_makes_room(void **state)
{
    (void)state;
    char first[CBX_MCP_SESSION_ID + 1], last[CBX_MCP_SESSION_ID + 1];
    struct cbx_str id = open_session(first);
    for (int i = 0; i < 64; i++) {
        assert_true(cbx_mcp_session_exists(sessions, id));
        open_session(last);
    }
    assert_false(cbx_mcp_session_exists(sessions, id));
    assert_true(cbx_mcp_session_exists(sessions, cbx_str_of(last)));
}

/* What is done to the session when the question is sent. */
struct deed {
    enum { ANSWERS, REFUSES, CLOSES, STOPS } kind;
    struct cbx_str id, from; /* the session asked, the one that answers */
};

static void do_deed(void *context, struct cbx_str line)
{
    const struct deed *deed = context;
    CBX_AUTO_JSON question = NULL;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_json_parse(line, line.len, &question, &err), 0);
    CBX_AUTO_JSON response = json_pack("{s:O,s:{s:i}}", "id", json_object_get(question, "id"),
                                       deed->kind == REFUSES ? "error" : "result", "code", 7);
    if (deed->kind == ANSWERS || deed->kind == REFUSES) {
        cbx_mcp_session_answer(sessions, deed->from, response);
    }
    if (deed->kind == CLOSES || deed->from.p != deed->id.p) {
        cbx_mcp_session_close(sessions, deed->id);
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
    int failed = cbx_mcp_session_ask(sessions, deed->id, question, do_deed, deed, &result, &err);
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
    assert_int_equal(ask(&(struct deed){ ANSWERS, id, id }), 0);
    assert_int_equal(ask(&(struct deed){ REFUSES, id, id }), CBX_EIO);
    assert_int_equal(ask(&(struct deed){ CLOSES, id, id }), CBX_EIO);
    assert_int_equal(ask(&(struct deed){ ANSWERS, id, id }), CBX_EIO);
    id = open_session(one);
    assert_int_equal(ask(&(struct deed){ STOPS, id, id }), CBX_EIO);
    assert_false(cbx_mcp_session_exists(sessions, other));
    assert_false(cbx_mcp_session_open(sessions, NULL, one));
}

static void an_answer_from_another_session_has_no_effect(void **state)
{
    (void)state;
    char one[CBX_MCP_SESSION_ID + 1], two[CBX_MCP_SESSION_ID + 1];
    struct cbx_str id = open_session(one), other = open_session(two);
    assert_int_equal(ask(&(struct deed){ ANSWERS, id, other }), CBX_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_session_lasts_until_it_is_closed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_first_of_too_many_makes_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_request_ends_with_its_answer_or_its_session, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_answer_from_another_session_has_no_effect, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
