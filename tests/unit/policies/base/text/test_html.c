/* SPDX-License-Identifier: MIT
 * Values of any origin in HTML. */
#include "policies/base/text/html.h"
#include "policies/base/text/json.h"

#include "tests/unit/unit.h"

static void assert_html(struct cbx_str text, const char *expected)
{
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 4096);
    cbx_html_add(&out, "%.*s", CBX_STR_ARG(text));
    assert_string_equal(out.p, expected);
}

static void what_ends_text_or_an_attribute_is_an_entity(void **state)
{
    (void)state;
    assert_html(CBX_STR("<a href=\"x\" id='y'>&`"),
                "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;&#96;");
    assert_html(CBX_STR("&lt;"), "&amp;lt;");
    assert_html(CBX_STR(""), "");
    assert_html(CBX_STR("100 %s %n"), "100 %s %n");
    assert_html(CBX_STR("plain \xC3\xA4\n"), "plain \xC3\xA4\n");
}

static void what_cannot_be_seen_is_written_out(void **state)
{
    (void)state;
    assert_html((struct cbx_str){ .p = "<\0s>", .len = 4 }, "&lt;\\x00s&gt;");
    assert_html(CBX_STR("a\xE2\x80\xAE"
                        "b"),
                "a\\u{202e}b");
    assert_html(CBX_STR("\xFF<"), "\\xff&lt;");
}

static void markup_stays_and_values_stand_in_it(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 4096);
    cbx_html_add(&out, "<p class=\"%s\">", "a\"b");
    cbx_html_add(&out, "<b>%d %lld %llu %zu %.1f%%</b></p>", -1, (long long)INT64_MIN,
                 (unsigned long long)UINT64_MAX, (size_t)7, 0.25);
    assert_string_equal(out.p, "<p class=\"a&quot;b\"><b>-1 -9223372036854775808 "
                               "18446744073709551615 7 0.2%</b></p>");
}

static void a_member_that_is_no_string_gives_nothing(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) out;
    CBX_AUTO_JSON json = json_pack("{s:i,s:s,s:s%}", "a", 1, "b", "<", "c", "<\0", (size_t)2);
    cbx_buf_init(&out, 64);
    cbx_html_add(&out, "%.*s%.*s", CBX_JSON_ARG(json, "a"), CBX_JSON_ARG(NULL, "a"));
    assert_int_equal(out.len, 0);
    cbx_html_add(&out, "%.*s%.*s", CBX_JSON_ARG(json, "b"), CBX_JSON_ARG(json, "c"));
    assert_string_equal(out.p, "&lt;&lt;\\x00");
}

static void a_full_buffer_is_noticed(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 8);
    cbx_html_add(&out, "<p>%s</p>", "too long");
    assert_true(out.overflow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ends_text_or_an_attribute_is_an_entity),
        cmocka_unit_test(what_cannot_be_seen_is_written_out),
        cmocka_unit_test(markup_stays_and_values_stand_in_it),
        cmocka_unit_test(a_member_that_is_no_string_gives_nothing),
        cmocka_unit_test(a_full_buffer_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
