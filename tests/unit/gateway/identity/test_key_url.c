/* SPDX-License-Identifier: MIT
 * URLs of keys. */
#include "gateway/identity/key_url.h"
#include "tests/unit/unit.h"

static void a_scheme_makes_a_url_and_anything_else_is_a_file(void **state)
{
    (void)state;
    static const char *const urls[] = { "https://a/b",        "http:x",   "HTTPS://a/",
                                        "file:///etc/passwd", "a+b-c.d:", "x:/y" };
    static const char *const files[] = { "",   "keys.json", "/etc/keys", "./a:b", "/a:b",
                                         ":a", "+a:b",      "a b:c",     "../x" };
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        assert_true(cbx_key_url_is(cbx_str_of(urls[i])));
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        assert_false(cbx_key_url_is(cbx_str_of(files[i])));
    }
}

static void https_with_a_path_may_be_fetched(void **state)
{
    (void)state;
    static const char *const good[] = {
        "https://login.example.com/keys",
        "HTTPS://LOGIN.example.com/",
        "https://localhost:8443/a/b.json",
        "https://a:1/x",
        "https://a:65535/x",
        "https://127.0.0.1/x",
        "https://[::1]/x",
        "https://[2001:db8::1]:8443/x",
        "https://a_b-c.example/x",
        "https://a/x?p=one&q=%20",
        "https://a/.well-known/~x/(y);z=1,2/@a:b/!$&'*+",
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        const char *problem = cbx_key_url_problem(cbx_str_of(good[i]));
        if (problem != NULL) {
            fail_msg("%s is %s", good[i], problem);
        }
    }
}

static void what_may_not_be_fetched_is_named(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        { "http://a/x", "another scheme" },
        { "file:///etc/passwd", "another scheme" },
        { "ftps://a/x", "another scheme" },
        { "x-y:/z", "another scheme" },
        { "https:a", "no URL" },
        { "https://ann@a/x", "user information" },
        { "https://ann:secret@a/x", "user information" },
        { "https://good.example@evil.example/x", "user information" },
        { "https://a/x#y", "fragment" },
        { "https://a#b/x", "fragment" },
        { "https://:443/x", "no URL" },
        { "https://a b/x", "no URL" },
        { "https://[::1/x", "no URL" },
        { "https://[a]/x", "no URL" },
        { "https://a:65536/x", "no URL" },
        { "https://a:+1/x", "no URL" },
        { "https://[::1]8443/x", "no URL" },
        { "https://a\\b/x", "no URL" },
        { "https://a/b c", "no URL" },
        { "https://a/x\r\nHost: b", "no URL" },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *problem = cbx_key_url_problem(cbx_str_of(bad[i][0]));
        if (problem == NULL || strstr(problem, bad[i][1]) == NULL) {
            fail_msg("%s is %s, not %s", bad[i][0], problem != NULL ? problem : "good", bad[i][1]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scheme_makes_a_url_and_anything_else_is_a_file),
        cmocka_unit_test(https_with_a_path_may_be_fetched),
        cmocka_unit_test(what_may_not_be_fetched_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
