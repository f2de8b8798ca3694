/* SPDX-License-Identifier: MIT
 * The limit of open descriptors. */
#include "gateway/ipc/wire/descriptors.h"
#include "tests/unit/unit.h"

#include <sys/resource.h>

static void a_low_soft_limit_is_raised_as_far_as_the_hard_one_allows(void **state)
{
    (void)state;
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    int most = limit.rlim_max < CBX_DESCRIPTORS ? (int)limit.rlim_max : CBX_DESCRIPTORS;
    limit.rlim_cur = 256;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(cbx_descriptors_limit(), 256);
    cbx_descriptors_raise();
    assert_int_equal(cbx_descriptors_limit(), most);
}

static void a_higher_one_stays(void **state)
{
    (void)state;
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    int before = cbx_descriptors_limit();
    cbx_descriptors_raise();
    assert_int_equal(cbx_descriptors_limit(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_low_soft_limit_is_raised_as_far_as_the_hard_one_allows),
        cmocka_unit_test(a_higher_one_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
