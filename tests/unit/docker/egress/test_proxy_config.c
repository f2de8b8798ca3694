/* SPDX-License-Identifier: MIT
 * The configuration of the proxy: rules in, squid.conf out. */
#include "docker/egress/proxy_config.h"

#include "tests/unit/unit.h"

#define LIST(...)                                                                                  \
    ((struct cbx_strs){ .items = (const struct cbx_str[]){ __VA_ARGS__ },                          \
                        .count = sizeof((const struct cbx_str[]){ __VA_ARGS__ }) /                 \
                                 sizeof(struct cbx_str) })

static int configure(const struct cbx_strs *hosts, const struct cbx_strs *allowed,
                     const struct cbx_strs *denied, struct cbx_buf *out, struct cbx_err *err)
{
    struct cbx_proxy_rules rules = { .hosts = hosts, .allowed = allowed, .denied = denied };
    cbx_buf_reset(out);
    return cbx_proxy_config(&rules, out, err);
}

static bool has_line(const struct cbx_buf *text, const char *line)
{
    char whole[256];
    snprintf(whole, sizeof(whole), "\n%s\n", line);
    return strstr(text->p, whole) != NULL;
}

static void grants_pairs_of_host_and_port(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, CBX_PROXY_CONFIG_MAX_BYTES);
    struct cbx_strs hosts = LIST(CBX_STR("example.org"), CBX_STR("*.example.net:8443"),
                                 CBX_STR("*.example.com"), CBX_STR("artifacts:81"));
    assert_int_equal(configure(&hosts, NULL, NULL, &out, NULL), 0);
    assert_true(has_line(&out, "acl host0 dstdomain -n example.org"));
    assert_true(has_line(&out, "acl granted all-of host0 web"));
    assert_true(has_line(&out, "acl host1 dstdomain -n .example.net"));
    assert_true(has_line(&out, "acl apex1 dstdomain -n example.net"));
    assert_true(has_line(&out, "acl port1 port 8443"));
    assert_true(has_line(&out, "acl granted all-of host1 !apex1 port1"));
    assert_true(has_line(&out, "acl granted all-of host2 !apex2 web"));
    assert_true(has_line(&out, "acl granted all-of host3 port3"));
}

static void names_are_looked_up_after_they_are_granted(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, CBX_PROXY_CONFIG_MAX_BYTES);
    struct cbx_strs hosts = LIST(CBX_STR("example.org"));
    assert_int_equal(configure(&hosts, NULL, NULL, &out, NULL), 0);
    const char *granted = strstr(out.p, "\nhttp_access deny !granted "),
               *resolved = strstr(out.p, "\nhttp_access deny !resolved "),
               *unreachable = strstr(out.p, "\nhttp_access deny unreachable "),
               *allow = strstr(out.p, "\nhttp_access allow ");
    assert_true(granted != NULL && granted < resolved && resolved < unreachable &&
                unreachable < allow);
    assert_null(strstr(allow + 2, "http_access allow"));
}

static void denies_every_range_but_what_an_operator_allows(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, CBX_PROXY_CONFIG_MAX_BYTES);
    struct cbx_strs hosts = LIST(CBX_STR("example.org")),
                    allowed = LIST(CBX_STR("10.2.0.0/16"), CBX_STR("10.1.0.0/16"),
                                   CBX_STR("172.16.0.0/12"), CBX_STR("192.168.255.255"),
                                   CBX_STR("100.64.0.0/10")),
                    denied = LIST(CBX_STR("10.1.2.3"), CBX_STR("8.8.8.8"), CBX_STR("8.8.8.9"));
    assert_int_equal(configure(&hosts, NULL, NULL, &out, NULL), 0);
    assert_true(has_line(&out, "acl unreachable dst 10.0.0.0-10.255.255.255"));
    assert_true(has_line(&out, "acl unreachable dst 127.0.0.0-127.255.255.255"));
    assert_true(has_line(&out, "acl unreachable dst 169.254.0.0-169.254.255.255"));
    assert_true(has_line(&out, "acl unreachable dst 224.0.0.0-255.255.255.255"));
    assert_true(has_line(&out, "acl unreachable dst ipv6"));
    assert_int_equal(configure(&hosts, &allowed, &denied, &out, NULL), 0);
    assert_true(has_line(&out, "acl unreachable dst 10.0.0.0-10.0.255.255"));
    assert_true(has_line(&out, "acl unreachable dst 10.1.2.3")); /* denied is stronger */
    assert_true(has_line(&out, "acl unreachable dst 10.3.0.0-10.255.255.255"));
    assert_true(has_line(&out, "acl unreachable dst 8.8.8.8-8.8.8.9"));
    assert_true(has_line(&out, "acl unreachable dst 192.168.0.0-192.168.255.254"));
    assert_true(
        has_line(&out, "acl unreachable dst 100.100.100.200")); /* within an allowed range */
    assert_null(strstr(out.p, "dst 172.16."));
    assert_true(has_line(&out, "acl unreachable dst 127.0.0.0-127.255.255.255"));
}

static void refuses_what_is_no_rule(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, CBX_PROXY_CONFIG_MAX_BYTES);
    static const char *const hosts[] = { "*",         "*.com",
                                         "a b",       "a.org\nhttp_access allow all",
                                         "127.0.0.1", "",
                                         "a.org#",    "\"a.org\"" },
                             *const allowed[] = { "127.0.0.1",  "169.254.169.254", "0.0.0.0/0",
                                                  "8.8.8.0/24", "10.0.0.0/7",      "0.0.0.0" },
                             *const ranges[] = { "10.0.0.1/8",  "10.0.0.0/33",
                                                 "10.0.0",      "10.0.0.0.0",
                                                 "010.0.0.0",   "10.0.0.0/",
                                                 "10.0.0.0/08", "256.0.0.0",
                                                 "::1",         "",
                                                 "10.0.0.0 ",   "-10.0.0.0" };
    struct cbx_strs good = LIST(CBX_STR("example.org")), none = { 0 };
    assert_int_equal(configure(&none, NULL, NULL, &out, NULL), CBX_EINVAL);
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        struct cbx_strs list = LIST(CBX_STR("example.org"), cbx_str_of(hosts[i]));
        assert_int_equal(configure(&list, NULL, NULL, &out, NULL), CBX_EINVAL);
    }
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        struct cbx_strs list = LIST(cbx_str_of(allowed[i]));
        struct cbx_err err = { 0 };
        assert_int_equal(configure(&good, &list, NULL, &out, &err), CBX_EINVAL);
        assert_non_null(strstr(err.text, "cannot be allowed"));
    }
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        struct cbx_strs list = LIST(cbx_str_of(ranges[i]));
        assert_int_equal(configure(&good, NULL, &list, &out, NULL), CBX_EINVAL);
        assert_int_equal(configure(&good, &list, NULL, &out, NULL), CBX_EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grants_pairs_of_host_and_port),
        cmocka_unit_test(names_are_looked_up_after_they_are_granted),
        cmocka_unit_test(denies_every_range_but_what_an_operator_allows),
        cmocka_unit_test(refuses_what_is_no_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
