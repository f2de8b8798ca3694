/* SPDX-License-Identifier: MIT
 * Lock files: each package by its name, version and source, at its place. */
#include "tests/unit/analyzer/manifest/manifest_rig.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static void package_lock_of_each_version(void **state)
{
    (void)state;
#define V3 "{\"lockfileVersion\": 3, \"packages\": {\"\": {\"name\": \"crossenv\"},\n"
    static const struct expected cases[] = {
        { V3 "\"node_modules/a\": {\"version\": \"1.0.0\"}}}", "" },
        { V3 "\"node_modules/a/node_modules/crossenv\": {\"version\": \"1.0.0\"}}}",
          "pkg.look-alike 2:1-39" },
        { V3 "\"node_modules/a\": {\"name\": \"vm2\", \"version\": \"1.0.0\"}}}",
          "pkg.blocked 2:1-17" },
        { V3 "\"members/crossenv\": {}, \"node_modules/crossenv\": {\"link\": true}}}", "" },
        { V3 "\"node_modules/a\": {\"version\": \"1.0.0\",\n\"resolved\": "
             "\"https://x.yarnpkg"
             ".com/a.tgz\"}}}",
          "" },
        { V3 "\"node_modules/a\": {\"version\": \"1.0.0\",\n\"resolved\": "
             "\"https://example.org/a.tgz\"}}}",
          "pkg.source 3:14-39" },
        { V3 "\"node_modules/a\": {\"version\": \"1.0.0\",\n\"resolved\": "
             "\"http://x.yarnpkg"
             ".com/a.tgz\"}}}",
          "pkg.source 3:14-40" },
        { V3 "\"node_modules/a\": {\"version\": \"1.0.0\",\n\"resolved\": "
             "\"git+ssh://git@example.org/a.git#1\"}}}",
          "pkg.source 2:1-17" },
        { V3 "\"node_modules/a\": {\"resolved\": \"file:../a\"}}}", "" },
        { "{\"dependencies\": {\"a\": {\"version\": \"1.0.0\", \"dependencies\":\n"
          "{\"crossenv\": {\"version\": \"1.0.0\"}}}}}",
          "pkg.look-alike 2:2-12" },
        { "{\"dependencies\": {\"a\": {\"version\": \"npm:vm2@1.0.0\"}}}", "pkg.blocked 1:19-22" },
        { V3 "\"node_modules/cross-spawn\": {\"version\": \"7.0.3\"}}}",
          "" }, /* block-in-sandboxes */
        { "{\"dependencies\": {\"a\": {\"version\": \"github:x/y#1\"}}}", "pkg.source 1:19-22" },
        { "{\"packages\": []}", "line 1, column 2: 'packages' is a list, allowed is a table" },
        { "{\"packages\": {\"node_modules/a\": 1}}",
          "line 1, column 15: a package that is no table" },
        { "[]", "it is no JSON object" },
    };
    check("package-lock.json", cases, COUNT(cases));
}

static void yarn_lock_of_yarn_1(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "# yarn lockfile v1\n\n\na@^1.0.0, a@^1.1:\n  version \"1.1.0\"\n  resolved "
          "\"https://x.yarnpkg"
          ".com/a.tgz#0\"\n  dependencies:\n    crossenv \"1\"\n",
          "" },
        { "\"@a/b@1\":\n  version \"1.0.0\"\n\ncrossenv@~1:\n  version \"1.0.0\"\n",
          "pkg.look-alike 4:1-12" },
        { "a@npm:vm2@^1:\n  version \"1.0.0\"\n", "pkg.blocked 1:1-13" },
        { "a@^1:\n  version \"1.0.0\"\n  resolved \"https://example.org/a.tgz#0\"\n",
          "pkg.source 3:13-40" },
        { "\"a@git+https://example.org/a.git\":\n  version \"1.0.0\"\n  resolved "
          "\"git+https://example.org/a.git#0\"\n",
          "pkg.source 1:2-33" },
        { "a@^1\n", "line 1, column 5: no entry of a lock file of yarn" },
        { "  version \"1\"\n", "line 1, column 3: an indented line outside of an entry" },
        { "a@1:\n  resolved \"x\"\n", "line 1, column 1: an entry without a version" },
        { "a@1:\n version \"1\"\n",
          "line 2, column 2: a line of a depth that lock files of yarn do not have" },
        { "a@1:\n  version \"1\" 2\n", "line 2, column 14: no field of a lock file of yarn" },
    };
    check("yarn.lock", cases, COUNT(cases));
}

