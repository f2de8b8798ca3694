/* SPDX-License-Identifier: MIT
 * pyproject.toml and Pipfile: packages, indexes and commands in the tables of each tool, with their
 * places. */
#include "tests/unit/analyzer/manifest/manifest_rig.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static void requirements_are_judged_in_every_table_that_has_them(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "", "" },
        { "[project]\ndependencies = ['requests>=2.31', \"paramiko\"]", "pkg.blocked 2:36-44" },
        { "[project.optional-dependencies]\nx = [\"numpy==1.20 ; python_version > '3'\"]",
          "pkg.version 2:7-41" },
        { "[dependency-groups]\na = ['reqeusts', {include-group = 'b'}]\nb = []",
          "pkg.look-alike 2:7-15" },
        { "build-system.requires = [\n  # why\n  'x @ https://example.org/x.whl',\n]",
          "pkg.source 3:4-33" },
        { "[tool.uv]\ndev-dependencies = ['fabric']\noverride-dependencies = ['scapy']",
          "pkg.blocked 2:22-28; pkg.blocked 3:27-32" },
        { "[tool.pdm.dev-dependencies]\nt = ['-e file:///${PROJECT_ROOT}/x', 'fabric']",
          "pkg.blocked 2:39-45" },
        { "[tool.hatch.envs.a]\ndependencies = ['x @ {root:uri}/y', 'fabric']",
          "pkg.blocked 2:38-44" },
        { "[project]\nname = 'Re_qeusts'\n[project.optional-dependencies]\n"
          "all = ['re-qeusts[a]']",
          "" },
        { "[tool.other]\ndependencies = ['paramiko']", "" },
    };
    check("pyproject.toml", cases, COUNT(cases));
}

static void constraints_of_poetry_are_read_in_its_own_syntax(void **state)
{
    (void)state;
#define DEPENDENCIES "[tool.poetry.dependencies]\n"
    static const struct expected cases[] = {
        { DEPENDENCIES "python = '^3.10'\nnumpy = '^1.26'\npandas = '*'\nx = '~1'", "" },
        { DEPENDENCIES "numpy = '^1.20'", "" }, /* the newest 1.x is taken */
        { DEPENDENCIES "numpy = '^0.9'", "pkg.version 2:1-14" },
        { DEPENDENCIES "numpy = {version = '~1.21', extras = ['x']}", "pkg.version 2:1-44" },
        { DEPENDENCIES "numpy = [{version = '>=1.26', python = '3'}, {version = '1.20'}]",
          "pkg.version 2:1-65" },
        { DEPENDENCIES "a = {git = 'https://example.org/a.git', branch = 'x'}",
          "pkg.source 2:1-54" },
        { DEPENDENCIES "a = {git = 'ssh://git@example.org/a.git'}", "pkg.source 2:1-42" },
        { DEPENDENCIES "a = {url = 'https://example.org/a.whl'}", "pkg.source 2:1-40" },
        { DEPENDENCIES "a = {path = '../a', develop = true}", "" },
        { "[tool.poetry.group.x.dependencies.fabric2]\nversion = '^4'", "pkg.blocked 1:35-42" },
        { "[tool.poetry.dev-dependencies]\n'fabric2' = '*'", "pkg.blocked 2:1-15" },
    };
    check("pyproject.toml", cases, COUNT(cases));
}

static void indexes_are_the_policys_or_the_public_one(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "[[tool.poetry.source]]\nname = 'a'\nurl = 'https://pypi"
          ".org/simple/'",
          "" },
        { "[[tool.poetry.source]]\nname = 'PyPI'\npriority = 'primary'", "" },
        { "[[tool.poetry.source]]\nurl = 'https://example.org/simple'", "pkg.source 2:8-34" },
        { "[[tool.poetry.source]]\nurl = 'http://pypi"
          ".org/simple'",
          "pkg.source 2:8-30" },
        { "[[tool.poetry.source]]\nurl = 'https://pypi"
          ".org.example.org/'",
          "pkg.source 2:8-37" },
        { "[[tool.poetry.source]]\nurl = 'https://xpypi"
          ".org/'",
          "pkg.source 2:8-26" },
        { "[[tool.uv.index]]\nurl = 'https://a'\n[[tool.uv.index]]\nurl = 'https://pypi"
          ".org'",
          "pkg.source 2:8-17" },
        { "[tool.uv]\nextra-index-url = ['https://example.org/simple']", "pkg.source 2:21-47" },
        { "[tool.uv.sources]\na = {git = 'https://example.org/a'}\nb = {workspace = true}\n"
          "c = [{index = 'x'}, {url = 'https://example.org/c.whl'}]",
          "pkg.source 2:1-36; pkg.source 4:1-57" },
    };
    check("pyproject.toml", cases, COUNT(cases));
}

