/* SPDX-License-Identifier: MIT
 * Excerpts of source with the places of findings. */
#include "gateway/front/page/excerpt.h"

#include "tests/unit/unit.h"

static json_t *place(int line, int column, int end_line, int end_column)
{
    return json_pack("[{s:i,s:i,s:i,s:i}]", "line", line, "column", column, "end_line", end_line,
                     "end_column", end_column);
}

static void assert_excerpt(struct cbx_str source, json_t *findings, const char *expected)
{
    CBX_AUTO_JSON owned = findings;
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 64 * 1024);
    cbx_excerpt_add(&out, source, owned);
    assert_string_equal(out.p, expected);
}

static void a_place_is_marked_in_its_line(void **state)
{
    (void)state;
    assert_excerpt(CBX_STR("import os\n"), place(1, 8, 1, 10), "<b>1</b>import <mark>os</mark>\n");
    assert_excerpt(CBX_STR("\xC3\xA4 = <os>"), place(1, 5, 1, 9),
                   "<b>1</b>\xC3\xA4 = <mark>&lt;os&gt;</mark>\n");
    assert_excerpt(CBX_STR("os"), place(1, 1, 1, 1), "<b>1</b><mark>o</mark>s\n");
}

static void a_place_of_several_lines_is_marked_in_each(void **state)
{
    (void)state;
    assert_excerpt(CBX_STR("f(1,\n  2)\nx"), place(1, 3, 2, 4),
                   "<b>1</b>f(<mark>1,</mark>\n<b>2</b><mark>  2</mark>)\n<b>3</b>x\n");
}

static void lines_far_from_a_place_are_left_out(void **state)
{
    (void)state;
    assert_excerpt(CBX_STR("a\nb\nc\nd\ne\nf\ng\n"), place(5, 1, 5, 2),
                   "<i class=\"gap\">\xE2\x8B\xAE</i>\n<b>3</b>c\n<b>4</b>d\n"
                   "<b>5</b><mark>e</mark>\n<b>6</b>f\n<b>7</b>g\n");
}

static void a_place_that_the_source_lacks_marks_nothing(void **state)
{
    (void)state;
    assert_excerpt(CBX_STR("a\n"), place(1, 90, 1, 95), "<b>1</b>a\n");
    assert_excerpt(CBX_STR("a\n"), place(-1, -1, -5, 7), "<b>1</b>a\n");
    assert_excerpt(CBX_STR("a\n"), place(1, 0, 2147483647, 2147483647), "<b>1</b><mark>a</mark>\n");
    assert_excerpt(CBX_STR("a\n"), json_string("no list"), "<b>1</b>a\n");
    assert_excerpt(CBX_STR(""), place(1, 1, 1, 2), "");
}

static void a_long_line_is_shown_around_its_place(void **state)
{
    (void)state;
    enum { BYTES = 1024 * 1024, AT = 500000 };
    CBX_AUTO_MEM char *line = malloc(BYTES);
    assert_non_null(line);
    memset(line, 'x', BYTES);
    memcpy(line + AT - 1, "<!>", 3);
    CBX_AUTO_JSON findings = place(1, AT, 1, AT + 3);
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 64 * 1024);
    cbx_excerpt_add(&out, (struct cbx_str){ .p = line, .len = BYTES }, findings);
    assert_non_null(strstr(out.p, "x<mark>&lt;!&gt;</mark>x"));
    assert_in_range(out.len, CBX_EXCERPT_COLUMNS, CBX_EXCERPT_COLUMNS + 120);
}

static void many_lines_are_cut(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) source;
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&source, 4096);
    cbx_buf_init(&out, 64 * 1024);
    for (int i = 0; i < 1000; i++) {
        cbx_buf_add_cstr(&source, "a\n");
    }
    cbx_excerpt_add(&out, cbx_buf_str(&source), NULL);
    assert_non_null(strstr(out.p, "<b>24</b>a\n<i class=\"gap\">"));
    assert_null(strstr(out.p, "<b>25</b>"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_is_marked_in_its_line),
        cmocka_unit_test(a_place_of_several_lines_is_marked_in_each),
        cmocka_unit_test(lines_far_from_a_place_are_left_out),
        cmocka_unit_test(a_place_that_the_source_lacks_marks_nothing),
        cmocka_unit_test(a_long_line_is_shown_around_its_place),
        cmocka_unit_test(many_lines_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
