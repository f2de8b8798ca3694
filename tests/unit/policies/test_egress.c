/* SPDX-License-Identifier: MIT
 * The patterns of hosts that programs may reach. */
#include "policies/egress.h"

#include "policies/texts/explain.h"
#include "tests/unit/unit.h"

#define HEAD "version: 1\nname: p\nextends: [default]\n"

static struct cbx_policy *parse(const char *yaml, struct cbx_err *err)
{
    struct cbx_policy *policy = NULL;
    return cbx_policy_parse(cbx_str_of(yaml), "p", &policy, err) == 0 ? policy : NULL;
}

static void takes_names_and_domains_with_ports(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
        bool subdomains;
        uint16_t port;
    } good[] = {
        { "example.org", "example.org", false, 0 },
        { "api.example.org:443", "api.example.org", false, 443 },
        { "*.example.org", "example.org", true, 0 },
        { "*.example.co.uk:65535", "example.co.uk", true, 65535 },
        { "artifacts", "artifacts", false, 0 },
        { "artifacts:8081", "artifacts", false, 8081 },
        { "xn--mnchen-3ya.de", "xn--mnchen-3ya.de", false, 0 },
        { "1.example", "1.example", false, 0 },
        { "3com.com", "3com.com", false, 0 },
        { "a0x7f.example", "a0x7f.example", false, 0 },
        { "0x7f.example", "0x7f.example", false, 0 },
        { "a-b.c--d.e", "a-b.c--d.e", false, 0 },
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct cbx_egress_host host;
        assert_int_equal(cbx_egress_parse(cbx_str_of(good[i].text), &host, NULL), 0);
        assert_true(cbx_str_is(host.name, good[i].name));
        assert_int_equal(host.subdomains, good[i].subdomains);
        assert_int_equal(host.port, good[i].port);
    }
}

static void refuses_what_is_no_host_and_says_why(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason;
    } bad[] = {
        { "", "name of 0" },
        { "*", "'*' that is not its first label" },
        { "*.", "name of 0" },
        { "*.com", "top-level domain" },
        { "*:443", "'*' that is not" },
        { "a.*.org", "'*' that is not" },
        { "*a.org", "'*' that is not" },
        { "*.*.org", "'*' that is not" },
        { "api?.example.org", "other characters" },
        { "Example.org", "lower case" },
        { "m\xc3\xbcnchen.de", "xn--" },
        { "example\xef\xbc\x8eorg", "xn--" },
        { "https://example.org", "is a URL" },
        { "example.org/path", "path" },
        { "10.0.0.0/8", "path" },
        { "user@example.org", "user information" },
        { "user:pw@example.org", "user information" },
        { "127.0.0.1", "an address" },
        { "127.1", "an address" },
        { "2130706433", "an address" },
        { "017700000001", "an address" },
        { "0x7f.1", "an address" },
        { "0x7f000001", "an address" },
        { "1.2.3.0x4", "an address" },
        { "a.0x", "an address" },
        { "169.254.169.254:80", "an address" },
        { "*.1.2", "an address" },
        { "[::1]", "addresses are not allowed" },
        { "[::1]:80", "addresses are not allowed" },
        { "::1", "addresses are not allowed" },
        { "fe80::1", "addresses are not allowed" },
        { "localhost", "localhost" },
        { "localhost:8080", "localhost" },
        { "app.localhost", "localhost" },
        { "*.localhost", "localhost" },
        { "example.org.", "empty label" },
        { ".example.org", "empty label" },
        { "a..b", "empty label" },
        { "-a.org", "'-'" },
        { "a-.org", "'-'" },
        { "a_b.org", "other characters" },
        { "a b.org", "other characters" },
        { "a.org\nhttp_access allow all", "other characters" },
        { "a.org#", "other characters" },
        { "a.org%", "other characters" },
        { "\"a.org\"", "other characters" },
        { "a.org,b.org", "other characters" },
        { "a.org:", "a port is 1..65535" },
        { "a.org:0", "a port is 1..65535" },
        { "a.org:080", "a port is 1..65535" },
        { "a.org:65536", "a port is 1..65535" },
        { "a.org:99999", "a port is 1..65535" },
        { "a.org:+80", "a port is 1..65535" },
        { "a.org:http", "a port is 1..65535" },
        { "a.org:80:80", "a port is 1..65535" },
        { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.org", "63 characters" },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct cbx_egress_host host;
        struct cbx_err err = { 0 };
        if (cbx_egress_parse(cbx_str_of(bad[i].text), &host, &err) != CBX_EINVAL ||
            strstr(err.text, bad[i].reason) == NULL) {
            fail_msg("'%s': '%s'", bad[i].text, err.text);
        }
    }
    struct cbx_egress_host host;
    assert_int_equal(cbx_egress_parse(CBX_STR("a.org\0.b"), &host, NULL), CBX_EINVAL);
    char longest[256], label[] = "abcdefghi.";
    for (size_t i = 0; i < 254; i++) {
        longest[i] = label[i % 10];
    }
    struct cbx_str name = { .p = longest, .len = 253 };
    assert_int_equal(cbx_egress_parse(name, &host, NULL), 0);
    name.len = 254;
    assert_int_equal(cbx_egress_parse(name, &host, NULL), CBX_EINVAL);
}