static void commands_are_pieces_of_shell_code(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "[tool.pdm.scripts]\na = 'x y'\nb = {shell = \"p \\\"q\\\"\"}\nc = {call = 'm:f'}\n"
          "d = {composite = ['e']}",
          "shell<x y>2:8shell<p \"q\">3:20shell<e>5:20" },
        { "[tool.hatch.envs.default.scripts]\na = ['x', \"y\"]", "shell<x>2:7shell<y>2:12" },
        { "[tool.taskipy.tasks]\na = '''\nx\n  y'''", "shell<x\n  y>4:3" },
        { "[tool.poe.tasks]\na.shell = \"\"\"\nx \\\n    \\u0079 z\"\"\"", "shell<x y z>4:12" },
        { "[project.scripts]\na = 'x:y'", "" },
    };
    check_pieces("pyproject.toml", cases, COUNT(cases));
}

static void what_is_not_understood_is_an_error_with_its_place(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "a = ", "line 1, column 4: no TOML" },
        { "a = 'b' c", "line 1, column 1: no TOML" },
        { "[a]\nx = 1\n[a.x]", "line 3, column 4: this key is no table above" },
        { "a = 1\n[[a]]", "line 2, column 3: this key is no list of tables above" },
        { "project = 1",
          "line 1, column 1: 'project' is a value that is no text, allowed is a table" },
        { "[project]\ndependencies = {}",
          "line 2, column 1: 'dependencies' is a table, allowed is a list" },
        { "[project]\ndependencies = [1]",
          "line 2, column 17: a value that is no text stands here, allowed is a requirement" },
        { "[dependency-groups]\na = [{x = 1}]",
          "line 2, column 6: a table stands here, allowed is a requirement or {include-group = "
          "NAME}" },
        { "[tool.poetry.dependencies]\na = 1",
          "line 2, column 1: a value that is no text stands here, allowed is a constraint or a "
          "table" },
    };
    check("pyproject.toml", cases, COUNT(cases));
}

static void every_table_of_a_pipfile_but_the_known_ones_has_packages(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "[[source]]\nurl = 'https://pypi"
          ".org/simple'\nverify_ssl = true\nname = 'pypi'\n"
          "[packages]\nrequests = '*'\n[requires]\npython_version = '3.12'",
          "" },
        { "[[source]]\nurl = 'https://example.org/simple'", "pkg.source 2:8-34" },
        { "[dev-packages]\nparamiko = '*'\n[docs]\nscapy = {version = '==1'}",
          "pkg.blocked 2:1-14; pkg.blocked 4:1-26" },
        { "[packages]\nnumpy = '==1.20.0'\na = {path = '.', editable = true}",
          "pkg.version 2:1-18" },
        { "[packages]\na = {git = 'https://example.org/a.git', ref = 'x'}\n"
          "b = {file = 'https://example.org/b.whl'}",
          "pkg.source 2:1-51; pkg.source 3:1-41" },
    };
    check("Pipfile", cases, COUNT(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requirements_are_judged_in_every_table_that_has_them),
        cmocka_unit_test(constraints_of_poetry_are_read_in_its_own_syntax),
        cmocka_unit_test(indexes_are_the_policys_or_the_public_one),
        cmocka_unit_test(commands_are_pieces_of_shell_code),
        cmocka_unit_test(what_is_not_understood_is_an_error_with_its_place),
        cmocka_unit_test(every_table_of_a_pipfile_but_the_known_ones_has_packages),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
