/* SPDX-License-Identifier: MIT
 * The grants for the claims of a token. */
#include "gateway/identity/claim_grants.h"
#include "policies/base/text/json.h"
#include "tests/unit/unit.h"

#include <string.h>

static const char issuers[] =
    "issuers:\n"
    "- name: corp\n"
    "  issuer: a\n"
    "  audience: b\n"
    "  jwks: c\n"
    "  required-claims: {tid: one, azp: [x, y]}\n"
    "  grants:\n"
    "  - {name: analysts, claims: {groups: sandbox-users}, rights: [execute], policies: [strict]}\n"
    "  - {name: ops, claims: {groups: ops, amr: mfa}, rights: ['audit:read'], policies: [strict, "
    "ops]}\n"
    "  - {name: readers, claims: {scope: read}, rights: ['audit:read']}\n"
    "- name: other\n"
    "  issuer: z\n"
    "  audience: b\n"
    "  jwks: c\n"
    "  grants:\n"
    "  - {name: ops, claims: {groups: ops}, rights: [admin]}\n";
enum { ANALYSTS = 1, OPS = 2, READERS = 4, OTHER_OPS = 8 };
enum { CORP, OTHER };

static struct cbx_principals all;

static int read_rows(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    struct cbx_yaml *root = NULL;
    struct cbx_err err = { 0 };
    cbx_arena_init(&arena, 1 << 20);
    assert_int_equal(cbx_yaml_parse(cbx_str_of(issuers), 16, &arena, &root, &err), 0);
    assert_int_equal(cbx_principals_add(&all, root->first, &err), 0);
    return 0;
}

static int free_rows(void **state)
{
    (void)state;
    cbx_principals_done(&all);
    return 0;
}

static uint64_t match(size_t issuer, const char *claims)
{
    CBX_AUTO_JSON json = json_loads(claims, 0, NULL);
    assert_non_null(json);
    return cbx_claim_grants_match(&all, issuer, json);
}

static void a_grant_is_of_tokens_that_hold_all_its_conditions(void **state)
{
    (void)state;
    assert_int_equal(match(CORP, "{\"groups\": [\"sandbox-users\"]}"), ANALYSTS);
    assert_int_equal(match(CORP, "{\"groups\": [\"ops\"]}"), 0);
    assert_int_equal(match(CORP, "{\"groups\": [\"ops\"], \"amr\": [\"pwd\", \"mfa\"]}"), OPS);
    assert_int_equal(match(CORP, "{\"groups\": [\"ops\", \"sandbox-users\"], \"amr\": \"mfa\", "
                                 "\"scope\": \"read\"}"),
                     ANALYSTS | OPS | READERS);
    assert_int_equal(match(CORP, "{}"), 0);
    assert_int_equal(match(OTHER, "{\"groups\": [\"ops\", \"sandbox-users\"]}"), OTHER_OPS);
}

