/* SPDX-License-Identifier: MIT
 * Packages are judged before they are installed: the requested ones, and all that a manager
 * resolved, by the rules of the policy. */
#include "analyzer/packages/package_judge.h"
#include "tests/unit/unit.h"

#define A64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define WHEEL(name, version, asked, flags, requires)                                               \
    "{\"download_info\": {\"url\": \"https://files.example/" name "-" version                      \
    "-py3-none-any.whl\", \"archive_info\": {\"hashes\": {\"sha256\": \"" A64                      \
    "\"}}}, \"is_direct\": false, \"requested\": " asked ", " flags                                \
    "\"metadata\": {\"name\": \"" name "\", \"version\": \"" version                               \
    "\", \"requires_dist\": [" requires "]}}"
#define REPORT(items) "{\"version\": \"1\", \"install\": [" items "]}"

static struct cbx_err err;

/* Judges with the default policy, or with another one. */
struct judged {
    struct cbx_policy *policy;
    struct cbx_arena arena;
    struct cbx_resolved resolved;
    struct cbx_decision decision;
};

static void judge(struct judged *j, const char *yaml, enum cbx_spec_kind kind, const char *specs,
                  const char *report)
{
    *j = (struct judged){ 0 };
    cbx_arena_init(&j->arena, 64 << 20);
    int failed = yaml != NULL ? cbx_policy_parse(cbx_str_of(yaml), "test", &j->policy, &err)
                              : cbx_policy_load("default", &j->policy, &err);
    if (!failed && report != NULL) {
        failed = cbx_resolved_read(kind, cbx_str_of(report), &j->resolved, &err);
    }
    const struct cbx_package_request request = { .kind = kind,
                                                 .specs = cbx_str_of(specs != NULL ? specs : ""),
                                                 .resolved = report != NULL ? &j->resolved : NULL,
                                                 .principal = CBX_STR("local"),
                                                 .now = 1700000000 };
    if (!failed) {
        failed = cbx_packages_judge(j->policy, &request, &j->arena, &j->decision, &err);
    }
    if (failed) {
        fail_msg("%s", err.text);
    }
}

static void drop(struct judged *j)
{
    cbx_arena_done(&j->arena);
    cbx_resolved_done(&j->resolved);
    cbx_policy_free(j->policy);
}

static void assert_specs(const char *yaml, enum cbx_spec_kind kind, const char *specs,
                         enum cbx_verdict verdict, const char *rule)
{
    struct judged j;
    judge(&j, yaml, kind, specs, NULL);
    bool found = rule == NULL;
    for (size_t i = 0; i < j.decision.finding_count; i++) {
        found |= cbx_str_is(j.decision.findings[i].rule->id, rule);
    }
    if (j.decision.verdict != verdict || !found) {
        fail_msg("'%s': %s, %zu findings", specs, cbx_verdict_name(j.decision.verdict),
                 j.decision.finding_count);
    }
    drop(&j);
}

static void requirements_are_judged_by_the_rules_for_installs(void **state)
{
    (void)state;
    assert_specs(NULL, CBX_SPEC_PIP, "attrs\nrequests>=2.31\npandas[excel]~=2.0\n", CBX_ALLOW,
                 NULL);
    assert_specs(NULL, CBX_SPEC_PIP, "attrs\nParamiko\n", CBX_DENY, "pkg.blocked");
    assert_specs(NULL, CBX_SPEC_PIP, "numpy<1.20", CBX_DENY, "pkg.version");
    assert_specs(NULL, CBX_SPEC_PIP, "reqeusts", CBX_DENY, "pkg.look-alike");
    assert_specs(NULL, CBX_SPEC_NPM, "lodash@^4\n@types/node\n", CBX_ALLOW, NULL);
    assert_specs(NULL, CBX_SPEC_NPM,
                 "ms@>=2 <3\nlodash@^4 || ^3\nuuid@8.x - 9.x\nchalk@~5.2\nqs@*\nyargs@latest\n",
                 CBX_ALLOW, NULL);
    assert_specs(NULL, CBX_SPEC_NPM, "shelljs@0.8", CBX_DENY, "pkg.blocked");
    assert_specs(NULL, CBX_SPEC_NPM, "x@npm:execa@9", CBX_DENY, "pkg.blocked");
}

