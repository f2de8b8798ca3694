/* SPDX-License-Identifier: MIT
 * The reports of pip and npm are read strictly, and their packages are judged one by one. */
#include "analyzer/packages/resolved.h"
#include "tests/unit/unit.h"

#include <string.h>

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SHA512                                                                                     \
    "sha512-"                                                                                      \
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="

/* One entry of pip's report. */
#define PIP(name, version, file, flags, requires)                                                  \
    "{\"download_info\": {\"url\": \"https://files.example/" file                                  \
    "\", \"archive_info\": {\"hashes\": "                                                          \
    "{\"sha256\": \"" HEX "\"}}}, \"is_direct\": false, " flags "\"metadata\": {\"name\": \"" name \
    "\", \"version\": \"" version "\", \"requires_dist\": [" requires "]}}"
#define WHEEL(name, version, asked, requires)                                                      \
    PIP(name, version, name "-" version "-py3-none-any.whl", "\"requested\": " asked ", ", requires)
#define REPORT(items) "{\"version\": \"1\", \"pip_version\": \"23.0.1\", \"install\": [" items "]}"

static struct cbx_err err;

static void read_as(enum cbx_spec_kind kind, const char *report, struct cbx_resolved *out)
{
    if (cbx_resolved_read(kind, cbx_str_of(report), out, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static struct cbx_policy *parse(const char *yaml)
{
    struct cbx_policy *policy = NULL;
    if (cbx_policy_parse(cbx_str_of(yaml), "test", &policy, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return policy;
}

/* All findings as lines. */
static void assert_findings(const struct cbx_resolved *resolved, const char *yaml,
                            const char *expected)
{
    struct cbx_resolved_finding findings[32];
    CBX_AUTO_DONE(buf) text;
    struct cbx_policy *policy = parse(yaml);
    size_t count = cbx_resolved_judge(resolved, policy, findings, 32);
    cbx_buf_init(&text, 8192);
    for (size_t i = 0; i < count; i++) {
        cbx_resolved_add_finding(resolved, &findings[i], &text);
        cbx_buf_add_char(&text, '\n');
    }
    assert_string_equal(count > 0 ? text.p : "", expected);
    cbx_policy_free(policy);
}

#define POLICY(packages)                                                                           \
    "version: 1\nname: t\npackages:\n  pip: {" packages "}\n  npm: {" packages "}\n"

static const char three[] =
    REPORT(WHEEL("Alpha_Kit", "1.2", "true", "\"beta>=2; python_version > '3'\"") "," WHEEL(
        "beta", "2.0", "false",
        "\"gamma\", \"delta ; sys_platform == 'win32'\"") "," WHEEL("gamma", "0.1", "false", ""));

static void each_package_names_who_pulled_it_in(void **state)
{
    (void)state;
    CBX_AUTO_DONE(resolved) set;
    CBX_AUTO_DONE(buf) chain;
    read_as(CBX_SPEC_PIP, three, &set);
    assert_int_equal(set.count, 3);
    cbx_buf_init(&chain, 1024);
    cbx_resolved_add_chain(&set, 2, &chain);
    assert_string_equal(chain.p, "Alpha_Kit 1.2 -> beta 2.0 -> gamma 0.1");
}

static void packages_that_others_pull_in_are_judged_too(void **state)
{
    (void)state;
    CBX_AUTO_DONE(resolved) set;
    read_as(CBX_SPEC_PIP, three, &set);
    assert_findings(&set, POLICY("mode: blocklist, sources: [index], transitive: true"), "");
    assert_findings(&set,
                    POLICY("mode: blocklist, block: [gamma], sources: [index], transitive: true"),
                    "Alpha_Kit 1.2 -> beta 2.0 -> gamma 0.1: gamma is blocked by the policy\n");
    assert_findings(
        &set, POLICY("mode: blocklist, block: [gamma], sources: [index], transitive: false"), "");
    assert_findings(
        &set, POLICY("mode: blocklist, minimum: {beta: 2.0.1}, sources: [index], transitive: true"),
        "Alpha_Kit 1.2 -> beta 2.0: beta is older than the policy allows; ask for version "
        "2.0.1 or newer\n");
    assert_findings(
        &set,
        POLICY("mode: allowlist, allow: [alpha-kit, beta], sources: [index], transitive: true"),
        "Alpha_Kit 1.2 -> beta 2.0 -> gamma 0.1: gamma is not one of the packages that the "
        "policy allows\n");
}

static void names_that_others_chose_may_look_like_no_other_name_either(void **state)
{
    (void)state;
    static const char alike[] = REPORT(
        WHEEL("alpha", "1.0", "true", "\"reqeusts\"") "," WHEEL("reqeusts", "2.0", "false", ""));
    CBX_AUTO_DONE(resolved) set;
    CBX_AUTO_DONE(resolved) again;
    CBX_AUTO_DONE(buf) text;
    read_as(CBX_SPEC_PIP, alike, &set);
    assert_findings(&set, POLICY("mode: blocklist, sources: [index], transitive: true"),
                    "alpha 1.0 -> reqeusts 2.0: reqeusts looks like another package; did you mean "
                    "requests?\n");
    assert_findings(
        &set, POLICY("mode: blocklist, allow: [reqeusts], sources: [index], transitive: true"), "");
    cbx_buf_init(&text, 4096); /* installed packages were judged before */
    cbx_resolved_write(&set, &text);
    assert_int_equal(cbx_resolved_read_set(CBX_SPEC_PIP, cbx_buf_str(&text), &again, &err), 0);
    assert_findings(&again, POLICY("mode: blocklist, sources: [index], transitive: true"), "");
}

static void what_would_run_code_and_what_is_not_certain_is_refused(void **state)
{
    (void)state;
    CBX_AUTO_DONE(resolved) set;
    read_as(CBX_SPEC_PIP,
            REPORT(PIP("alpha", "1.0", "alpha-1.0.tar.gz",
                       "\"requested\": true, \"is_yanked\": true, ", "")),
            &set);
    assert_findings(&set, POLICY("mode: blocklist, sources: [index], transitive: true"),
                    "alpha 1.0: alpha is no wheel: code of its own would run when it is installed\n"
                    "alpha 1.0: alpha was withdrawn by its authors; ask for another version\n");
}

static void the_canonical_set_depends_on_what_is_installed_alone(void **state)
{
    (void)state;
    CBX_AUTO_DONE(resolved) one;
    CBX_AUTO_DONE(resolved) other;
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO_DONE(buf) again;
    read_as(CBX_SPEC_PIP, REPORT(WHEEL("B.b", "1", "true", "") "," WHEEL("a", "2", "true", "")),
            &one);
    read_as(CBX_SPEC_PIP,
            REPORT(WHEEL("a", "2", "false", "") "," WHEEL("b-b", "1", "true", "\"a\"")), &other);
    cbx_buf_init(&text, 1024);
    cbx_buf_init(&again, 1024);
    cbx_resolved_write(&one, &text);
    cbx_resolved_write(&other, &again);
    assert_string_equal(text.p, "a 2 sha256:" HEX "\nb-b 1 sha256:" HEX "\n");
    assert_string_equal(again.p, text.p);
}

static void lock_files_of_npm_are_read_with_nested_versions(void **state)
{
    (void)state;
    static const char lock[] =
        "{\"name\": \"x\", \"lockfileVersion\": 3, \"packages\": {\"\": {\"dependencies\": {\"a\": "
        "\"^1\"}},"
        "\"node_modules/a\": {\"version\": \"1.0.0\", \"resolved\": "
        "\"https://r.example/a/-/a-1.0.0.tgz\", "
        "\"integrity\": \"" SHA512 "\", \"dependencies\": {\"@s/b\": \"2\"}},"
        "\"node_modules/a/node_modules/@s/b\": {\"version\": \"2.0.0\", \"resolved\": "
        "\"https://r.example/b.tgz\", "
        "\"integrity\": \"" SHA512 "\", \"hasInstallScript\": true},"
        "\"node_modules/@s/b\": {\"version\": \"1.0.0\", \"resolved\": "
        "\"https://r.example/b1.tgz\"}}}";
    CBX_AUTO_DONE(resolved) set;
    read_as(CBX_SPEC_NPM, lock, &set);
    assert_int_equal(set.count, 3);
    assert_findings(&set, POLICY("mode: blocklist, sources: [index], transitive: true"),
                    "@s/b 1.0.0: @s/b has no hash in the index\n");
    assert_false(cbx_resolved_is_nested(&set.items[0]));
    assert_true(cbx_resolved_is_nested(&set.items[1]));
    assert_false(cbx_resolved_is_nested(&set.items[2]));
}

static void chains_of_npm_follow_the_folders_that_node_searches(void **state)
{
    (void)state;
    static const struct {
        const char *path, *needs, *chain;
    } rows[] = {
        { "node_modules/d", "", "a 1.0.0 -> b 1.0.0 -> d 1.0.0" },
        { "node_modules/c", "", "c 1.0.0" }, /* the one that lies in a is nearer to b */
        { "node_modules/a", "\"b\": \"1\", \"d/node_modules/c\": \"1\"", "a 1.0.0" },
        { "node_modules/a/node_modules/b", "\"c\": \"1\", \"d\": \"1\"", "a 1.0.0 -> b 1.0.0" },
        { "node_modules/a/node_modules/c", "", "a 1.0.0 -> b 1.0.0 -> c 1.0.0" },
    };
    CBX_AUTO_DONE(buf) lock;
    cbx_buf_init(&lock, 16384);
    cbx_buf_printf(
        &lock, "{\"lockfileVersion\": 3, \"packages\": {\"\": {\"dependencies\": {\"a\": \"1\"}}");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cbx_buf_printf(&lock,
                       ", \"%s\": {\"version\": \"1.0.0\", \"integrity\": \"%s\", "
                       "\"dependencies\": {%s}}",
                       rows[i].path, SHA512, rows[i].needs);
    }
    cbx_buf_add_cstr(&lock, "}}");
    CBX_AUTO_DONE(resolved) set;
    read_as(CBX_SPEC_NPM, lock.p, &set);
    assert_int_equal(set.count, sizeof(rows) / sizeof(rows[0]));
    for (size_t i = 0; i < set.count; i++) {
        CBX_AUTO_DONE(buf) chain;
        cbx_buf_init(&chain, 1024);
        cbx_resolved_add_chain(&set, i, &chain);
        assert_string_equal(chain.p, rows[i].chain);
    }
}

static void optional_packages_for_other_platforms_are_left_out(void **state)
{
    (void)state;
    static const char lock[] =
        "{\"lockfileVersion\": 3, \"packages\": {\"\": {\"dependencies\": {\"a\": \"1\"}},"
        "\"node_modules/a\": {\"version\": \"1.0.0\", \"integrity\": \"" SHA512
        "\", \"hasInstallScript\": true, \"optionalDependencies\": {\"mac\": \"1\", \"linux\": "
        "\"1\"}},"
        "\"node_modules/mac\": {\"version\": \"1.0.0\", \"optional\": true, \"os\": [\"darwin\"], "
        "\"integrity\": \"" SHA512 "\"},"
        "\"node_modules/musl\": {\"version\": \"1.0.0\", \"optional\": true, \"libc\": [\"musl\"], "
        "\"integrity\": \"" SHA512 "\"},"
        "\"node_modules/not\": {\"version\": \"1.0.0\", \"optional\": true, \"os\": [\"!linux\"], "
        "\"integrity\": \"" SHA512 "\"},"
        "\"node_modules/linux\": {\"version\": \"1.0.0\", \"optional\": true, \"os\": [\"linux\", "
        "\"android\"], \"integrity\": \"" SHA512 "\"}}}";
    CBX_AUTO_DONE(resolved) set;
    read_as(CBX_SPEC_NPM, lock, &set);
    assert_int_equal(set.count, 2);
    assert_true(cbx_str_is(set.items[1].name, "linux"));
}

static void aliases_of_npm_are_judged_by_the_package_behind_them(void **state)
{
    (void)state;
    static const char lock[] =
        "{\"lockfileVersion\": 3, \"packages\": {\"\": {\"dependencies\": {\"good\": "
        "\"npm:bad@1\"}},"
        "\"node_modules/good\": {\"name\": \"bad\", \"version\": \"1.0.0\", \"integrity\": "
        "\"" SHA512
        "\", \"dependencies\": {\"more\": \"1\"}}, \"node_modules/more\": {\"version\": \"1.0.0\", "
        "\"integrity\": \"" SHA512 "\"}}}";
    CBX_AUTO_DONE(resolved) set;
    read_as(CBX_SPEC_NPM, lock, &set);
    assert_findings(
        &set, POLICY("mode: blocklist, block: [bad, more], sources: [index], transitive: true"),
        "bad 1.0.0: bad is blocked by the policy\n"
        "bad 1.0.0 -> more 1.0.0: more is blocked by the policy\n");
}

static void packages_of_npm_that_others_ask_for_by_url_are_not_of_the_index(void **state)
{
    (void)state;
    static const char lock[] =
        "{\"lockfileVersion\": 3, \"packages\": {\"\": {\"dependencies\": {\"good\": \"^1\"}},"
        "\"node_modules/good\": {\"version\": \"1.0.0\", \"integrity\": \"" SHA512
        "\", \"dependencies\": {\"more\": \"https://a.example/more.tgz\"}}, "
        "\"node_modules/more\": {\"version\": \"1.0.0\", \"resolved\": "
        "\"https://a.example/more.tgz\", \"integrity\": \"" SHA512 "\"}}}";
    CBX_AUTO_DONE(resolved) set;
    read_as(CBX_SPEC_NPM, lock, &set);
    assert_findings(&set,
                    POLICY("mode: blocklist, block: [bad], sources: [index], transitive: true"),
                    "good 1.0.0 -> more 1.0.0: more comes from a URL, not from the index\n");
}

static void reports_that_no_manager_writes_are_refused(void **state)
{
    (void)state;
    static const struct {
        enum cbx_spec_kind kind;
        const char *report;
    } rows[] = {
        { CBX_SPEC_PIP, "" },
        { CBX_SPEC_PIP, "[]" },
        { CBX_SPEC_PIP, "{\"version\": \"2\", \"install\": []}" },
        { CBX_SPEC_PIP, "{\"version\": \"1\", \"install\": {}}" },
        { CBX_SPEC_PIP, REPORT("{}") },
        { CBX_SPEC_PIP, REPORT(WHEEL("--pre", "1", "true", "")) },
        { CBX_SPEC_PIP, REPORT(WHEEL("a b", "1", "true", "")) },
        { CBX_SPEC_PIP, REPORT(WHEEL("a", "1; rm", "true", "")) },
        { CBX_SPEC_PIP, REPORT(WHEEL("a", "latest", "true", "")) },
        { CBX_SPEC_PIP, REPORT(PIP("a", "1", "a'$(id)'.whl", "\"requested\": true, ", "")) },
        { CBX_SPEC_NPM, "{\"lockfileVersion\": 2, \"packages\": {}}" },
        { CBX_SPEC_NPM,
          "{\"lockfileVersion\": 3, \"packages\": {\"node_modules/a\": {\"version\": \"1.0.0\", "
          "\"resolved\": \"git+ssh://x\"}}}" },
        { CBX_SPEC_NPM,
          "{\"lockfileVersion\": 3, \"packages\": {\"../a\": {\"version\": \"1.0.0\", "
          "\"resolved\": \"https://r.example/a\"}}}" },
        { CBX_SPEC_NPM,
          "{\"lockfileVersion\": 3, \"packages\": {\"node_modules/..\": {\"version\": \"1.0.0\", "
          "\"resolved\": \"https://r.example/a\"}}}" },
        { CBX_SPEC_NPM,
          "{\"lockfileVersion\": 3, \"packages\": {\"node_modules/a\": {\"version\": \"1.0.0\", "
          "\"resolved\": \"https://r.example/a\", \"integrity\": \"sha1-AAAA\"}}}" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cbx_resolved set;
        if (cbx_resolved_read(rows[i].kind, cbx_str_of(rows[i].report), &set, &err) == 0) {
            fail_msg("accepted: %s", rows[i].report);
        }
        assert_int_equal(set.count, 0);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_package_names_who_pulled_it_in),
        cmocka_unit_test(packages_that_others_pull_in_are_judged_too),
        cmocka_unit_test(names_that_others_chose_may_look_like_no_other_name_either),
        cmocka_unit_test(what_would_run_code_and_what_is_not_certain_is_refused),
        cmocka_unit_test(the_canonical_set_depends_on_what_is_installed_alone),
        cmocka_unit_test(lock_files_of_npm_are_read_with_nested_versions),
        cmocka_unit_test(chains_of_npm_follow_the_folders_that_node_searches),
        cmocka_unit_test(optional_packages_for_other_platforms_are_left_out),
        cmocka_unit_test(aliases_of_npm_are_judged_by_the_package_behind_them),
        cmocka_unit_test(packages_of_npm_that_others_ask_for_by_url_are_not_of_the_index),
        cmocka_unit_test(reports_that_no_manager_writes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
