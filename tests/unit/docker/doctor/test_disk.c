/* SPDX-License-Identifier: MIT
 * The sizes that df prints in a container. */
#include "docker/doctor/disk.h"
#include "tests/unit/unit.h"

static void sizes_are_read(void **state)
{
    (void)state;
    struct cbx_disk disk;
    assert_int_equal(
        cbx_disk_read("     1B-blocks        Avail\n105089261568  63843631104\n", &disk, NULL), 0);
    assert_true(disk.total == INT64_C(105089261568) && disk.available == INT64_C(63843631104));
    assert_true(disk.by_container);
    assert_int_equal(cbx_disk_read("a b\n10 0\n", &disk, NULL), 0); /* full */
}

static void what_is_no_size_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "10 5\n",
        "a b\n",
        "a b\n10\n",
        "a b\n10 x\n",
        "a b\n-10 5\n",
        "a b\n10 -5\n",
        "a b\n0 0\n",
        "a b\n5 10\n",
        "a b\n10 5",
        "a b\n10 5\nmore\n",
        "a b\n99999999999999999999 5\n",
        "a b\n10 99999999999999999999\n",
        "df: /: Permission denied\n",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct cbx_disk disk = { .total = 7 };
        struct cbx_err err = { 0 };
        if (cbx_disk_read(bad[i], &disk, &err) != CBX_EPROTO || disk.total != 7) {
            fail_msg("'%s' is read", bad[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_read),
        cmocka_unit_test(what_is_no_size_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