static void requirements_of_a_lock_file_are_judged_without_their_hashes(void **state)
{
    (void)state;
#define HASH " --hash=sha256:" A64
    assert_specs(NULL, CBX_SPEC_PIP,
                 "attrs==25.1" HASH HASH "\nrequests==2.32.0 ; python_version >= \"3\"" HASH "\n",
                 CBX_ALLOW, NULL);
    assert_specs(NULL, CBX_SPEC_PIP, "attrs==25.1" HASH "\nparamiko==3.0" HASH "\n", CBX_DENY,
                 "pkg.blocked");
    assert_specs(NULL, CBX_SPEC_PIP, "numpy==1.19.0" HASH, CBX_DENY, "pkg.version");
    assert_specs(NULL, CBX_SPEC_PIP, "reqeusts==1.0" HASH, CBX_DENY, "pkg.look-alike");
    assert_specs(NULL, CBX_SPEC_PIP, "attrs>=25" HASH, CBX_DENY, "package.refused");
    assert_specs(NULL, CBX_SPEC_PIP, "attrs==25.1" HASH " --index-url=x", CBX_DENY,
                 "package.refused");
    assert_specs(NULL, CBX_SPEC_NPM, "attrs==25.1" HASH, CBX_DENY, "package.refused");
    struct judged j;
    judge(&j, NULL, CBX_SPEC_PIP, "attrs==25.1" HASH "\nparamiko==3.0" HASH "\n", NULL);
    assert_int_equal(j.decision.findings[0].span.line, 2);
    assert_int_equal(j.decision.findings[0].span.end_column, sizeof("paramiko==3.0"));
    drop(&j);
#undef HASH
}

static void a_requirement_is_no_option_no_url_and_no_shell(void **state)
{
    (void)state;
    static const char *const pip[] = {
        "--index-url=https://evil.example/simple",
        "-r requirements.txt",
        "-e .",
        "a @ https://evil.example/a.whl",
        "git+https://evil.example/a.git",
        "./a",
        "/tmp/a.whl",
        "a; python_version > '3'",
        "a --hash=sha256:aaaa",
        "a b",
        "a,b",
        "$(id)",
        "`id`",
        "a'b",
        "a\\",
        "a\t--pre",
        "",
        "a\n\nb",
        "a\x01",
        "__import__('os').system('id')",
    };
    static const char *const npm[] = {
        "--registry=https://evil.example",
        "-g",
        "a b",
        "a;id",
        "a`id`",
        "$(id)",
        "https://evil.example/a.tgz",
        "..",
        "user/project",
        "./a",
        "a@..",
        "git+ssh://x/y",
        "a@file:../x",
        "",
        "a'b",
        "a@>=2 --registry=x",
        "a@>=2 b",
        "a@ >=2",
        "a@>=2 ",
        "a@next tag",
        "a@>=2 <3 || git+ssh://x/y",
    };
    for (size_t i = 0; i < sizeof(pip) / sizeof(pip[0]); i++) {
        if (pip[i][0] != '\0') {
            assert_specs(NULL, CBX_SPEC_PIP, pip[i], CBX_DENY, "package.refused");
        }
    }
    for (size_t i = 0; i < sizeof(npm) / sizeof(npm[0]); i++) {
        if (npm[i][0] != '\0') {
            assert_specs(NULL, CBX_SPEC_NPM, npm[i], CBX_DENY, "package.refused");
        }
    }
}

static void a_policy_that_allows_no_installs_allows_none_without_a_rule_too(void **state)
{
    (void)state;
    static const char none[] =
        "version: 1\nname: t\nnetwork: packages-only\npackages: {pip: {mode: none}}\n";
    assert_specs(none, CBX_SPEC_PIP, "attrs", CBX_DENY, "package.refused");
    static const char list[] = "version: 1\nname: t\nnetwork: packages-only\npackages: {pip: "
                               "{mode: allowlist, allow: [attrs], sources: "
                               "[index]}}\n";
    assert_specs(list, CBX_SPEC_PIP, "attrs", CBX_ALLOW, NULL);
    assert_specs(list, CBX_SPEC_PIP, "requests", CBX_DENY, "package.refused");
}

static void without_a_network_nothing_is_installed(void **state)
{
    (void)state;
    static const char none[] = "version: 1\nname: t\nextends: [default]\nnetwork: none\n";
    assert_specs(none, CBX_SPEC_PIP, "attrs", CBX_DENY, "package.refused");
}

