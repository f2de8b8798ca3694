/* SPDX-License-Identifier: MIT
 * Paths in URIs. */
#include "gateway/front/uri.h"
#include "tests/unit/unit.h"

#include <string.h>

static void a_path_survives_being_encoded_and_decoded(void **state)
{
    (void)state;
    static const char *const paths[] = { "a",     "a/b.c",    "a b",
                                         "100%",  "x?y#z",    "\u00e9/\u20ac",
                                         "a%2fb", "\x01\x7f", "" };
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        CBX_AUTO_DONE(buf) uri;
        CBX_AUTO_DONE(buf) back;
        cbx_buf_init(&uri, 200);
        cbx_buf_init(&back, 200);
        cbx_uri_add(&uri, cbx_str_of(paths[i]));
        assert_int_equal(cbx_uri_decode(cbx_buf_str(&uri), &back, NULL), 0);
        assert_true(cbx_str_is(cbx_buf_str(&back), paths[i]));
        for (size_t k = 0; k < uri.len; k++) {
            assert_true(uri.p[k] > ' ' && uri.p[k] < 0x7f && strchr("?#\"<>\\", uri.p[k]) == NULL);
        }
    }
}

static void what_is_no_encoded_path_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "%", "%4", "a%zz", "%00", "%ff", "a%c3" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 200);
        assert_int_equal(cbx_uri_decode(cbx_str_of(bad[i]), &out, NULL), CBX_EINVAL);
    }
    CBX_AUTO_DONE(buf) small;
    cbx_buf_init(&small, 4);
    assert_int_equal(cbx_uri_decode(CBX_STR("abcdefgh"), &small, NULL), CBX_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_survives_being_encoded_and_decoded),
        cmocka_unit_test(what_is_no_encoded_path_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