static void required_claims_are_all_required(void **state)
{
    (void)state;
    static const struct {
        const char *claims, *fragment; /* NULL = it is good */
    } cases[] = {
        { "{\"tid\": \"one\", \"azp\": \"y\"}", NULL },
        { "{\"tid\": \"two\", \"azp\": \"y\"}", "'tid'" },
        { "{\"tid\": \"one\"}", "'azp'" },
        { "{}", "'tid'" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_err err = { 0 };
        CBX_AUTO_JSON json = json_loads(cases[i].claims, 0, NULL);
        int failed = cbx_claim_grants_require(&all, CORP, json, &err);
        assert_int_equal(failed, cases[i].fragment == NULL ? 0 : CBX_EINVAL);
        assert_true(!failed || strstr(err.text, cases[i].fragment) != NULL);
        assert_int_equal(cbx_claim_grants_require(&all, OTHER, json, &err), 0);
    }
}

static void a_credential_names_the_grants_and_is_read_back(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    char text[CBX_CREDENTIAL_MAX + 1];
    uint64_t back;
    assert_int_equal(cbx_claim_grants_write(&all, CORP, 0, text, &err), 0);
    assert_string_equal(text, "issuer corp");
    assert_int_equal(cbx_claim_grants_read(&all, cbx_str_of(text), &back), CORP);
    assert_int_equal(back, 0);
    assert_int_equal(cbx_claim_grants_write(&all, CORP, ANALYSTS | READERS, text, &err), 0);
    assert_string_equal(text, "issuer corp (analysts, readers)");
    assert_int_equal(cbx_claim_grants_read(&all, cbx_str_of(text), &back), CORP);
    assert_int_equal(back, ANALYSTS | READERS);
    assert_int_equal(cbx_claim_grants_write(&all, OTHER, OTHER_OPS, text, &err), 0);
    assert_int_equal(cbx_claim_grants_read(&all, cbx_str_of(text), &back), OTHER);
    assert_int_equal(back, OTHER_OPS);
}

static void what_is_not_configured_any_more_gives_nothing(void **state)
{
    (void)state;
    uint64_t back = 1;
    static const char *const nobody[] = {
        "issuer gone (ops)", "issuer gone", "issuer ", "issuer corps",
        "token 0123",        "Unix socket", ""
    };
    for (size_t i = 0; i < sizeof(nobody) / sizeof(nobody[0]); i++) {
        assert_int_equal(cbx_claim_grants_read(&all, cbx_str_of(nobody[i]), &back), -1);
        assert_int_equal(back, 0);
    }
    assert_int_equal(cbx_claim_grants_read(&all, CBX_STR("issuer corp (gone, ops)"), &back), CORP);
    assert_int_equal(back, OPS);
    assert_int_equal(cbx_claim_grants_read(&all, CBX_STR("issuer corp (ops"), &back), CORP);
    assert_int_equal(back, 0);
    assert_int_equal(cbx_claim_grants_read(&all, CBX_STR("issuer corp (,)),"), &back), CORP);
    assert_int_equal(back, 0);
}

static const struct cbx_principal *row_of(struct cbx_granted *granted,
                                          const struct cbx_principal *base, uint64_t grants)
{
    const struct cbx_principal *row = NULL;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_granted_row(granted, &all, base, grants, &row, &err), 0);
    return row;
}

static bool may(const struct cbx_principal *row, enum cbx_right right)
{
    const struct cbx_caller caller = { .row = row };
    return cbx_caller_may(&caller, right);
}

static void rights_and_policies_add_up(void **state)
{
    (void)state;
    CBX_AUTO(granted) granted = cbx_granted_new();
    const struct cbx_principal *one = row_of(granted, NULL, ANALYSTS);
    assert_true(may(one, CBX_RIGHT_EXECUTE));
    assert_false(may(one, CBX_RIGHT_CHECK));
    assert_int_equal(one->policy_count, 1);
    const struct cbx_principal *both = row_of(granted, NULL, ANALYSTS | OPS);
    assert_true(may(both, CBX_RIGHT_EXECUTE) && may(both, CBX_RIGHT_AUDIT_READ));
    assert_int_equal(both->policy_count, 2);
    assert_string_equal(both->policies[1], "ops");
    assert_ptr_equal(row_of(granted, NULL, ANALYSTS | OPS), both);
}

static void a_grant_without_policies_does_not_open_those_of_others(void **state)
{
    (void)state;
    CBX_AUTO(granted) granted = cbx_granted_new();
    const struct cbx_principal *row = row_of(granted, NULL, ANALYSTS | READERS);
    assert_int_equal(row->policy_count, 1);
    assert_string_equal(row->policies[0], "strict");
    assert_int_equal(row_of(granted, NULL, READERS)->policy_count, 0);
}