static void yarn_lock_of_newer_yarn(void **state)
{
    (void)state;
#define BERRY "__metadata:\n  version: 8\n\n"
    static const struct expected cases[] = {
        { BERRY "\"a@npm:^1, a@npm:^2\":\n  version: 2.0.0\n  resolution: \"a@npm:2.0.0\"\n"
                "  linkType: hard\n",
          "" },
        { BERRY "\"x@npm:crossenv@1\":\n  version: 1\n  resolution: \"crossenv@npm:1.0.0\"\n",
          "pkg.look-alike 4:2-18" },
        { BERRY "\"crossenv@workspace:.\":\n  version: 0\n  resolution: "
                "\"crossenv@workspace:.\"\n",
          "" },
        { BERRY "\"a@patch:a@1\":\n  version: 1.0.0\n  resolution: "
                "\"a@patch:a@npm%3A1.0.0#x\"\n",
          "" },
        { BERRY "\"a@1\":\n  version: 1.0.0\n  resolution: "
                "\"a@npm:1.0.0::__archiveUrl=https%3A%2F%2Fexample.org%2Fa.tgz\"\n",
          "pkg.source 4:2-5" },
        { BERRY "\"a@1\":\n  version: 1.0.0\n  resolution: "
                "\"a@npm:1.0.0::__archiveUrl=https%3A%2F%2Fx.yarnpkg"
                ".com%2Fa.tgz\"\n",
          "" },
        { BERRY "\"a@1\":\n  resolution: \"a@https://example.org/a.git#commit=1\"\n",
          "pkg.source 4:2-5" },
        { BERRY "\"a@1\":\n  version: 1\n", "line 4, column 2: a package without a resolution" },
        { BERRY "a: [\n", "line 5, column 1: did not find expected node content" },
    };
    check("yarn.lock", cases, COUNT(cases));
}

static void pnpm_lock_of_each_version(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "lockfileVersion: '9.0'\npackages:\n\n  a@1.0.0:\n    resolution: {integrity: x}\n", "" },
        { "packages:\n  crossenv@1.0.0(x@1):\n    resolution: {integrity: x}\n",
          "pkg.look-alike 2:3-22" },
        { "packages:\n  /vm2@1.0.0:\n    resolution: {integrity: x}\n", "pkg.blocked 2:3-13" },
        { "packages:\n  /vm2/1.0.0_x@1:\n    resolution: {integrity: x}\n", "pkg.blocked 2:3-17" },
        { "packages:\n  /@a/b/1.0.0:\n    resolution: {integrity: x}\n", "" },
        { "packages:\n  a@1.0.0:\n    resolution: {tarball: https://example.org/a.tgz}\n",
          "pkg.source 3:27-52" },
        { "packages:\n  a@https://example.org/a.tgz:\n    resolution: {tarball: "
          "https://example.org/a.tgz}\n    version: 1.0.0\n",
          "pkg.source 2:3-30" },
        { "packages:\n  example.org/x/a/1:\n    resolution: {type: git, repo: "
          "https://example.org/x/a, commit: '1'}\n    name: a\n    version: 1.0.0\n",
          "pkg.source 2:3-20" },
        { "packages:\n  file:../crossenv:\n    resolution: {directory: ../crossenv, type: "
          "directory}\n    name: crossenv\n",
          "" },
        { "packages: [a]\n", "line 1, column 1: 'packages' is a list, allowed is a table" },
    };
    check("pnpm-lock.yaml", cases, COUNT(cases));
}

