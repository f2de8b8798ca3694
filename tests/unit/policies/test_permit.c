/* SPDX-License-Identifier: MIT
 * File names and arguments of programs, which a caller chooses. */
#include "policies/permit.h"
#include "tests/unit/unit.h"

#include <string.h>

static int check(const char *name, const char *arguments, size_t len)
{
    struct cbx_err err = { 0 };
    return cbx_permit_check_arguments(name, (struct cbx_str){ .p = arguments, .len = len }, &err);
}

static void accepts_file_names_without_folders(void **state)
{
    (void)state;
    static const char *const names[] = { "", "a", "prog.py", "..a", "two words.js", "\xc3\xa9.sh" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(check(names[i], "", 0), 0);
    }
}

static void rejects_file_names_that_lead_elsewhere(void **state)
{
    (void)state;
    static const char *const names[] = { ".", "..", "a/b", "/etc/passwd", "a\nb", "\x7f" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(check(names[i], "", 0), CBX_EINVAL);
    }
}

static void rejects_more_arguments_than_allowed(void **state)
{
    (void)state;
    static const char nothing[CBX_ARGUMENTS_MAX + 1];
    assert_int_equal(check("a", nothing, CBX_ARGUMENTS_MAX), 0);
    assert_int_equal(check("a", nothing, CBX_ARGUMENTS_MAX + 1), CBX_ETOOBIG);
}

static void rejects_longer_arguments_than_allowed(void **state)
{
    (void)state;
    static char text[CBX_ARGUMENTS_BYTES_MAX + 1];
    memset(text, 'x', sizeof(text) - 1);
    text[CBX_ARGUMENTS_BYTES_MAX - 1] = '\0';
    assert_int_equal(check("a", text, CBX_ARGUMENTS_BYTES_MAX), 0);
    assert_int_equal(check("a", text, sizeof(text)), CBX_ETOOBIG);
}

static void rejects_an_argument_without_an_end(void **state)
{
    (void)state;
    assert_int_equal(check("a", "x", 1), CBX_EINVAL);
    assert_int_equal(check("a", "x", 2), 0);
}

static void a_permit_owns_its_arguments(void **state)
{
    (void)state;
    char text[] = "a\0b";
    struct cbx_permit fields = { .arguments = { .p = text, .len = sizeof(text) } };
    CBX_AUTO(permit) permit = cbx_permit_new(&fields);
    memset(text, 'x', sizeof(text));
    assert_int_equal(permit->arguments.len, 4);
    assert_memory_equal(permit->arguments.p, "a\0b", 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_file_names_without_folders),
        cmocka_unit_test(rejects_file_names_that_lead_elsewhere),
        cmocka_unit_test(rejects_more_arguments_than_allowed),
        cmocka_unit_test(rejects_longer_arguments_than_allowed),
        cmocka_unit_test(rejects_an_argument_without_an_end),
        cmocka_unit_test(a_permit_owns_its_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
