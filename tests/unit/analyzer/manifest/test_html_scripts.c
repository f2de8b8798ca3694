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

static void pages_within_a_page_are_read_at_their_places(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "<iframe srcdoc=\"<script>f(&quot;x&quot;)</script>\"></iframe>",
          "javascript<f(\"x\")>1:40" },
        { "<iframe\nSRCDOC='&lt;p onclick=f()&gt;'>", "javascript<f()>2:25" },
        { "<iframe srcdoc=\"<iframe srcdoc='<script>a</script>'></iframe>\"></iframe>",
          "javascript<a>1:41" },
        { "<iframe src='data:text/html,%3Cscript>b</script>'></iframe>", "javascript<b>1:39" },
        { "<script src='data:text/javascript;charset=utf-8,a()'></script>", "javascript<a()>1:51" },
        { "<script src=' DATA:Text/JavaScript;base64,YSgp'></script>", "javascript<a()>1:43" },
        { "<object data='data:text/html;base64,PHNjcmlwdD5hPC9zY3JpcHQ+'></object>",
          "javascript<a>1:37" },
        { "<img src='data:image/png;base64,AAAA'><a href='data:,x'>y</a><a href='data:'>z</a>",
          "" },
        { "<a href='data:text/csv,a'><script src='data:text/javascript;base64,%%'></script>", "" },
        { "<iframe srcdoc='<p>x'></iframe><iframe srcdoc=''></iframe>", "" },
    };
    check_pieces("a.html", cases, COUNT(cases));
}

static void pages_that_are_nested_too_deep_are_refused(void **state)
{
    (void)state;
    struct cbx_manifest manifest;
    CBX_AUTO_DONE(buf) page;
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&page, 1 << 20);
    cbx_buf_init(&out, 4096);
    cbx_buf_add_cstr(&page, "<script>a</script>");
    for (int depth = 0; depth < 5; depth++) { /* each page is an address in the next one */
        CBX_AUTO_DONE(buf) outer;
        cbx_buf_init(&outer, 1 << 20);
        cbx_buf_add_cstr(&outer, "<iframe src=data:text/html,");
        for (size_t i = 0; i < page.len; i++) {
            cbx_buf_printf(&outer, "%%%02X", (unsigned char)page.p[i]);
        }
        cbx_buf_add_cstr(&outer, ">");
        assert_int_equal(read_manifest("a.html", page.p, &manifest, &out), true);
        assert_int_equal(manifest.piece_count, 1);
        cbx_buf_reset(&page);
        cbx_buf_add(&page, cbx_buf_str(&outer));
    }
    assert_false(read_manifest("a.html", page.p, &manifest, &out));
    assert_string_equal(
        out.p, "line 1, column 1081: a page within a page within other pages, nested too deep");
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
        cmocka_unit_test(pages_within_a_page_are_read_at_their_places),
        cmocka_unit_test(pages_that_are_nested_too_deep_are_refused),
        cmocka_unit_test(code_with_marks_of_templates_has_a_form_without_them),
        cmocka_unit_test(what_cannot_be_read_is_refused_where_code_may_be_in_it),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
