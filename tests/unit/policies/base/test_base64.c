/* SPDX-License-Identifier: MIT
 * Base64. */
#include "policies/base/base64.h"
#include "tests/unit/unit.h"

static void has_the_vectors_of_the_rfc(void **state)
{
    (void)state;
    static const char *const vectors[][2] = {
        { "", "" },
        { "f", "Zg==" },
        { "fo", "Zm8=" },
        { "foo", "Zm9v" },
        { "foob", "Zm9vYg==" },
        { "fooba", "Zm9vYmE=" },
        { "foobar", "Zm9vYmFy" },
    };
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        CBX_AUTO_DONE(buf) text;
        CBX_AUTO_DONE(buf) bytes;
        cbx_buf_init(&text, 100);
        cbx_buf_init(&bytes, 100);
        assert_int_equal(cbx_base64_encode(cbx_str_of(vectors[i][0]), &text), 0);
        assert_true(cbx_str_is(cbx_buf_str(&text), vectors[i][1]));
        assert_true(cbx_base64_decode(cbx_buf_str(&text), &bytes));
        assert_true(cbx_str_is(cbx_buf_str(&bytes), vectors[i][0]));
    }
}

static void what_is_no_base64_is_refused_and_leaves_the_buffer_alone(void **state)
{
    (void)state;
    static const char *const bad[] = { "Z",    "Zg",     "Zg=",   "Z===", "====", "Zg==Zg==",
                                       "Zm9 ", "Zm9v\n", " Zm9v", "Zm9-", "=m9v", "Zm=v" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 100);
        cbx_buf_add_cstr(&out, "x");
        assert_false(cbx_base64_decode(cbx_str_of(bad[i]), &out));
        assert_true(cbx_str_is(cbx_buf_str(&out), "x"));
    }
    CBX_AUTO_DONE(buf) small;
    cbx_buf_init(&small, 4);
    assert_int_equal(cbx_base64_encode(CBX_STR("foobar"), &small), CBX_ETOOBIG);
    assert_false(cbx_base64_decode(CBX_STR("Zm9vYmFy"), &small));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_vectors_of_the_rfc),
        cmocka_unit_test(what_is_no_base64_is_refused_and_leaves_the_buffer_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