static void bun_lock_with_comments_and_trailing_commas(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "{\n  \"lockfileVersion\": 1,\n  \"packages\": {\n    \"a\": [\"a@1.0.0\", \"\", {}, "
          "\"sha512-x\"],\n  }, // end\n}\n",
          "" },
        { "{\"packages\": {\n\"crossenv\": [\"crossenv@1.0.0\", \"\", {}, \"x\"],\n},}",
          "pkg.look-alike 2:15-29" },
        { "{\"packages\": {\n/* \"a\": [\"vm2@1\"] */ \"x/a\": [\"vm2@1.0.0\", \"\", {},],}}",
          "pkg.blocked 2:31-40" },
        { "{\"packages\": {\n\"@s/a\": [\"@s/a@1.0.0\", "
          "\"https://registry.npmjs"
          ".org/@s/a/-/a-1.0.0.tgz\", {}, \"x\"]}}",
          "" },
        { "{\"packages\": {\n\"a\": [\"a@1.0.0\", \"https://example.org/a.tgz\", {}, \"x\"]}}",
          "pkg.source 2:19-44" },
        { "{\"packages\": {\n\"a\": [\"a@https://example.org/a.tgz\", {}, \"x\"]}}",
          "pkg.source 2:8-35" },
        { "{\"packages\": {\n\"a\": [\"a@github:b/a#1\", {}, \"b-a-1\"],\n"
          "\"c\": [\"c@git+ssh://git@example.org/c#1\", {}, \"1\"]}}",
          "pkg.source 2:8-22; pkg.source 3:8-39" },
        { "{\"packages\": {\"a\": [\"a@workspace:packages/a\"], \"b\": [\"b@file:../b\", {}], "
          "\"c\": "
          "[\"c@link:../c\", {}], \"d\": [\"d@root:\", {}]}}",
          "" },
        { "{\"packages\": {\"a\": [1]}}",
          "line 1, column 15: a package that is no list with its name" },
        { "{\"packages\": {\"a\": [\"a\"]}}", "line 1, column 22: a package without a version" },
        { "{\"packages\": [,]}", "line 1, column 15: not valid JSON: unexpected token near ','" },
        { "[] // no object", "it is no JSON object" },
    };
    check("bun.lock", cases, COUNT(cases));
}

static void uv_lock_with_the_files_of_its_packages(void **state)
{
    (void)state;
#define PACKAGE "[[package]]\nname = \"a\"\nversion = \"1\"\n"
#define PYPI                                                                                       \
    "source = { registry = \"https://pypi"                                                         \
    ".org/simple\" }\n"
    static const struct expected cases[] = {
        { PACKAGE PYPI "sdist = { url = \"https://files.pythonhosted"
                       ".org/a.tar.gz\" }\n",
          "" },
        { PACKAGE PYPI "wheels = [\n  { url = \"https://example.org/a.whl\" },\n]\n",
          "pkg.source 6:12-37" },
        { PACKAGE "source = { registry = \"https://example.org/s\" }\n"
                  "sdist = { url = \"https://example.org/a.tar.gz\" }\n" PACKAGE
                  "source = { registry = \"https://example.org/s\" }\n",
          "pkg.source 4:24-45" },
        { PACKAGE "source = { git = \"https://example.org/a\" }\n", "pkg.source 2:9-10" },
        { PACKAGE "source = { url = \"https://example.org/a.whl\" }\n", "pkg.source 2:9-10" },
        { "[[package]]\nname = \"reqeusts\"\nsource = { virtual = \".\" }\n", "" },
        { "[[package]]\nname = \"numpy\"\nversion = \"1.20.0\"\n" PYPI, "pkg.version 2:9-14" },
        { "[[package]]\nversion = \"1\"\n", "line 1, column 1: a package without a name" },
        { "package = 1\n", "line 1, column 1: 'package' is a value that is no text, allowed is a "
                           "list" },
    };
    check("uv.lock", cases, COUNT(cases));
}

static void pylock_of_pep_751(void **state)
{
    (void)state;
#define LOCKED "lock-version = \"1.0\"\n[[packages]]\nname = \"a\"\n"
    static const struct expected cases[] = {
        { LOCKED "version = \"1\"\nindex = \"https://pypi"
                 ".org/simple\"\nwheels = [{ url = \"https://files.pythonhosted"
                 ".org/a-1-py3-none-any.whl\", hashes = { sha256 = \"0\" } }]\n",
          "" },
        { "lock-version = \"1.0\"\n[[packages]]\nname = \"paramiko\"\nversion = \"3\"\n",
          "pkg.blocked 3:9-17" },
        { "[[packages]]\nname = \"reqeusts\"\nversion = \"1\"\n", "pkg.look-alike 2:9-17" },
        { LOCKED "version = \"1\"\nindex = \"https://example.org/s\"\n", "pkg.source 5:10-31" },
        { LOCKED "version = \"1\"\nwheels = [{ url = \"https://example.org/a-1.whl\" }]\n",
          "pkg.source 5:20-47" },
        { LOCKED "vcs = { type = \"git\", url = \"https://example.org/a\", commit-id = \"1\" }\n",
          "pkg.source 3:9-10" },
        { LOCKED "[packages.archive]\nurl = \"https://example.org/a.zip\"\n", "pkg.source 3:9-10" },
        { LOCKED "directory = { path = \".\", editable = true }\n", "" },
        { LOCKED "archive = { path = \"a.zip\" }\n", "" },
    };
    check("pylock.toml", cases, COUNT(cases));
    check("pylock.dev.toml", cases, COUNT(cases));
}

