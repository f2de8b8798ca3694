/* SPDX-License-Identifier: MIT
 * Folders of dependencies, by their names. */
#include "analyzer/folder_use.h"
#include "tests/unit/unit.h"

static void folders_of_package_managers_are_dependencies(void **state)
{
    (void)state;
    assert_int_equal(cbx_folder_use_of("node_modules"), CBX_FOLDER_DEPENDENCY);
    assert_int_equal(cbx_folder_use_of("__pycache__"), CBX_FOLDER_DEPENDENCY);
    assert_int_equal(cbx_folder_use_of("venv"), CBX_FOLDER_LIKELY_DEPENDENCY);
    assert_int_equal(cbx_folder_use_of("site-packages"), CBX_FOLDER_LIKELY_DEPENDENCY);
}

static void other_folders_are_the_projects_own(void **state)
{
    (void)state;
    static const char *const names[] = { "", "src", "node_modules2", "Node_modules", "venv.py" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(cbx_folder_use_of(names[i]), CBX_FOLDER_OWN);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_of_package_managers_are_dependencies),
        cmocka_unit_test(other_folders_are_the_projects_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
