/* SPDX-License-Identifier: MIT
 * Principals and issuers from YAML. */
#include "gateway/identity/principals.h"
#include "tests/unit/unit.h"

#include <string.h>

/* Reads one section; NULL err->text when it is good. */
static int read_section(const char *yaml, struct cbx_principals *out, struct cbx_err *err)
{
    CBX_AUTO_DONE(arena) arena;
    struct cbx_yaml *root = NULL;
    cbx_arena_init(&arena, 1 << 20);
    assert_int_equal(cbx_yaml_parse(cbx_str_of(yaml), 16, &arena, &root, err), 0);
    return cbx_principals_add(out, root->first, err);
}

static void the_row_of_the_name_is_found_and_else_the_longest_beginning(void **state)
{
    (void)state;
    CBX_AUTO_DONE(principals) p = { 0 };
    struct cbx_err err = { 0 };
    assert_int_equal(read_section("principals:\n"
                                  "- {name: 'corp:*', sessions: 1}\n"
                                  "- {name: 'corp:ops-*', sessions: 2}\n"
                                  "- {name: 'corp:ops-ann', sessions: 3, rights: [admin]}\n",
                                  &p, &err),
                     0);
    assert_int_equal(cbx_principals_find(&p, "corp:ops-ann")->sessions, 3);
    assert_int_equal(cbx_principals_find(&p, "corp:ops-bob")->sessions, 2);
    assert_int_equal(cbx_principals_find(&p, "corp:eve")->sessions, 1);
    assert_null(cbx_principals_find(&p, "corp"));
    assert_null(cbx_principals_find(&p, "uid:0"));
    struct cbx_caller admin = { .row = cbx_principals_find(&p, "corp:ops-ann") },
                      other = { .row = cbx_principals_find(&p, "corp:eve") }, nobody = { 0 };
    for (int right = 0; right < CBX_RIGHTS; right++) {
        assert_true(cbx_caller_may(&admin, (enum cbx_right)right));
        assert_false(cbx_caller_may(&nobody, (enum cbx_right)right));
    }
    assert_true(cbx_caller_may(&other, CBX_RIGHT_EXECUTE));
    assert_false(cbx_caller_may(&other, CBX_RIGHT_AUDIT_READ));
    assert_false(cbx_caller_may(&admin, CBX_RIGHT_PUBLIC));
}

static void
without_a_configuration_everybody_has_the_standard_rights_and_an_empty_one_is_nobody(void **state)
{
    (void)state;
    CBX_AUTO_DONE(principals) none = { 0 };
    CBX_AUTO_DONE(principals) empty = { 0 };
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_principals_find(&none, "ann")->rights, cbx_rights_standard());
    assert_int_equal(read_section("principals: []\n", &empty, &err), 0);
    assert_null(cbx_principals_find(&empty, "ann"));
}

#define ISSUER "issuers:\n- name: a\n  issuer: b\n  audience: c\n  jwks: d\n"

static void a_row_may_have_no_rights_of_its_own(void **state)
{
    (void)state;
    CBX_AUTO_DONE(principals) p = { 0 };
    struct cbx_err err = { 0 };
    assert_int_equal(
        read_section("principals:\n- {name: 'corp:*', rights: [], sessions: 4}\n", &p, &err), 0);
    assert_int_equal(cbx_principals_find(&p, "corp:ann")->rights, 0);
    assert_int_equal(cbx_principals_find(&p, "corp:ann")->sessions, 4);
}

static void a_policy_that_a_row_names_has_to_be_loaded(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *row;
        uint32_t line, column;
    } cases[] = {
        { ISSUER "  grants:\n  - {name: ops, claims: {a: b}, policies: [gone]}\n", "grant 'ops'", 7,
          44 },
        { "principals:\n- name: ann\n  policies:\n  - gone\n", "principal 'ann'", 4, 5 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(arena) arena;
        struct cbx_yaml *root = NULL;
        struct cbx_err err = { 0 };
        const struct cbx_policies none = { 0 };
        cbx_arena_init(&arena, 1 << 20);
        assert_int_equal(cbx_yaml_parse(cbx_str_of(cases[i].yaml), 16, &arena, &root, &err), 0);
        assert_int_equal(cbx_principals_check_policies(root->first, &none, &err), CBX_ENOTFOUND);
        assert_non_null(strstr(err.text, cases[i].row));
        assert_int_equal(err.line, cases[i].line);
        assert_int_equal(err.column, cases[i].column);
    }
}

