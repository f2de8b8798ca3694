/* SPDX-License-Identifier: MIT
 * Results of runs as messages, and back. */
#include "gateway/ipc/wire/relay.h"

#include "tests/unit/unit.h"

static void a_result_comes_back_with_what_became_of_its_input(void **state)
{
    (void)state;
    const struct cbx_result sent = { .status = CBX_RUN_TIMEOUT,
                                     .exit_code = -1,
                                     .has_input = true,
                                     .input_cut = true,
                                     .input_awaited = true,
                                     .input_bytes = (uint64_t)5 << 30,
                                     .input_sha256 = cbx_sha256_of(CBX_STR("x")) };
    CBX_AUTO_JSON json = cbx_result_json(&sent);
    CBX_AUTO_DONE(result) got = { 0 };
    struct cbx_err err;
    assert_int_equal(cbx_result_from_json(json, &got, &err), 0);
    assert_true(got.has_input && got.input_cut && got.input_awaited);
    assert_int_equal(got.input_bytes, sent.input_bytes);
    assert_true(cbx_sha256_equal(&got.input_sha256, &sent.input_sha256));
}

static void a_result_without_an_input_says_nothing_of_one(void **state)
{
    (void)state;
    const struct cbx_result sent = { .status = CBX_RUN_OK };
    CBX_AUTO_JSON json = cbx_result_json(&sent);
    CBX_AUTO_DONE(result) got = { .has_input = true, .input_cut = true };
    struct cbx_err err;
    assert_null(json_object_get(json, "input_bytes"));
    assert_null(json_object_get(json, "input_cut"));
    assert_int_equal(cbx_result_from_json(json, &got, &err), 0);
    assert_false(got.has_input || got.input_cut || got.input_awaited);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_comes_back_with_what_became_of_its_input),
        cmocka_unit_test(a_result_without_an_input_says_nothing_of_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
