/* SPDX-License-Identifier: MIT
 * Content-Disposition of files with hostile names. */
#include "gateway/front/http/attachment.h"
#include "tests/unit/unit.h"

static void assert_value(struct cbx_str path, const char *expected)
{
    CBX_AUTO_DONE(buf) value;
    cbx_buf_init(&value, 64 * 1024);
    cbx_http_attachment(path, &value);
    assert_string_equal(value.p, expected);
}

static void a_plain_name_is_quoted(void **state)
{
    (void)state;
    assert_value(CBX_STR("a.csv"), "attachment; filename=\"a.csv\"");
    assert_value(CBX_STR("my plot (2).png"), "attachment; filename=\"my plot (2).png\"");
}

static void the_name_is_that_of_the_file_without_its_folders(void **state)
{
    (void)state;
    assert_value(CBX_STR("out/../../etc/passwd"), "attachment; filename=\"passwd\"");
    assert_value(CBX_STR("..\\..\\a.bat"),
                 "attachment; filename=\".._.._a.bat\"; filename*=UTF-8''.._.._a.bat");
}

static void a_path_without_a_name_is_a_file(void **state)
{
    (void)state;
    static const char *const paths[] = { "", "/", "a/", ".", "..", "a/.." };
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        assert_value(cbx_str_of(paths[i]), "attachment; filename=\"file\"");
    }
}

static void what_ends_a_quoted_string_or_a_line_stays_in_the_name(void **state)
{
    (void)state;
    assert_value(CBX_STR("a\"; filename=\"b.exe"),
                 "attachment; filename=\"a__ filename=_b.exe\"; "
                 "filename*=UTF-8''a%22%3b%20filename%3d%22b.exe");
    assert_value(CBX_STR("a\r\nSet-Cookie: x=1"), "attachment; filename=\"a__Set-Cookie_ x=1\"; "
                                                  "filename*=UTF-8''a__Set-Cookie%3a%20x%3d1");
    assert_value(CBX_STR("100%41"), "attachment; filename=\"100_41\"; filename*=UTF-8''100%2541");
}

static void other_scripts_are_encoded(void **state)
{
    (void)state;
    assert_value(CBX_STR("\xc3\xa4\xe2\x82\xac.txt"),
                 "attachment; filename=\"_____.txt\"; filename*=UTF-8''%c3%a4%e2%82%ac.txt");
}

/* For any bytes the value is printable ASCII with two quotes. */
static void every_byte_gives_one_line_with_one_quoted_string(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        CBX_AUTO_DONE(buf) value;
        char name[3] = { 'a', (char)c, 'b' };
        int quotes = 0;
        cbx_buf_init(&value, 1024);
        cbx_http_attachment((struct cbx_str){ .p = name, .len = sizeof(name) }, &value);
        for (size_t i = 0; i < value.len; i++) {
            assert_in_range(value.p[i], 0x20, 0x7E);
            assert_int_not_equal(value.p[i], '\\');
            quotes += value.p[i] == '"';
        }
        assert_int_equal(quotes, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_name_is_quoted),
        cmocka_unit_test(the_name_is_that_of_the_file_without_its_folders),
        cmocka_unit_test(a_path_without_a_name_is_a_file),
        cmocka_unit_test(what_ends_a_quoted_string_or_a_line_stays_in_the_name),
        cmocka_unit_test(other_scripts_are_encoded),
        cmocka_unit_test(every_byte_gives_one_line_with_one_quoted_string),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
