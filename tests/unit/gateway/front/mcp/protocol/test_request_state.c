/* SPDX-License-Identifier: MIT
 * Sealed state: only state that was sealed opens again. */
#include "gateway/front/mcp/protocol/request_state.h"
#include "tests/unit/unit.h"

#define ALICE CBX_STR("alice")

static struct cbx_request_key key;

static void seal(struct cbx_str principal, int64_t expires_ms, struct cbx_buf *out)
{
    CBX_AUTO_JSON state = json_pack("{s:s,s:i}", "tool", "run", "round", 2);
    cbx_request_key_init(&key);
    cbx_buf_init(out, CBX_REQUEST_STATE_MAX);
    assert_int_equal(cbx_request_state_seal(&key, state, principal, expires_ms, out), 0);
}

static int open_as(struct cbx_str text, struct cbx_str principal, int64_t now_ms)
{
    CBX_AUTO_JSON state = NULL;
    struct cbx_err err = { 0 };
    return cbx_request_state_open(&key, text, principal, now_ms, &state, &err);
}

static void opens_what_it_sealed(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO_JSON opened = NULL;
    struct cbx_err err = { 0 };
    seal(ALICE, 1000, &text);
    assert_int_equal(cbx_request_state_open(&key, cbx_buf_str(&text), ALICE, 999, &opened, &err),
                     0);
    assert_string_equal(json_string_value(json_object_get(opened, "tool")), "run");
    assert_int_equal(json_integer_value(json_object_get(opened, "round")), 2);
}

static void rejects_a_text_with_any_byte_changed_added_or_taken_away(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) text;
    seal(ALICE, 1000, &text);
    for (size_t i = 0; i < text.len; i++) {
        text.p[i] ^= 1;
        assert_int_equal(open_as(cbx_buf_str(&text), ALICE, 0), CBX_EINVAL);
        text.p[i] ^= 1;
        assert_int_equal(open_as(cbx_str_sub(cbx_buf_str(&text), 0, i), ALICE, 0), CBX_EINVAL);
    }
    assert_int_equal(open_as(cbx_buf_str(&text), ALICE, 0), 0);
    cbx_buf_add_cstr(&text, "-TAMPERED");
    assert_int_equal(open_as(cbx_buf_str(&text), ALICE, 0), CBX_EINVAL);
}

static void opens_for_its_principal_alone(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) text;
    seal(ALICE, 1000, &text);
    assert_int_equal(open_as(cbx_buf_str(&text), CBX_STR("mallory"), 0), CBX_EINVAL);
    assert_int_equal(open_as(cbx_buf_str(&text), CBX_STR(""), 0), CBX_EINVAL);
    assert_int_equal(open_as(cbx_buf_str(&text), CBX_STR("alice["), 0), CBX_EINVAL);
}

static void expires(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) text;
    seal(ALICE, 1000, &text);
    assert_int_equal(open_as(cbx_buf_str(&text), ALICE, 1000), CBX_ESTALE);
}

static void rejects_what_another_key_sealed(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) text;
    seal(ALICE, 1000, &text);
    cbx_request_key_init(&key);
    assert_int_equal(open_as(cbx_buf_str(&text), ALICE, 0), CBX_EINVAL);
}

static void refuses_to_seal_more_than_it_opens(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) out;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&out, 2 * CBX_REQUEST_STATE_MAX);
    cbx_buf_init(&text, CBX_REQUEST_STATE_MAX);
    char *p = cbx_buf_reserve(&text, CBX_REQUEST_STATE_MAX - 1);
    memset(p, 'x', CBX_REQUEST_STATE_MAX - 1);
    text.len = CBX_REQUEST_STATE_MAX - 1;
    CBX_AUTO_JSON value = cbx_json_text(cbx_buf_str(&text));
    assert_int_equal(cbx_request_state_seal(&key, value, ALICE, 1, &out), CBX_ETOOBIG);
    assert_int_equal(out.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_what_it_sealed),
        cmocka_unit_test(rejects_a_text_with_any_byte_changed_added_or_taken_away),
        cmocka_unit_test(opens_for_its_principal_alone),
        cmocka_unit_test(expires),
        cmocka_unit_test(rejects_what_another_key_sealed),
        cmocka_unit_test(refuses_to_seal_more_than_it_opens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
