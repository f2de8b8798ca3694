/* SPDX-License-Identifier: MIT
 * The bytes of a submission: the text that runs, and its standard input. */
#include "gateway/executor/executor_internal.h"
#include "tests/unit/unit.h"

static struct cbx_submitted submitted;
static struct cbx_err err;

static int read_with(const char *input_bytes, bool streams, struct cbx_str bytes)
{
    const struct cbx_submit_args args = { .input_bytes = cbx_str_of(input_bytes),
                                          .streams = streams };
    return cbx_executor_read_submitted(&args, bytes, &submitted, &err);
}

static void without_a_length_all_is_text(void **state)
{
    (void)state;
    assert_int_equal(read_with("", true, CBX_STR("code")), 0);
    assert_true(cbx_str_is(submitted.text, "code"));
    assert_false(submitted.has_input);
    assert_false(submitted.streams);
}

static void the_last_bytes_are_the_input(void **state)
{
    (void)state;
    assert_int_equal(read_with("3", false, CBX_STR("code123")), 0);
    assert_true(cbx_str_is(submitted.text, "code"));
    assert_true(cbx_str_is(submitted.input, "123"));
    assert_true(submitted.has_input);
    assert_int_equal(read_with("0", true, CBX_STR("code")), 0);
    assert_true(cbx_str_is(submitted.text, "code"));
    assert_int_equal(submitted.input.len, 0);
    assert_true(submitted.has_input);
    assert_true(submitted.streams);
}

static void a_length_that_does_not_fit_is_refused(void **state)
{
    static const char *const lengths[] = { "5", "-1", "1x", "18446744073709551616" };
    (void)state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        assert_int_equal(read_with(lengths[i], false, CBX_STR("code")), CBX_EPROTO);
    }
}

static void the_decision_has_the_hash_of_an_input_that_is_complete(void **state)
{
    (void)state;
    CBX_AUTO_JSON decision = json_object();
    assert_int_equal(read_with("3", true, CBX_STR("codeabc")), 0);
    cbx_executor_describe_input(&submitted, decision);
    assert_int_equal(json_object_size(decision), 0);
    assert_int_equal(read_with("3", false, CBX_STR("codeabc")), 0);
    cbx_executor_describe_input(&submitted, decision);
    assert_int_equal(json_integer_value(json_object_get(decision, "input_bytes")), 3);
    assert_string_equal(json_string_value(json_object_get(decision, "input_sha256")),
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_length_all_is_text),
        cmocka_unit_test(the_last_bytes_are_the_input),
        cmocka_unit_test(a_length_that_does_not_fit_is_refused),
        cmocka_unit_test(the_decision_has_the_hash_of_an_input_that_is_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
