/* SPDX-License-Identifier: MIT
 * Base64. */
#include "policies/base/text/base64.h"
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

static void decoded_bytes_are_terminated_in_a_buffer_that_was_used_before(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 100);
    cbx_buf_add_cstr(&out, "0123456789abcdef");
    cbx_buf_reset(&out);
    assert_true(cbx_base64_decode(CBX_STR("Zm9v"), &out));
    assert_string_equal(out.p, "foo");
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

static void the_form_of_the_web_has_other_characters_and_no_padding(void **state)
{
    (void)state;
    static const struct {
        struct cbx_str bytes;
        const char *text;
    } vectors[] = {
        { CBX_STR(""), "" },
        { CBX_STR("f"), "Zg" },
        { CBX_STR("fo"), "Zm8" },
        { CBX_STR("foo"), "Zm9v" },
        { CBX_STR("\xfb\xff\xfe"), "-__-" },
        { CBX_STR("\x03\xec\xff\xe0\xc1"), "A-z_4ME" }, /* RFC 7515, appendix C */
    };
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        CBX_AUTO_DONE(buf) text;
        CBX_AUTO_DONE(buf) bytes;
        cbx_buf_init(&text, 100);
        cbx_buf_init(&bytes, 100);
        cbx_buf_add_cstr(&text, "+/="); /* existing content stays */
        assert_int_equal(cbx_base64url_encode(vectors[i].bytes, &text), 0);
        assert_int_equal(strlen(text.p), text.len);
        assert_true(cbx_str_starts(cbx_buf_str(&text), CBX_STR("+/=")));
        struct cbx_str encoded = cbx_str_sub(cbx_buf_str(&text), 3, text.len);
        assert_true(cbx_str_is(encoded, vectors[i].text));
        assert_true(cbx_base64url_decode(encoded, &bytes));
        assert_true(cbx_str_equal(cbx_buf_str(&bytes), vectors[i].bytes));
    }
}

static void another_form_is_none_of_the_web(void **state)
{
    (void)state;
    static const char *const bad[] = { "Z", "Zg==", "Zm9vY", "+__-", "-_/-", "Zm9 ", "Zm9v\n" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 100);
        cbx_buf_add_cstr(&out, "x");
        assert_false(cbx_base64url_decode(cbx_str_of(bad[i]), &out));
        assert_true(cbx_str_is(cbx_buf_str(&out), "x"));
    }
    CBX_AUTO_DONE(buf) small;
    cbx_buf_init(&small, 4);
    assert_int_equal(cbx_base64url_encode(CBX_STR("foobar"), &small), CBX_ETOOBIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_vectors_of_the_rfc),
        cmocka_unit_test(decoded_bytes_are_terminated_in_a_buffer_that_was_used_before),
        cmocka_unit_test(what_is_no_base64_is_refused_and_leaves_the_buffer_alone),
        cmocka_unit_test(the_form_of_the_web_has_other_characters_and_no_padding),
        cmocka_unit_test(another_form_is_none_of_the_web),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