static void lock_files_of_other_tools_of_python(void **state)
{
    (void)state;
    static const struct expected poetry[] = {
        { "[[package]]\nname = \"paramiko\"\nversion = \"3\"\n", "pkg.blocked 2:9-17" },
        { PACKAGE "[package.source]\ntype = \"git\"\nurl = \"https://example.org/a\"\n",
          "pkg.source 2:9-10" },
        { PACKAGE "[package.source]\ntype = \"legacy\"\nurl = \"https://example.org/s\"\n",
          "pkg.source 6:8-29" },
        { PACKAGE "[package.source]\ntype = \"directory\"\nurl = \"../a\"\n", "" },
    };
    static const struct expected pipenv[] = {
        { "{\"_meta\": {\"sources\": [{\"url\": \"https://example.org/s\"}]}, \"default\": "
          "{\"a\": {\"version\": \"==1\"}}}",
          "pkg.source 1:33-54" },
        { "{\"default\": {\"numpy\": {\"version\": \"==1.20.0\"}},\n\"develop\": {\"scapy\": {}}}",
          "pkg.version 1:14-21; pkg.blocked 2:13-20" },
        { "{\"default\": {\"a\": {\"git\": \"https://example.org/a\", \"ref\": \"1\"},\n"
          "\"b\": {\"path\": \".\", \"editable\": true}}}",
          "pkg.source 1:14-17" },
    };
    static const struct expected pdm[] = {
        { PACKAGE "[[package]]\nname = \"a\"\ngit = \"https://example.org/a\"\n",
          "pkg.source 5:9-10" },
    };
    check("poetry.lock", poetry, COUNT(poetry));
    check("Pipfile.lock", pipenv, COUNT(pipenv));
    check("pdm.lock", pdm, COUNT(pdm));
}

/* Judges with the test's policy instead of the preset. */
static void check_under(const char *text, const char *name, const struct expected *cases,
                        size_t count)
{
    struct cbx_err err;
    struct cbx_policy *preset = policy;
    assert_int_equal(cbx_policy_parse(cbx_str_of(text), "mine", &policy, &err), 0);
    check(name, cases, count);
    cbx_policy_free(policy);
    policy = preset;
}

#define RULE                                                                                       \
    "version: 1\nname: x\nlanguages: [python]\nrules: [{id: p, match: {fact: [package-blocked, "   \
    "package-not-listed]}}]\npackages: {pip: {sources: [index], indexes: [default], "

static void allow_lists_are_for_what_the_project_asks_for(void **state)
{
    (void)state;
    static const struct expected locks[] = { { PACKAGE, "" } };
    static const struct expected asked[] = { { "[project]\ndependencies = ['a']", "p 2:18-19" } };
    check_under(RULE "mode: allowlist, allow: [b], transitive: true}}\n", "uv.lock", locks, 1);
    check_under(RULE "mode: allowlist, allow: [b]}}\n", "pyproject.toml", asked, 1);
}

static void what_others_ask_for_is_judged_by_name_where_the_policy_has_transitive(void **state)
{
    (void)state;
    static const struct expected judged[] = { { PACKAGE, "p 2:9-10" } },
                                 not [] = { { PACKAGE, "" } };
    check_under(RULE "mode: blocklist, block: [a], transitive: true}}\n", "uv.lock", judged, 1);
    check_under(RULE "mode: blocklist, block: [a]}}\n", "uv.lock", not, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(package_lock_of_each_version),
        cmocka_unit_test(yarn_lock_of_yarn_1),
        cmocka_unit_test(yarn_lock_of_newer_yarn),
        cmocka_unit_test(pnpm_lock_of_each_version),
        cmocka_unit_test(bun_lock_with_comments_and_trailing_commas),
        cmocka_unit_test(uv_lock_with_the_files_of_its_packages),
        cmocka_unit_test(pylock_of_pep_751),
        cmocka_unit_test(lock_files_of_other_tools_of_python),
        cmocka_unit_test(allow_lists_are_for_what_the_project_asks_for),
        cmocka_unit_test(what_others_ask_for_is_judged_by_name_where_the_policy_has_transitive),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
