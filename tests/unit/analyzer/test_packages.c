/* SPDX-License-Identifier: MIT
 * Installs of packages, in every spelling, against what the policy says of packages. */
#include "analyzer/analyze.h"
#include "tests/unit/unit.h"

static const char text[] =
    "version: 1\nname: x\nlanguages: [python, javascript, shell]\n"
    "shell: {allow: [\"*\"]}\n"
    "packages:\n"
    "  pip: {mode: blocklist, block: [paramiko, \"scapy*\"], minimum: {numpy: 1.22.2}, sources: "
    "[index], indexes: [default, \"https://pypi.example.org/\"]}\n"
    "  npm: {mode: allowlist, allow: [lodash, \"@types/*\"], minimum: {lodash: 4.17.21}, sources: "
    "[index], indexes: [default]}\n"
    "rules:\n"
    "  - {id: blocked, match: {fact: package-blocked}}\n"
    "  - {id: unlisted, match: {fact: package-not-listed}}\n"
    "  - {id: below, match: {fact: package-below-minimum}}\n"
    "  - {id: source, match: {fact: package-source}}\n"
    "  - {id: unresolved, match: {fact: package-unresolved}}\n"
    "  - {id: magic, match: {fact: magic-not-listed}}\n";

/* The first rule that a cell meets, or "". */
static const char *first_rule(const struct cbx_policy *policy, const char *cell)
{
    static char id[65];
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_analysis request = { .source = cbx_str_of(cell), .language = CBX_STR("ipython") };
    struct cbx_decision decision;
    struct cbx_err err;
    assert_int_equal(cbx_analyze(policy, &request, &arena, &decision, &err), 0);
    snprintf(id, sizeof(id), "%.*s",
             decision.finding_count > 0 ? (int)decision.findings[0].rule->id.len : 0,
             decision.finding_count > 0 ? decision.findings[0].rule->id.p : "");
    return id;
}

struct install {
    const char *cell, *rule;
};

static void check(const struct install *cases, size_t count)
{
    CBX_AUTO(policy) policy = NULL;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_policy_parse(cbx_str_of(text), "mine", &policy, &err), 0);
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        const char *rule = first_rule(policy, cases[i].cell);
        if (strcmp(rule, cases[i].rule) != 0) {
            print_error("%s: '%s', expected '%s'\n", cases[i].cell, rule, cases[i].rule);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}
#define CHECK(cases) check(cases, sizeof(cases) / sizeof(cases[0]))

static void reads_every_spelling_of_an_install(void **state)
{
    (void)state;
    static const struct install cases[] = {
        { "!pip install paramiko", "blocked" },
        { "!pip3 install paramiko", "blocked" },
        { "!pip3.12 install paramiko", "blocked" },
        { "%pip install paramiko", "blocked" },
        { "%pip --quiet install paramiko", "blocked" },
        { "x = !pip install paramiko", "blocked" },
        { "!!pip install paramiko", "blocked" },
        { "%%bash\npip install paramiko\n", "blocked" },
        { "%system pip install paramiko", "blocked" },
        { "!python -m pip install paramiko", "blocked" },
        { "!python3 -m pip install -q paramiko", "blocked" },
        { "!pip install -U numpy paramiko", "blocked" },
        { "!pip install Paramiko", "blocked" },
        { "!pip install 'paramiko[all]>=2'", "blocked" },
        { "!pip install \"paramiko\"", "blocked" },
        { "!pip download paramiko", "blocked" },
        { "!pip wheel paramiko", "blocked" },
        { "!pip install scapy-ssl", "blocked" },
        { "%conda install paramiko", "blocked" },
        { "!conda install -c defaults -y paramiko", "blocked" },
        { "!mamba install paramiko", "blocked" },
        { "!micromamba install paramiko", "blocked" },
        { "!uv pip install paramiko", "blocked" },
        { "!uv add paramiko", "blocked" },
        { "!pipx install paramiko", "blocked" },
        { "!poetry add paramiko", "blocked" },
        { "!easy_install paramiko", "blocked" },
        { "!ls && pip install paramiko", "blocked" },
        { "!echo $(pip install paramiko)", "blocked" },
        { "!pip install requests", "" },
        { "!pip list", "" },
        { "!pip install --upgrade pip setuptools", "" },
    };
    CHECK(cases);
}

