/* SPDX-License-Identifier: MIT
 * The index finds the same patterns as a linear search. */
#include "policies/base/text/json.h"
#include "policies/load/index.h"
#include "tests/unit/unit.h"

static struct cbx_policy *load(const char *match)
{
    char yaml[4096];
    struct cbx_policy *policy = NULL;
    struct cbx_err err = { 0 };
    snprintf(yaml, sizeof(yaml), "version: 1\nname: x\nrules:\n  - {id: a, match: {%s}}\n", match);
    if (cbx_policy_parse(cbx_str_of(yaml), "x", &policy, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return policy;
}

static const struct cbx_pattern *find_glob(const struct cbx_index *index, const char *text)
{
    for (const struct cbx_pattern *p = index->globs; p != NULL; p = p->next) {
        if (cbx_pattern_matches(p, cbx_str_of(text))) {
            return p;
        }
    }
    for (size_t i = 0; strlen(text) >= 3 && i + 3 <= strlen(text); i++) {
        const struct cbx_pattern *p = index->by_gram[cbx_index_gram(text + i)];
        for (; p != NULL; p = p->next) {
            if (cbx_pattern_matches(p, cbx_str_of(text))) {
                return p;
            }
        }
    }
    return NULL;
}

static const struct cbx_pattern *find_exact(const struct cbx_index *index, const char *text)
{
    uint32_t hash = CBX_INDEX_SEED;
    for (const char *p = text; *p != '\0'; p++) {
        hash = cbx_index_step(hash, *p);
    }
    const struct cbx_pattern *p = cbx_index_exact(index, hash);
    while (p != NULL && !cbx_str_is(p->text, text)) {
        p = p->next;
    }
    return p;
}

static void finds_a_plain_entry_by_its_text(void **state)
{
    (void)state;
    CBX_AUTO(policy) p = load("import: [os, subprocess], call: [os.system]");
    assert_non_null(find_exact(p->index, "os"));
    assert_int_equal(find_exact(p->index, "subprocess")->list, CBX_IN_IMPORT);
    assert_int_equal(find_exact(p->index, "os.system")->list, CBX_IN_CALL);
    assert_non_null(find_exact(p->index, "os.system")->call);
    assert_null(find_exact(p->index, "os.popen"));
    assert_int_equal(p->index->lists, CBX_IN_IMPORT | CBX_IN_CALL);
}

static void finds_every_glob_that_matches(void **state)
{
    (void)state;
    static const struct {
        const char *glob, *text;
        bool found;
    } cases[] = {
        { "os.exec*", "os.execv", true },
        { "os.exec*", "os.exe", false },
        { "*secret*", "a secret!", true },
        { "*secret*", "a secre", false },
        { "*", "", true },
        { "?b?", "abc", true },
        { "ab*", "ab", true },
        { "*[wax+]*", "rw", true },
        { "*[wax+]*", "r", false },
        { "[abc", "[abc", true },
        { "a\\\\*b", "a*b", true },
        { "a\\\\*b", "axb", false },
        { "long.name.*.x", "long.name.y.x", true },
        { "x[!a]yz*", "xbyzzz", true },
        { "*a?bcd", "aabcd", true },
        { "*.createServer", "http.createServer", true },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char match[128];
        snprintf(match, sizeof(match), "literal: [\"%s\"]", cases[i].glob);
        CBX_AUTO(policy) p = load(match);
        if ((find_glob(p->index, cases[i].text) != NULL) != cases[i].found) {
            fail_msg("%s on %s", cases[i].glob, cases[i].text);
        }
    }
}

static void entries_that_take_out_stand_apart(void **state)
{
    (void)state;
    CBX_AUTO(policy)
    p = load("import: [importlib, \"!importlib.metadata\"], call: [\"os.*\", \"!os.path*\"]");
    const struct cbx_index *index = p->index;
    assert_null(find_exact(index, "importlib.metadata"));
    assert_true(cbx_index_excludes(index, 0, CBX_IN_IMPORT, CBX_STR("importlib.metadata.version")));
    assert_false(cbx_index_excludes(index, 0, CBX_IN_IMPORT, CBX_STR("importlib.metadatas")));
    assert_false(cbx_index_excludes(index, 0, CBX_IN_CALL, CBX_STR("importlib.metadata")));
    assert_true(cbx_index_excludes(index, 0, CBX_IN_CALL, CBX_STR("os.path.join")));
}

static void lists_the_rules_of_facts_and_capabilities(void **state)
{
    (void)state;
    CBX_AUTO(policy) p = load("capability: [start-process, socket], fact: syntax");
    assert_int_equal(p->index->capabilities, 1 << CBX_CAN_PROCESS | 1 << CBX_CAN_SOCKET);
    assert_int_equal(p->index->by_capability[CBX_CAN_PROCESS].count, 1);
    assert_int_equal(p->index->by_capability[CBX_CAN_UI].count, 0);
    assert_int_equal(p->index->by_fact[CBX_FACT_SYNTAX].count, 1);
    assert_int_equal(p->index->queries.count, 0);
}

static void capabilities_are_part_of_the_identity(void **state)
{
    (void)state;
    CBX_AUTO(policy) one = load("capability: [start-process, socket]");
    CBX_AUTO(policy) other = load("capability: start-process");
    CBX_AUTO(policy) same = load("capability: [socket, start-process]");
    assert_false(cbx_sha256_equal(&one->sha256, &other->sha256));
    assert_true(cbx_sha256_equal(&one->sha256, &same->sha256));
    CBX_AUTO_JSON json = cbx_policy_json(one);
    json_t *match = json_object_get(json_array_get(json_object_get(json, "rules"), 0), "match");
    assert_int_equal(json_array_size(json_object_get(match, "capability")), 2);
}

static void finds_what_is_within_a_module(void **state)
{
    (void)state;
    assert_true(cbx_name_is_within(CBX_STR("a.b"), CBX_STR("a")));
    assert_true(cbx_name_is_within(CBX_STR("a/b"), CBX_STR("a")));
    assert_true(cbx_name_is_within(CBX_STR("a"), CBX_STR("a")));
    assert_false(cbx_name_is_within(CBX_STR("ab"), CBX_STR("a")));
    assert_false(cbx_name_is_within(CBX_STR("a"), CBX_STR("a.b")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_plain_entry_by_its_text),
        cmocka_unit_test(finds_every_glob_that_matches),
        cmocka_unit_test(entries_that_take_out_stand_apart),
        cmocka_unit_test(lists_the_rules_of_facts_and_capabilities),
        cmocka_unit_test(capabilities_are_part_of_the_identity),
        cmocka_unit_test(finds_what_is_within_a_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
