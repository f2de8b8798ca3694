/* SPDX-License-Identifier: MIT
 * Tests in policies: the tests of every preset pass, and a failing test is reported. */
#include "analyzer/policy_test.h"
#include "tests/unit/unit.h"

struct told {
    size_t count;
    struct cbx_str rule, snippet;
    const char *language;
    bool should_match;
};

static void tell(void *context, const struct cbx_policy_test_failure *failure)
{
    struct told *told = context;
    *told = (struct told){ told->count + 1, failure->rule->id, failure->snippet, failure->language,
                           failure->should_match };
}

static void passes_for_every_preset(void **state)
{
    (void)state;
    size_t count;
    const struct cbx_preset *presets = cbx_preset_list(&count);
    for (size_t i = 0; i < count; i++) {
        CBX_AUTO(policy) policy = NULL;
        struct cbx_err err;
        struct told told = { 0 };
        struct cbx_policy_test_report report;
        assert_int_equal(cbx_policy_load(presets[i].name, &policy, &err), 0);
        cbx_policy_test(policy, tell, &told, &report);
        if (report.failed != 0) {
            fail_msg("preset %s: %zu of %zu fail, the last is rule %.*s with:\n%.*s",
                     presets[i].name, report.failed, report.run, CBX_STR_ARG(told.rule),
                     CBX_STR_ARG(told.snippet));
        }
        assert_int_equal(told.count, 0);
        assert_true(report.run > 0);
        assert_int_equal(report.untested, 0);
    }
}

static void reports_each_snippet_with_a_wrong_verdict(void **state)
{
    (void)state;
    CBX_AUTO(policy) policy = NULL;
    struct cbx_err err;
    struct told told = { 0 };
    struct cbx_policy_test_report report;
    assert_int_equal(
        cbx_policy_parse(
            CBX_STR(
                "version: 1\nname: x\nrules:\n"
                "  - {id: a, match: {import: os}, tests: {deny: [\"import os\"], allow: [\"import "
                "re\"]}}\n"
                "  - {id: b, match: {import: re}, effect: allow, tests: {deny: [\"import re\"]}}\n"
                "  - {id: c, languages: [javascript], match: {import: fs}, tests: {deny: "
                "[\"require('fs')\", \"require('net')\"]}}\n"
                "  - {id: d, match: {import: io}}\n"),
            "x", &policy, &err),
        0);
    cbx_policy_test(policy, tell, &told, &report);
    assert_int_equal(report.run, 5);
    assert_int_equal(report.failed, 1);
    assert_int_equal(report.untested, 1);
    assert_int_equal(told.count, 1);
    assert_true(cbx_str_is(told.rule, "c"));
    assert_true(cbx_str_is(told.snippet, "require('net')"));
    assert_string_equal(told.language, "javascript");
    assert_true(told.should_match);
}

static void tell_host(void *context, const struct cbx_policy_test_failure *failure)
{
    struct told *told = context;
    assert_null(failure->rule);
    assert_string_equal(failure->kind, "host");
    told->count++;
    told->snippet = failure->snippet;
    told->should_match = failure->should_match;
}

static void looks_hosts_up_in_the_egress_list(void **state)
{
    (void)state;
    CBX_AUTO(policy) policy = NULL;
    struct cbx_err err;
    struct told told = { 0 };
    struct cbx_policy_test_report report;
    assert_int_equal(
        cbx_policy_parse(
            CBX_STR("version: 1\nname: x\nnetwork:\n  egress: [a.org, \"*.b.org:443\"]\n"
                    "  tests: {allow: [a.org, \"x.b.org:443\"], deny: [b.org, x.b.org, "
                    "\"[::1]:80\"]}\n"),
            "x", &policy, &err),
        0);
    cbx_policy_test(policy, tell_host, &told, &report);
    assert_int_equal(report.run, 5);
    assert_int_equal(report.failed, 1); /* 443 of x.b.org is granted */
    assert_true(cbx_str_is(told.snippet, "x.b.org"));
    assert_true(told.should_match);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_for_every_preset),
        cmocka_unit_test(reports_each_snippet_with_a_wrong_verdict),
        cmocka_unit_test(looks_hosts_up_in_the_egress_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