static void asks_whether_a_version_could_be_too_old(void **state)
{
    (void)state;
    static const struct install cases[] = {
        { "!pip install numpy", "" },
        { "!pip install numpy==1.22.2", "" },
        { "!pip install numpy==1.22.10", "" },
        { "!pip install numpy==1.21.0", "below" },
        { "!pip install 'numpy<1.22'", "below" },
        { "!pip install 'numpy>=1.20,<1.22'", "below" },
        { "!pip install 'numpy >= 1.20'", "" },
        { "!pip install numpy~=1.21.0", "below" },
        { "!pip install NumPy==1.9", "below" },
        { "!pip install 'numpy==1.21.0; python_version > \"3\"'", "below" },
        { "!pip install numpy==banana", "below" },
    };
    CHECK(cases);
}

static void looks_at_where_packages_come_from(void **state)
{
    (void)state;
    static const struct install cases[] = {
        { "!pip install git+https://example.org/x.git", "source" },
        { "!pip install https://example.org/x.whl", "source" },
        { "!pip install 'x @ https://example.org/x.whl'", "source" },
        { "!pip install ./x", "source" },
        { "!pip install .", "source" },
        { "!pip install x.whl", "source" },
        { "!pip install -e .", "source" },
        { "!pip install -r requirements.txt", "source" },
        { "!pip install -rrequirements.txt", "source" },
        { "!pip install --requirement=requirements.txt", "source" },
        { "!pip install -qr requirements.txt", "source" },
        { "!pip install -qUrrequirements.txt", "source" },
        { "!pip install -c constraints.txt requests", "source" },
        { "!pip install --index-url https://evil.example/simple requests", "source" },
        { "!pip install --index-url=https://evil.example/simple requests", "source" },
        { "!pip install -i https://evil.example/simple requests", "source" },
        { "!pip install -qi https://evil.example/simple requests", "source" },
        { "!pip install --extra-index-url https://evil.example/ requests", "source" },
        { "!pip install -f https://evil.example/ requests", "source" },
        { "!pip install --trusted-host evil.example requests", "source" },
        { "!pip install -i https://pypi.example.org/simple requests", "" },
        { "!pip install -qU requests", "" },
        { "!pip install --target /tmp/x requests", "" },
    };
    CHECK(cases);
}

static void refuses_names_that_are_computed(void **state)
{
    (void)state;
    static const struct install cases[] = {
        { "!pip install $NAME", "unresolved" },    { "!pip install {name}", "unresolved" },
        { "!pip install $(cat x)", "unresolved" }, { "!pip install `cat x`", "unresolved" },
        { "!pip install par$x", "unresolved" },
    };
    CHECK(cases);
}

static void reads_installs_of_node_packages(void **state)
{
    (void)state;
    static const struct install cases[] = {
        { "!npm install lodash", "" },
        { "!npm i lodash@latest", "" },
        { "!npm i @types/node", "" },
        { "!npm i @types/node@18", "" },
        { "!npm install express", "unlisted" },
        { "!npm i -g express", "unlisted" },
        { "!npm add express", "unlisted" },
        { "!yarn add express", "unlisted" },
        { "!pnpm add express", "unlisted" },
        { "!npx cowsay", "unlisted" },
        { "!npm exec cowsay", "unlisted" },
        { "!npm i user/repo", "source" },
        { "!npm i github:user/repo", "source" },
        { "!npm i https://example.org/x.tgz", "source" },
        { "!npm i ./x", "source" },
        { "!npm i --registry https://evil.example/ lodash", "source" },
        { "!npm i $X", "unresolved" },
        /* which versions a range lets in at most */
        { "!npm i lodash@4.17.21", "" },
        { "!npm i lodash@4.17.20", "below" },
        { "!npm i lodash@v3.10.1", "below" },
        { "!npm i lodash@=3.10.1", "below" },
        { "!npm i lodash@^4.0.0", "" },
        { "!npm i lodash@^3.0.0", "below" },
        { "!npm i lodash@~4.16.0", "below" },
        { "!npm i lodash@~4.17.0", "" },
        { "!npm i lodash@4", "" },
        { "!npm i lodash@4.x", "" },
        { "!npm i lodash@3", "below" },
        { "!npm i lodash@3.x", "below" },
        { "!npm i 'lodash@<4'", "below" },
        { "!npm i 'lodash@>=3 <4'", "below" },
        { "!npm i 'lodash@>=3'", "" },
        { "!npm i 'lodash@1.0.0 - 2.0.0'", "below" },
        { "!npm i 'lodash@^3 || ^4'", "" },
        { "!npm i 'lodash@^2 || ^3'", "below" },
        { "!npm i 'lodash@*'", "" },
        { "!npm i lodash@next", "below" }, /* a tag may be anything */
    };
    CHECK(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_spelling_of_an_install),
        cmocka_unit_test(asks_whether_a_version_could_be_too_old),
        cmocka_unit_test(looks_at_where_packages_come_from),
        cmocka_unit_test(refuses_names_that_are_computed),
        cmocka_unit_test(reads_installs_of_node_packages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
