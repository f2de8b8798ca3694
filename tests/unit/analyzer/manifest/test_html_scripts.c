/* SPDX-License-Identifier: MIT
 * Pages of HTML: scripts by their type, handlers, addresses with code, templates, places. */
#include "tests/unit/analyzer/manifest/manifest_rig.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static void scripts_are_read_by_their_type(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "<p>x</p>", "" },
        { "<html>\n<script>\na\n</script>", "javascript<\na\n>3:2" },
        { "<SCRIPT TYPE=\" Text/JavaScript; x=y\">a</SCRIPT>", "javascript<a>1:38" },
        { "<script type=module>a</script>", "javascript<a>1:21" },
        { "<script src=\"x.js\"></script>", "" },
        { "<script type=\"application/ld+json\">{}</script>", "" },
        { "<script type=\"importmap\">{}</script><style>a</style>", "" },
        { "<script type=\"text/template\"><p></p></script>", "" },
        { "<script type=py>a</script>", "python<a>1:17" },
        { "<svg><script>a</script></svg>", "javascript<a>1:14" },
    };
    check_pieces("a.html", cases, COUNT(cases));
}

static void types_without_an_analyzer_are_noted(void **state)
{
    (void)state;
    struct cbx_manifest manifest;
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 4096);
    assert_true(read_manifest("a.htm", "<script type='text/babel'>x</script>", &manifest, &out));
    assert_int_equal(manifest.piece_count, 0);
    assert_int_equal(manifest.skip_count, 1);
    assert_string_equal(manifest.skips[0].language.p, "text/babel");
}

static void handlers_are_code_with_references_decoded(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "<a onclick=\"f(&quot;x&quot;)\">y</a>", "javascript<f(\"x\")>1:28" },
        { "<a\n  ONLOAD='&#x66;&#40&#41;'>", "javascript<f()>2:21" },
        { "<a onxy=a&amp;&amp;b></a>", "javascript<a&&b>1:20" },
        { "<a onxy='a&amp b'>", "javascript<a&amp b>1:16" },
        { "<a on='x' on-x='y' one2='z' title='f()'>", "" },
    };
    check_pieces("a.html", cases, COUNT(cases));
}

static void addresses_with_code_are_found_as_browsers_find_them(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "<a href=\"javascript:f()\">", "javascript<f()>1:23" },
        { "<a href=' \n java\tscri&NewLine;pt&colon;f()'>", "javascript<f()>2:31" },
        { "<form action=JavaScript:f%28%29>", "javascript<f()>1:29" },
        { "<a href='x?javascript:f()'><a href='javascript:'>", "" },
    };
    check_pieces("a.html", cases, COUNT(cases));
}

static void code_with_marks_of_templates_has_a_form_without_them(void **state)
{
    (void)state;
    static const struct {
        const char *page, *instead;
    } cases[] = {
        { "<script>a = {{ b|c }};{% if x %}d{% endif %}</script>", "a = EXPRESSION; d " },
        { "<a onclick='f(<%= x %>, <?= y ?>)<% z %>'>", "f(EXPRESSION, EXPRESSION) " },
        { "<script>a = {b: {c: 1}}</script>", NULL },
        { "<script>a = '{{ b'</script>", NULL },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct cbx_manifest manifest;
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 4096);
        assert_true(read_manifest("a.html", cases[i].page, &manifest, &out));
        assert_int_equal(manifest.piece_count, 1);
        const struct cbx_manifest_piece *instead = manifest.pieces[0].instead;
        assert_string_equal(instead != NULL ? instead->text.p : "none",
                            cases[i].instead != NULL ? cases[i].instead : "none");
    }
}

static void what_cannot_be_read_is_refused_where_code_may_be_in_it(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "<p>a < b</p><script>x</script>", "javascript<x>1:21" },
        { "<div <script>x</script>", "javascript<x>1:14" },
        { "<a =d onclick=x \"", "line 1, column 3: HTML that cannot be read, with code in it" },
        { "<title><% x %></title><b>JavaScript</b>", "" },
        { "<p a=\"b\" \"c>", "" },
    };
    check_pieces("a.html", cases, COUNT(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_are_read_by_their_type),
        cmocka_unit_test(types_without_an_analyzer_are_noted),
        cmocka_unit_test(handlers_are_code_with_references_decoded),
        cmocka_unit_test(addresses_with_code_are_found_as_browsers_find_them),
        cmocka_unit_test(code_with_marks_of_templates_has_a_form_without_them),
        cmocka_unit_test(what_cannot_be_read_is_refused_where_code_may_be_in_it),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
