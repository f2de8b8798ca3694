/* SPDX-License-Identifier: MIT
 * Addresses that nothing reaches for a program. */
#include "docker/addresses.h"

#include "tests/unit/unit.h"

static bool reached(const char *address, const char *allow, const char *deny)
{
    struct cbx_addresses wanted, ranges[CBX_ADDRESSES_RANGES_MAX];
    struct cbx_str allowed = cbx_str_of(allow), denied = cbx_str_of(deny);
    const struct cbx_strs allows = { .items = &allowed, .count = allowed.len > 0 },
                          denies = { .items = &denied, .count = denied.len > 0 };
    size_t count = 0;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_addresses_parse(cbx_str_of(address), &wanted, &err), 0);
    assert_int_equal(cbx_addresses_unreachable(&allows, &denies, ranges, &count, &err), 0);
    for (size_t i = 0; i < count; i++) {
        assert_true(ranges[i].first <= ranges[i].last);
        assert_true(i == 0 || ranges[i].first > ranges[i - 1].last);
        if (wanted.first >= ranges[i].first && wanted.first <= ranges[i].last) {
            return false;
        }
    }
    return true;
}

static void public_addresses_are_reached_and_others_are_not(void **state)
{
    (void)state;
    static const char *const others[] = { "0.0.0.0",    "10.0.0.1",       "100.64.0.1",
                                          "127.0.0.1",  "127.9.9.9",      "169.254.1.1",
                                          "172.16.0.1", "172.31.255.255", "192.168.1.1",
                                          "198.18.0.1", "224.0.0.1",      "255.255.255.255" };
    static const char *const publics[] = { "1.1.1.1", "9.255.255.255", "11.0.0.0", "172.32.0.0",
                                           "223.255.255.255" };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (reached(others[i], "", "")) {
            fail_msg("%s is reached", others[i]);
        }
    }
    for (size_t i = 0; i < sizeof(publics) / sizeof(publics[0]); i++) {
        if (!reached(publics[i], "", "")) {
            fail_msg("%s is not reached", publics[i]);
        }
    }
}

static void a_range_that_an_operator_allows_is_reached_but_for_what_is_denied(void **state)
{
    (void)state;
    assert_true(reached("10.1.2.3", "10.1.0.0/16", ""));
    assert_false(reached("10.2.2.3", "10.1.0.0/16", ""));
    assert_false(reached("10.1.2.3", "10.1.0.0/16", "10.1.2.3"));
    assert_true(reached("10.1.2.4", "10.1.0.0/16", "10.1.2.3"));
    assert_false(reached("93.184.215.14", "", "93.184.215.14"));
}

static void without_lists_nothing_is_excepted(void **state)
{
    (void)state;
    struct cbx_addresses ranges[CBX_ADDRESSES_RANGES_MAX];
    size_t count = 0;
    assert_int_equal(cbx_addresses_unreachable(NULL, NULL, ranges, &count, NULL), 0);
    assert_true(count > 5);
}

static void ranges_that_cannot_be_allowed_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "127.0.0.0/8", "169.254.0.0/16", "8.8.8.0/24", "0.0.0.0/0",
                                       "10.0.0.0/7",  "10.0.0.1/8",     "10.0.0",     "ten" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct cbx_addresses ranges[CBX_ADDRESSES_RANGES_MAX];
        struct cbx_str item = cbx_str_of(bad[i]);
        const struct cbx_strs allow = { .items = &item, .count = 1 };
        size_t count = 7;
        struct cbx_err err = { 0 };
        assert_int_equal(cbx_addresses_unreachable(&allow, NULL, ranges, &count, &err), CBX_EINVAL);
        assert_int_equal(count, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_addresses_are_reached_and_others_are_not),
        cmocka_unit_test(a_range_that_an_operator_allows_is_reached_but_for_what_is_denied),
        cmocka_unit_test(without_lists_nothing_is_excepted),
        cmocka_unit_test(ranges_that_cannot_be_allowed_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
