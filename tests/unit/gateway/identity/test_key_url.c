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
        { "https:/a/x", "another scheme" },
        { "https:a", "another scheme" },
        { "ftps://a/x", "another scheme" },
        { "https://ann@a/x", "user information" },
        { "https://ann:secret@a/x", "user information" },
        { "https://good.example@evil.example/x", "user information" },
        { "https://@a/x", "user information" },
        { "https://a/x#y", "fragment" },
        { "https://a/#", "fragment" },
        { "https://a#b/x", "fragment" },
        { "https:///x", "no name and no address" },
        { "https://:443/x", "no name and no address" },
        { "https://a..b/x", "no name and no address" },
        { "https://.a/x", "no name and no address" },
        { "https://a./x", "no name and no address" },
        { "https://a b/x", "no name and no address" },
        { "https://b\xc3\xbc.example/x", "no name and no address" },
        { "https://a%2eb/x", "no name and no address" },
        { "https://[::1/x", "no name and no address" },
        { "https://[]/x", "no name and no address" },
        { "https://[a]/x", "no name and no address" },
        { "https://[::1%25eth0]/x", "no name and no address" },
        { "https://a:/x", "port" },
        { "https://a:0/x", "port" },
        { "https://a:65536/x", "port" },
        { "https://a:99999999999/x", "port" },
        { "https://a:+1/x", "port" },
        { "https://a:1:2/x", "port" },
        { "https://[::1]8443/x", "port" },
        { "https://a", "without a path" },
        { "https://a?x", "without a path" },
        { "https://a\\b/x", "without a path" },
        { "https://a/b c", "must be escaped" },
        { "https://a/b\\c", "must be escaped" },
        { "https://a/\"", "must be escaped" },
        { "https://a/%2", "must be escaped" },
        { "https://a/%zz", "must be escaped" },
        { "https://a/\xc3\xbc", "must be escaped" },
        { "https://a/x\r\nHost: b", "must be escaped" },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *problem = cbx_key_url_problem(cbx_str_of(bad[i][0]));
        if (problem == NULL || strstr(problem, bad[i][1]) == NULL) {
            fail_msg("%s is %s, not %s", bad[i][0], problem != NULL ? problem : "good", bad[i][1]);
        }
    }
    assert_non_null(cbx_key_url_problem(CBX_STR("https://a/x\0y")));
    assert_non_null(cbx_key_url_problem(CBX_STR("https://a\0b/x")));
}

static void a_label_and_a_name_have_their_longest(void **state)
{
    (void)state;
    char url[400] = "https://";
    for (int label = 0; label < 4; label++) {
        memset(url + strlen(url), 'a', label < 3 ? 63 : 61);
        memcpy(url + strlen(url), label < 3 ? "." : "/", 2);
    }
    assert_null(cbx_key_url_problem(cbx_str_of(url))); /* 253 */
    memcpy(url + strlen(url) - 1, "a/", 3);
    assert_non_null(cbx_key_url_problem(cbx_str_of(url)));
    memset(url + 8, 'a', 64);
    memcpy(url + 72, "/", 2);
    assert_non_null(cbx_key_url_problem(cbx_str_of(url)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scheme_makes_a_url_and_anything_else_is_a_file),
        cmocka_unit_test(https_with_a_path_may_be_fetched),
        cmocka_unit_test(what_may_not_be_fetched_is_named),
        cmocka_unit_test(a_label_and_a_name_have_their_longest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
