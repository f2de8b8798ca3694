/* SPDX-License-Identifier: MIT
 * Conditions on claims. */
#include "gateway/identity/claim_conditions.h"
#include "policies/base/text/json.h"
#include "tests/unit/unit.h"

#include <string.h>

/* The condition that `{ENTRY}` has. */
static int read_entry(const char *entry, struct cbx_condition *out, struct cbx_err *err)
{
    CBX_AUTO_DONE(arena) arena;
    struct cbx_yaml *root = NULL;
    cbx_arena_init(&arena, 1 << 20);
    *out = (struct cbx_condition){ 0 };
    assert_int_equal(cbx_yaml_parse(cbx_str_of(entry), 16, &arena, &root, err), 0);
    return cbx_condition_read(root->first, out, err);
}

static bool holds(const char *entry, const char *claims)
{
    struct cbx_condition condition;
    struct cbx_err err = { 0 };
    CBX_AUTO_JSON json = json_loads(claims, 0, NULL);
    assert_non_null(json);
    assert_int_equal(read_entry(entry, &condition, &err), 0);
    return cbx_condition_holds(&condition, json);
}

static void a_claim_has_one_of_the_values(void **state)
{
    (void)state;
    static const struct {
        const char *entry, *claims;
        bool holds;
    } cases[] = {
        { "tid: one", "{\"tid\": \"one\"}", true },
        { "tid: one", "{\"tid\": \"two\"}", false },
        { "tid: one", "{\"tid\": \"One\"}", false },
        { "tid: one", "{\"tid\": \"one \"}", false },
        { "tid: one", "{\"tid\": \"\"}", false },
        { "tid: one", "{\"tid\": null}", false },
        { "tid: one", "{\"tid\": {\"one\": \"one\"}}", false },
        { "tid: one", "{}", false },
        { "tid: [one, two]", "{\"tid\": \"two\"}", true },
        { "tid: [one, two]", "{\"tid\": \"three\"}", false },
        { "groups: ops", "{\"groups\": [\"dev\", \"ops\"]}", true },
        { "groups: ops", "{\"groups\": [\"dev\", \"devops\"]}", false },
        { "groups: ops", "{\"groups\": []}", false },
        { "groups: ops", "{\"groups\": [[\"ops\"]]}", false },
        { "groups: ops", "{\"groups\": \"dev ops\"}", false },
        { "groups: \"team-*\"", "{\"groups\": [\"team-a\"]}", true },
        { "groups: \"team-*\"", "{\"groups\": [\"a-team-a\"]}", false },
        { "groups: \"*\"", "{\"groups\": [\"any\"]}", true },
        { "groups: \"*\"", "{\"groups\": []}", false },
        { "level: 3", "{\"level\": 3}", true },
        { "level: 3", "{\"level\": \"3\"}", true },
        { "level: 3", "{\"level\": 3.0}", false },
        { "level: 3", "{\"level\": 33}", false },
        { "verified: true", "{\"verified\": true}", true },
        { "verified: true", "{\"verified\": false}", false },
        { "verified: false", "{}", false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (holds(cases[i].entry, cases[i].claims) != cases[i].holds) {
            fail_msg("%s of %s", cases[i].entry, cases[i].claims);
        }
    }
}

static void a_scope_is_a_text_of_words_or_a_list(void **state)
{
    (void)state;
    assert_true(holds("scope: run", "{\"scope\": \"openid run\"}"));
    assert_true(holds("scope: run", "{\"scope\": \"run\"}"));
    assert_true(holds("scope: run", "{\"scope\": \"  run  x\"}"));
    assert_true(holds("scp: run", "{\"scp\": \"openid run\"}"));
    assert_true(holds("scp: run", "{\"scp\": [\"openid\", \"run\"]}"));
    assert_false(holds("scope: run", "{\"scope\": \"openid runs\"}"));
    assert_false(holds("scope: run", "{\"scope\": \"\"}"));
    assert_false(holds("scope: run", "{\"scope\": \"openid\\trun\"}"));
    assert_false(holds("scope: \"a b\"", "{\"scope\": \"a b\"}"));
    assert_false(holds("scope: \"*\"", "{\"scope\": \" \"}"));
}

static void a_name_is_that_of_a_claim_or_a_path_of_objects(void **state)
{
    (void)state;
    const char *roles = "{\"realm_access\": {\"roles\": [\"analyst\"]}}";
    assert_true(holds("realm_access.roles: analyst", roles));
    assert_false(holds("realm_access.roles: admin", roles));
    assert_false(holds("realm_access: analyst", roles));
    assert_false(holds("realm_access.roles.x: analyst", roles));
    assert_false(holds(".roles: analyst", roles));
    assert_false(holds("realm_access.: analyst", roles));
    assert_true(
        holds("\"https://x.example/groups\": ops", "{\"https://x.example/groups\": [\"ops\"]}"));
    assert_true(holds("resource_access.my.client.roles: ops",
                      "{\"resource_access\": {\"my.client\": {\"roles\": [\"ops\"]}}}"));
    /* The claim of this very name comes first. */
    assert_false(holds("a.b: one", "{\"a.b\": \"two\", \"a\": {\"b\": \"one\"}}"));
}

static void what_is_no_condition_is_refused_with_its_place(void **state)
{
    (void)state;
    static const char many[] = "a: [x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x]";
    char longer[400] = "a: ";
    memset(longer + 3, 'x', CBX_CONDITION_BYTES + 1);
    const struct {
        const char *entry, *fragment;
    } bad[] = {
        { "a: []", "no value" },         { "a: {b: c}", "no value" },
        { "a: [[b]]", "no text" },       { "a: ''", "no text" },
        { "a: ['']", "no text" },        { "a: [{b: c}]", "no text" },
        { many, "more than 16 values" }, { longer, "no text of 1 to 256 bytes" },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct cbx_condition condition;
        struct cbx_err err = { 0 };
        assert_int_equal(read_entry(bad[i].entry, &condition, &err), CBX_EINVAL);
        assert_non_null(strstr(err.text, bad[i].fragment));
        assert_int_equal(err.line, 1);
        assert_true(err.column >= 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_has_one_of_the_values),
        cmocka_unit_test(a_scope_is_a_text_of_words_or_a_list),
        cmocka_unit_test(a_name_is_that_of_a_claim_or_a_path_of_objects),
        cmocka_unit_test(what_is_no_condition_is_refused_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