static void a_grant_adds_to_the_row_of_the_principal_and_keeps_its_quotas(void **state)
{
    (void)state;
    CBX_AUTO(granted) granted = cbx_granted_new();
    const struct cbx_principal quotas = { .name = "corp:*", .names_rights = true, .sessions = 4 };
    const struct cbx_principal everything = { .name = "corp:ann",
                                              .rights = 1 << CBX_RIGHT_EXECUTE };
    assert_ptr_equal(row_of(granted, &quotas, 0), &quotas);
    assert_null(row_of(granted, NULL, 0));
    const struct cbx_principal *row = row_of(granted, &quotas, ANALYSTS);
    assert_int_equal(row->sessions, 4);
    assert_string_equal(row->name, "corp:*");
    assert_int_equal(row->rights, 1 << CBX_RIGHT_EXECUTE);
    assert_int_equal(row->policy_count, 1);
    row = row_of(granted, &everything, OPS);
    assert_int_equal(row->policy_count, 0); /* it was allowed all policies before */
    assert_true(may(row, CBX_RIGHT_AUDIT_READ));
}

static void more_policies_than_a_caller_can_have_are_refused(void **state)
{
    (void)state;
    CBX_AUTO(granted) granted = cbx_granted_new();
    struct cbx_principal base = { .rights = 1, .policy_count = CBX_CALLER_POLICIES };
    const struct cbx_principal *row = NULL;
    struct cbx_err err = { 0 };
    for (size_t i = 0; i < CBX_CALLER_POLICIES; i++) {
        snprintf(base.policies[i], sizeof(base.policies[i]), "p%zu", i);
    }
    assert_int_equal(cbx_granted_row(granted, &all, &base, OPS, &row, &err), CBX_ETOOBIG);
    assert_null(row);
}

static void a_grant_without_conditions_is_nobodys(void **state)
{
    (void)state;
    static struct cbx_claim_grant grants[1];
    const struct cbx_principals one = { .grants = grants, .grant_count = 1, .issuer_count = 1 };
    CBX_AUTO_JSON claims = json_object();
    assert_int_equal(cbx_claim_grants_match(&one, 0, claims), 0);
}

static void more_grants_than_a_credential_names_are_refused(void **state)
{
    (void)state;
    enum { GRANTS = 20 };
    static struct cbx_claim_grant grants[GRANTS];
    const struct cbx_principals many = { .grants = grants,
                                         .grant_count = GRANTS,
                                         .issuers = { { .name = "corp" } },
                                         .issuer_count = 1 };
    char text[CBX_CREDENTIAL_MAX + 1] = "before";
    struct cbx_err err = { 0 };
    for (size_t i = 0; i < GRANTS; i++) {
        snprintf(grants[i].gives.name, sizeof(grants[i].gives.name),
                 "a-name-that-has-32-characters-%02zu", i);
    }
    assert_int_equal(cbx_claim_grants_write(&many, 0, 0x3ff, text, &err), 0);
    snprintf(text, sizeof(text), "before");
    assert_int_equal(cbx_claim_grants_write(&many, 0, 0xfffff, text, &err), CBX_ETOOBIG);
    assert_string_equal(text, "before");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grant_is_of_tokens_that_hold_all_its_conditions),
        cmocka_unit_test(required_claims_are_all_required),
        cmocka_unit_test(a_credential_names_the_grants_and_is_read_back),
        cmocka_unit_test(what_is_not_configured_any_more_gives_nothing),
        cmocka_unit_test(rights_and_policies_add_up),
        cmocka_unit_test(a_grant_without_policies_does_not_open_those_of_others),
        cmocka_unit_test(a_grant_adds_to_the_row_of_the_principal_and_keeps_its_quotas),
        cmocka_unit_test(more_policies_than_a_caller_can_have_are_refused),
        cmocka_unit_test(a_grant_without_conditions_is_nobodys),
        cmocka_unit_test(more_grants_than_a_credential_names_are_refused),
    };
    return cmocka_run_group_tests(tests, read_rows, free_rows);
}
