/* SPDX-License-Identifier: MIT
 * Every frontend takes the same name for the same dialect. */
#include "gateway/front/dialect.h"

#include "tests/unit/unit.h"

static void python_is_the_dialect_of_notebook_cells_and_so_is_no_name(void **state)
{
    (void)state;
    assert_string_equal(cbx_dialect_of(CBX_STR("python"), NULL), "ipython");
    assert_string_equal(cbx_dialect_of(CBX_STR(""), NULL), "ipython");
    assert_string_equal(cbx_dialect_of(CBX_STR("ipython"), NULL), "ipython");
    assert_string_equal(cbx_dialect_of(CBX_STR("py"), NULL), "ipython");
    assert_string_equal(cbx_dialect_default(), "ipython");
    assert_string_equal(cbx_dialect_shown("ipython"), "python");
}

static void other_languages_keep_their_names_and_have_their_aliases(void **state)
{
    (void)state;
    static const char *const names[] = { "javascript", "typescript", "shell", "c" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_string_equal(cbx_dialect_of(cbx_str_of(names[i]), NULL), names[i]);
        assert_string_equal(cbx_dialect_shown(names[i]), names[i]);
    }
    assert_string_equal(cbx_dialect_of(CBX_STR("bash"), NULL), "shell");
    assert_string_equal(cbx_dialect_of(CBX_STR("js"), NULL), "javascript");
    assert_string_equal(cbx_dialect_shown(NULL), "");
}

static void refuses_a_language_that_does_not_run_and_names_those_that_do(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    assert_null(cbx_dialect_of(CBX_STR("cobol"), &err));
    assert_int_equal(err.code, CBX_EINVAL);
    assert_non_null(strstr(err.text, "'cobol'"));
    assert_non_null(strstr(err.text, "javascript"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(python_is_the_dialect_of_notebook_cells_and_so_is_no_name),
        cmocka_unit_test(other_languages_keep_their_names_and_have_their_aliases),
        cmocka_unit_test(refuses_a_language_that_does_not_run_and_names_those_that_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
