/* SPDX-License-Identifier: MIT
 * The table of languages. */
#include "policies/language.h"

#include "tests/unit/unit.h"

static void every_name_alias_and_ending_belongs_to_one_row(void **state)
{
    (void)state;
    const struct cbx_language_row *row;
    for (size_t i = 0; (row = cbx_language_row(i)) != NULL; i++) {
        assert_ptr_equal(cbx_language_find(cbx_str_of(row->name)), row);
        for (const char *const *a = row->aliases; *a != NULL; a++) {
            assert_ptr_equal(cbx_language_find(cbx_str_of(*a)), row);
        }
        assert_non_null(row->endings[0]);
        for (const char *const *e = row->endings; *e != NULL; e++) {
            assert_true((*e)[0] == '.');
            assert_ptr_equal(cbx_language_of_file(cbx_str_of(*e)), row);
        }
        assert_true(row->kernel[0] != '\0' && row->display[0] != '\0');
    }
}

static void every_language_of_policies_has_a_row_of_its_name(void **state)
{
    (void)state;
    size_t count = 0;
    for (; cbx_language_names[count] != NULL; count++) {
        const struct cbx_language_row *row =
            cbx_language_find(cbx_str_of(cbx_language_names[count]));
        assert_non_null(row);
        assert_false(row->dialect);
        assert_int_equal(row->language, count);
        assert_string_equal(cbx_language_name(row->language), row->name);
    }
    assert_int_equal(count, CBX_LANGUAGES);
    assert_string_equal(cbx_language_name(CBX_LANGUAGES), "unknown");
}

static void finds_names_and_aliases_and_nothing_else(void **state)
{
    (void)state;
    static const struct {
        const char *said, *name;
    } rows[] = { { "py", "python" },     { "python3", "python" },
                 { "ipynb", "ipython" }, { "js", "javascript" },
                 { "ts", "typescript" }, { "bash", "shell" },
                 { "sh", "shell" },      { "c", "c" } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(cbx_language_find(cbx_str_of(rows[i].said))->name, rows[i].name);
    }
    static const char *const wrong[] = { "", "cobol", "Python", "python ", "unknown", "." };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_null(cbx_language_find(cbx_str_of(wrong[i])));
    }
    assert_null(cbx_language_of_file(CBX_STR("a.txt")));
    assert_null(cbx_language_of_file(CBX_STR("")));
}

static void a_rule_about_javascript_is_about_typescript_too_but_not_the_other_way(void **state)
{
    (void)state;
    assert_int_equal(cbx_language_likes(CBX_JAVASCRIPT),
                     1u << CBX_JAVASCRIPT | 1u << CBX_TYPESCRIPT);
    assert_int_equal(cbx_language_likes(CBX_TYPESCRIPT), 1u << CBX_TYPESCRIPT);
    assert_int_equal(cbx_language_likes(CBX_PYTHON), 1u << CBX_PYTHON);
}

static void lists_the_names(void **state)
{
    (void)state;
    char text[256], little[5];
    cbx_language_list(", ", text, sizeof(text));
    assert_true(cbx_str_starts(cbx_str_of(text), CBX_STR("python, ipython, javascript, ")));
    cbx_language_list(" ", little, sizeof(little));
    assert_string_equal(little, "pyth");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_alias_and_ending_belongs_to_one_row),
        cmocka_unit_test(every_language_of_policies_has_a_row_of_its_name),
        cmocka_unit_test(finds_names_and_aliases_and_nothing_else),
        cmocka_unit_test(a_rule_about_javascript_is_about_typescript_too_but_not_the_other_way),
        cmocka_unit_test(lists_the_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
