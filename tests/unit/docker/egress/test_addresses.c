/* SPDX-License-Identifier: MIT
 * Addresses that nothing reaches for a program. */
#include "docker/egress/addresses.h"

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

/* The rows of the registry of IPv4 special-purpose addresses (IANA, RFC 6890) that are "not
 * globally reachable", multicast, and addresses of services of clouds: the ends of each range, and
 * the addresses beside them. */
static void no_special_purpose_address_is_reached(void **state)
{
    (void)state;
    static const struct {
        const char *first, *last, *before, *behind; /* "" = beside it is another such range */
    } ranges[] = {
        { "0.0.0.0", "0.255.255.255", "", "1.0.0.0" },
        { "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0" },
        { "100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0" },
        { "100.100.100.200", "100.100.100.200", "", "" },
        { "127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0" },
        { "168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17" },
        { "169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0" },
        { "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0" },
        { "192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0" },
        { "192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0" },
        { "192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0" },
        { "192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0" },
        { "198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0" },
        { "198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0" },
        { "203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0" },
        { "224.0.0.0", "239.255.255.255", "223.255.255.255", "" },
        { "240.0.0.0", "255.255.255.255", "", "" },
    };
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (reached(ranges[i].first, "", "") || reached(ranges[i].last, "", "")) {
            fail_msg("%s or %s is reached", ranges[i].first, ranges[i].last);
        }
        if ((ranges[i].before[0] != '\0' && !reached(ranges[i].before, "", "")) ||
            (ranges[i].behind[0] != '\0' && !reached(ranges[i].behind, "", ""))) {
            fail_msg("%s or %s is not reached", ranges[i].before, ranges[i].behind);
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
        cmocka_unit_test(no_special_purpose_address_is_reached),
        cmocka_unit_test(a_range_that_an_operator_allows_is_reached_but_for_what_is_denied),
        cmocka_unit_test(without_lists_nothing_is_excepted),
        cmocka_unit_test(ranges_that_cannot_be_allowed_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