static void what_others_pull_in_is_judged_and_the_chain_is_told(void **state)
{
    (void)state;
    struct judged j;
    judge(&j, NULL, CBX_SPEC_PIP, NULL,
          REPORT(WHEEL("alpha", "1.0", "true", "", "\"urllib3\", \"paramiko\"") "," WHEEL(
              "urllib3", "1.25.0", "false", "", "") "," WHEEL("paramiko", "3.0", "false", "", "")));
    assert_int_equal(j.decision.verdict, CBX_DENY);
    assert_int_equal(j.decision.finding_count, 2);
    const struct cbx_finding *f = j.decision.findings;
    assert_true(cbx_str_is(f[0].rule->id, "pkg.version"));
    assert_true(cbx_str_is(f[0].symbol, "urllib3==1.25.0"));
    assert_true(cbx_str_is(f[0].detail,
                           "alpha 1.0 -> urllib3 1.25.0: urllib3 is older than the policy "
                           "allows; ask for version 1.26.5 or newer"));
    assert_int_equal(f[0].span.line, 2);
    assert_true(cbx_str_is(f[1].rule->id, "pkg.blocked"));
    assert_true(
        cbx_str_is(f[1].detail, "alpha 1.0 -> paramiko 3.0: paramiko is blocked by the policy"));
    drop(&j);
}

static void what_was_withdrawn_is_refused_whatever_the_policy_says(void **state)
{
    (void)state;
    struct judged j;
    judge(&j,
          "version: 1\nname: t\nnetwork: packages-only\nmode: log-only\npackages: {pip: {mode: "
          "blocklist, sources: "
          "[index]}}\n",
          CBX_SPEC_PIP, NULL, REPORT(WHEEL("alpha", "1.0", "true", "\"is_yanked\": true, ", "")));
    assert_int_equal(j.decision.verdict, CBX_DENY);
    assert_true(cbx_str_is(j.decision.findings[0].rule->id, "package.refused"));
    drop(&j);
}

static void the_text_of_a_set_is_what_may_be_installed_and_reads_back(void **state)
{
    (void)state;
    struct judged j;
    struct cbx_resolved again;
    judge(&j, NULL, CBX_SPEC_PIP, NULL,
          REPORT(WHEEL("Zeta_x", "2.0", "true", "", "") "," WHEEL("alpha", "1.0", "true", "", "")));
    assert_int_equal(j.decision.verdict, CBX_ALLOW);
    assert_true(
        cbx_str_is(j.decision.text, "alpha 1.0 sha256:" A64 "\nzeta-x 2.0 sha256:" A64 "\n"));
    assert_int_equal(cbx_resolved_read_set(CBX_SPEC_PIP, j.decision.text, &again, &err), 0);
    assert_int_equal(again.count, 2);
    cbx_resolved_done(&again);
    static const char *const bad[] = {
        ("alpha 1.0 sha256:" A64),                               /* no line feed */
        ("zeta 1.0 sha256:" A64 "\nalpha 1.0 sha256:" A64 "\n"), /* not sorted */
        ("Alpha 1.0 sha256:" A64 "\n"),                          /* not normal */
        "alpha 1.0 -\n",                                         /* no hash */
        ("alpha 1.0 sha256:" A64 " x\n"),                        /* a field too many */
        ("--pre 1.0 sha256:" A64 "\n"),
        ("alpha latest sha256:" A64 "\n"),
        "\n",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (cbx_resolved_read_set(CBX_SPEC_PIP, cbx_str_of(bad[i]), &again, &err) == 0) {
            fail_msg("accepted: %s", bad[i]);
        }
    }
    drop(&j);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(requirements_are_judged_by_the_rules_for_installs),
        cmocka_unit_test(requirements_of_a_lock_file_are_judged_without_their_hashes),
        cmocka_unit_test(a_requirement_is_no_option_no_url_and_no_shell),
        cmocka_unit_test(a_policy_that_allows_no_installs_allows_none_without_a_rule_too),
        cmocka_unit_test(without_a_network_nothing_is_installed),
        cmocka_unit_test(what_others_pull_in_is_judged_and_the_chain_is_told),
        cmocka_unit_test(what_was_withdrawn_is_refused_whatever_the_policy_says),
        cmocka_unit_test(the_text_of_a_set_is_what_may_be_installed_and_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
