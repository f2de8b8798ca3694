/* SPDX-License-Identifier: MIT
 * Each row of the table of languages has its extractor, kernel and image. */
#include "analyzer/lang/lang.h"
#include "docker/kernel_names.h"
#include "tests/unit/unit.h"

#include <string.h>
#include <unistd.h>

static void runs_no_language_without_an_analyzer(void **state)
{
    (void)state;
    const char *name;
    for (size_t i = 0; (name = cbx_language_at(i)) != NULL; i++) {
        const struct cbx_lang *lang = cbx_lang_find(cbx_str_of(name));
        assert_non_null(lang);
        assert_string_equal(lang->name, name); /* not an alias: permits have this name */
        assert_non_null(lang->code->extract);
        assert_non_null(lang->code->grammar());
        assert_non_null(lang->endings[0]);
        assert_true(lang->policy < CBX_LANGUAGES);
    }
    assert_true(cbx_language_at(0) != NULL);
}

static void analyses_every_language_that_policies_name(void **state)
{
    (void)state;
    for (int language = 0; language < CBX_LANGUAGES; language++) {
        const struct cbx_lang *lang = NULL;
        for (size_t i = 0; lang == NULL && cbx_lang_at(i) != NULL; i++) {
            bool same = cbx_lang_at(i)->policy == (enum cbx_language)language;
            lang = same ? cbx_lang_at(i) : NULL;
        }
        assert_non_null(lang);
        assert_string_equal(lang->name, cbx_language_name((enum cbx_language)language));
        assert_ptr_equal(cbx_lang_grammar((enum cbx_language)language), lang->code->grammar());
        assert_non_null(cbx_kernel_of(lang->name));
    }
}

static void serves_every_language_by_a_kernel_that_there_is(void **state)
{
    (void)state;
    const char *name, *kernel;
    for (size_t i = 0; (name = cbx_language_at(i)) != NULL; i++) {
        bool found = false;
        for (size_t k = 0; (kernel = cbx_kernel_at(k)) != NULL; k++) {
            found |= strcmp(kernel, cbx_kernel_of(name)) == 0;
        }
        assert_true(found);
    }
}

static void every_kernel_has_the_recipe_of_its_image(void **state)
{
    (void)state;
    const char *kernel;
    for (size_t k = 0; (kernel = cbx_kernel_at(k)) != NULL; k++) {
        char path[128];
        snprintf(path, sizeof(path), "docker/images/%s/recipe", kernel);
        assert_int_equal(access(path, R_OK), 0);
    }
}

static void finds_languages_by_their_aliases(void **state)
{
    (void)state;
    assert_string_equal(cbx_lang_find(CBX_STR("bash"))->name, "shell");
    assert_string_equal(cbx_lang_find(CBX_STR("sh"))->name, "shell");
    assert_string_equal(cbx_lang_find(CBX_STR("ts"))->name, "typescript");
    assert_null(cbx_lang_find(CBX_STR("cobol")));
    assert_null(cbx_lang_find(CBX_STR("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_no_language_without_an_analyzer),
        cmocka_unit_test(analyses_every_language_that_policies_name),
        cmocka_unit_test(serves_every_language_by_a_kernel_that_there_is),
        cmocka_unit_test(every_kernel_has_the_recipe_of_its_image),
        cmocka_unit_test(finds_languages_by_their_aliases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