static void what_is_wrong_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *fragment;
        uint32_t line;
    } bad[] = {
        { "principals: 1\n", "no list", 1 },
        { "principals:\n- ann\n", "mapping", 2 },
        { "principals:\n- {rights: [check]}\n", "'name' is missing", 2 },
        { "principals:\n- {name: 'a b'}\n", "printable", 2 },
        { "principals:\n- {name: 'a*b'}\n", "printable", 2 },
        { "principals:\n- {name: ann, rights: check}\n", "no list", 2 },
        { "principals:\n- {name: ann, policies: []}\n", "no list", 2 },
        { "principals:\n- {name: ann, sessions: many}\n", "no number", 2 },
        { "principals:\n- {name: ann, sessions: 99999999999999999999}\n", "no number", 2 },
        { "principals:\n- {name: ann, sessions: -1}\n", "no number", 2 },
        { "principals:\n- {name: ann}\n- {name: ann}\n", "two principals", 3 },
        { "principals:\n- {name: ann, policies: [[x]]}\n", "names of policies", 2 },
        { "issuers:\n- {name: a, issuer: b, audience: c}\n", "'jwks' is missing", 2 },
        { "issuers:\n- {name: 'a:b', issuer: b, audience: c, jwks: d}\n", "without ':'", 2 },
        { "issuers:\n- {name: uid, issuer: b, audience: c, jwks: d}\n", "without ':'", 2 },
        { "issuers:\n- {name: a, issuer: b, audience: c, jwks: d, leeway-seconds: 601}\n",
          "out of bounds", 2 },
        { "issuers:\n- {name: a, issuer: b, audience: c, jwks: d}\n"
          "- {name: z, issuer: b, audience: c, jwks: d}\n",
          "two issuers", 3 },
        { "issuers:\n- {name: a, issuer: b, audience: c, jwks: 'http://d/e'}\n", "another scheme",
          2 },
        { "issuers:\n- {name: a, issuer: b, audience: c, jwks: 'https://x@d/e'}\n",
          "user information", 2 },
        { "issuers:\n- {name: a, issuer: b, audience: c, jwks: d, ca: e}\n", "'ca' is for keys",
          2 },
        { "issuers:\n- {name: a, issuer: b, audience: c, jwks: d, refresh: 60}\n",
          "'refresh' is for keys", 2 },
        { "issuers:\n- {name: a, issuer: b, audience: c, jwks: 'https://d/e', refresh: 59}\n",
          "from 60 to 86400", 2 },
        { "issuers:\n- {name: a, issuer: b, audience: c, jwks: 'https://d/e', refresh: 86401}\n",
          "from 60 to 86400", 2 },
        { ISSUER "  required-claims: x\n", "no mapping", 6 },
        { ISSUER "  required-claims: {}\n", "no mapping", 6 },
        { ISSUER "  required-claims:\n    tid: []\n", "no value", 7 },
        { ISSUER "  grants: x\n", "no list", 6 },
        { ISSUER "  grants:\n  - x\n", "mapping", 7 },
        { ISSUER "  grants:\n  - {claims: {a: b}}\n", "'name' is missing", 7 },
        { ISSUER "  grants:\n  - {name: x}\n", "'claims' is missing", 7 },
        { ISSUER "  grants:\n  - {name: 'x, y', claims: {a: b}}\n", "letters, digits", 7 },
        { ISSUER "  grants:\n  - {name: x, claims: {a: b}, sessions: 1}\n",
          "unknown key 'sessions', there are name, claims, rights, policies", 7 },
        { ISSUER "  grants:\n  - {name: x, claims: {a: b}, rights: []}\n", "no list", 7 },
        { ISSUER "  grants:\n  - {name: x, claims: {a: b}, rights: [run]}\n", "'rights' has 'run'",
          7 },
        { ISSUER "  grants:\n  - {name: x, claims: {a: b}}\n  - {name: x, claims: {a: c}}\n",
          "two grants", 8 },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CBX_AUTO_DONE(principals) p = { 0 };
        struct cbx_err err = { 0 };
        assert_int_equal(read_section(bad[i].yaml, &p, &err), CBX_EINVAL);
        assert_non_null(strstr(err.text, bad[i].fragment));
        assert_int_equal(err.line, bad[i].line);
    }
}

static void the_column_of_a_url_that_is_refused_is_its_own(void **state)
{
    (void)state;
    CBX_AUTO_DONE(principals) p = { 0 };
    struct cbx_err err = { 0 };
    assert_int_equal(
        read_section("issuers:\n- name: a\n  issuer: b\n  jwks: https://d/e#f\n", &p, &err),
        CBX_EINVAL);
    assert_int_equal(err.line, 4);
    assert_int_equal(err.column, 9);
}

static void keys_of_a_url_are_fetched_every_five_minutes_unless_a_row_says_otherwise(void **state)
{
    (void)state;
    CBX_AUTO_DONE(principals) p = { 0 };
    struct cbx_err err = { 0 };
    assert_int_equal(
        read_section("issuers:\n"
                     "- {name: a, issuer: a, audience: c, jwks: 'https://d/e'}\n"
                     "- {name: b, issuer: b, audience: c, jwks: 'https://d/e', refresh: "
                     "86400, ca: f}\n"
                     "- {name: c, issuer: c, audience: c, jwks: './https:d'}\n",
                     &p, &err),
        0);
    assert_int_equal(p.issuers[0].refresh_s, 300);
    assert_int_equal(p.issuers[1].refresh_s, 86400);
    assert_string_equal(p.issuers[1].ca, "f");
    assert_int_equal(p.issuers[2].refresh_s, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_row_of_the_name_is_found_and_else_the_longest_beginning),
        cmocka_unit_test(
            without_a_configuration_everybody_has_the_standard_rights_and_an_empty_one_is_nobody),
        cmocka_unit_test(a_row_may_have_no_rights_of_its_own),
        cmocka_unit_test(a_policy_that_a_row_names_has_to_be_loaded),
        cmocka_unit_test(what_is_wrong_is_refused_with_its_place),
        cmocka_unit_test(the_column_of_a_url_that_is_refused_is_its_own),
        cmocka_unit_test(keys_of_a_url_are_fetched_every_five_minutes_unless_a_row_says_otherwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