#define LIST(...)                                                                                  \
    ((struct cbx_strs){ .items = (const struct cbx_str[]){ __VA_ARGS__ },                          \
                        .count = sizeof((const struct cbx_str[]){ __VA_ARGS__ }) /                 \
                                 sizeof(struct cbx_str) })

static void grants_exactly_what_is_listed(void **state)
{
    (void)state;
    struct cbx_strs list =
        LIST(CBX_STR("example.org"), CBX_STR("*.example.net:8443"), CBX_STR("artifacts:8081"));
    static const struct {
        const char *host;
        uint16_t port;
        bool granted;
    } cases[] = {
        { "example.org", 80, true },
        { "example.org", 443, true },
        { "EXAMPLE.org.", 443, true },
        { "example.org..", 443, false },
        { "example.org", 8080, false },
        { "www.example.org", 443, false },
        { "notexample.org", 443, false },
        { "example.org.evil", 443, false },
        { "a.example.net", 8443, true },
        { "a.b.example.net", 8443, true },
        { "example.net", 8443, false },
        { ".example.net", 8443, false },
        { "aexample.net", 8443, false },
        { "a.example.net", 443, false },
        { "artifacts", 8081, true },
        { "artifacts", 443, false },
        { "example.org@evil", 443, false },
        { "127.0.0.1", 80, false },
        { "*.example.net", 8443, false },
        { "", 443, false },
        { ".", 443, false },
        { "example.org", 0, false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (cbx_egress_grants(&list, cbx_str_of(cases[i].host), cases[i].port) !=
            cases[i].granted) {
            fail_msg("%s:%d", cases[i].host, cases[i].port);
        }
    }
    assert_false(cbx_egress_grants(&(struct cbx_strs){ 0 }, CBX_STR("example.org"), 443));
    assert_true(cbx_egress_grants_all(&list, CBX_STR("example.org")));
    assert_false(cbx_egress_grants_all(&list, CBX_STR("artifacts")));
    assert_true(cbx_egress_grants_none(&list, CBX_STR("artifacts:80")));
    assert_false(cbx_egress_grants_none(&list, CBX_STR("artifacts:8081")));
    assert_true(cbx_egress_grants_none(&list, CBX_STR("[::1]:80")));
    /* A malformed pattern grants nothing. */
    struct cbx_strs broken = LIST(CBX_STR("*"), CBX_STR("127.0.0.1"), CBX_STR("*.com"));
    assert_false(cbx_egress_grants(&broken, CBX_STR("example.com"), 443));
    assert_false(cbx_egress_grants(&broken, CBX_STR("127.0.0.1"), 443));
}

static void covers_by_meaning(void **state)
{
    (void)state;
    struct cbx_strs list =
        LIST(CBX_STR("*.a.org"), CBX_STR("b.org:80"), CBX_STR("b.org:443"), CBX_STR("c.org"));
    static const struct {
        const char *pattern;
        bool covered;
    } cases[] = {
        { "*.a.org", true },   { "x.a.org", true },   { "x.y.a.org:443", true },
        { "*.x.a.org", true }, { "a.org", false },    { "x.a.org:8080", false },
        { "b.org", true },     { "b.org:443", true }, { "*.b.org", false },
        { "c.org:80", true },  { "c.org:81", false }, { "d.org", false },
        { "*.org", false },    { "*", false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (cbx_egress_covers(&list, cbx_str_of(cases[i].pattern)) != cases[i].covered) {
            fail_msg("%s", cases[i].pattern);
        }
    }
}

static void has_what_two_lists_grant_both(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    struct cbx_strs a = LIST(CBX_STR("*.a.org:443"), CBX_STR("b.org"), CBX_STR("c.org:8080"),
                             CBX_STR("b.org:80"), CBX_STR("d.org")),
                    b = LIST(CBX_STR("x.a.org"), CBX_STR("b.org:80"), CBX_STR("c.org"),
                             CBX_STR("*.d.org")),
                    both;
    assert_int_equal(cbx_egress_common(&a, &b, &arena, &both, NULL), 0);
    assert_int_equal(both.count, 2);
    assert_true(cbx_str_is(both.items[0], "x.a.org:443"));
    assert_true(cbx_str_is(both.items[1], "b.org:80"));
}

static void policies_check_hosts_where_they_stand(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    assert_null(parse(HEAD "network:\n  egress:\n    - a.org\n    - 127.0.0.1\n", &err));
    assert_int_equal(err.line, 7);
    assert_int_equal(err.column, 7);
    assert_non_null(strstr(err.text, "'127.0.0.1' is an address"));
    assert_null(parse(HEAD "network: {egress: \"*\"}\n", &err));
    assert_int_equal(err.line, 4);
    assert_null(parse(HEAD "network: {mode: none, egress: [a.org]}\n", &err));
    assert_non_null(strstr(err.text, "grants no hosts"));
}

static void a_child_may_grant_less(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool taken;
    } children[] = {
        { "network: {egress: [shop.example.org]}", false }, /* web-automation grants none */
        { "network: {override: true, egress: [shop.example.org]}", true },
    };
    for (size_t i = 0; i < sizeof(children) / sizeof(children[0]); i++) {
        char yaml[256];
        struct cbx_err err = { 0 };
        snprintf(yaml, sizeof(yaml), "version: 1\nname: p\nextends: [web-automation]\n%s\n",
                 children[i].text);
        CBX_AUTO(policy) p = parse(yaml, &err);
        assert_int_equal(p != NULL, children[i].taken);
    }
}

static void is_explained_in_words(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1 << 20);
    CBX_AUTO(policy)
    p = parse(HEAD "network: {override: true, egress: [a.org, \"*.b.org:8443\"]}\n", &err);
    assert_non_null(p);
    cbx_policy_explain(p, &text);
    assert_non_null(strstr(text.p, "a.org, ports 80 and 443\n"));
    assert_non_null(strstr(text.p, "every name below b.org, port 8443\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_names_and_domains_with_ports),
        cmocka_unit_test(refuses_what_is_no_host_and_says_why),
        cmocka_unit_test(grants_exactly_what_is_listed),
        cmocka_unit_test(covers_by_meaning),
        cmocka_unit_test(has_what_two_lists_grant_both),
        cmocka_unit_test(policies_check_hosts_where_they_stand),
        cmocka_unit_test(a_child_may_grant_less),
        cmocka_unit_test(is_explained_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
