/* SPDX-License-Identifier: MIT
 * Parsing words of installs, by package manager. */
#include "analyzer/packages/spec.h"
#include "tests/unit/unit.h"

struct example {
    const char *word, *name, *version;
    enum cbx_origin origin;
    const char *flags; /* p pinned, m malformed, n never */
    const char *channel;
};

static void check(enum cbx_spec_kind kind, const struct example *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct cbx_spec s;
        cbx_spec_read(kind, cbx_str_of(cases[i].word), &s);
        const char *flags = cases[i].flags != NULL ? cases[i].flags : "";
        const char *channel = cases[i].channel != NULL ? cases[i].channel : "";
        if (!cbx_str_is(s.name, cases[i].name) || !cbx_str_is(s.version, cases[i].version) ||
            s.origin != cases[i].origin || s.pinned != (strchr(flags, 'p') != NULL) ||
            s.malformed != (strchr(flags, 'm') != NULL) ||
            s.never != (strchr(flags, 'n') != NULL) || !cbx_str_is(s.channel, channel)) {
            fail_msg("'%s': name '%.*s' version '%.*s' origin %d%s%s%s channel '%.*s'",
                     cases[i].word, CBX_STR_ARG(s.name), CBX_STR_ARG(s.version), s.origin,
                     s.pinned ? " pinned" : "", s.malformed ? " malformed" : "",
                     s.never ? " never" : "", CBX_STR_ARG(s.channel));
        }
    }
}
#define CHECK(kind, cases) check(kind, cases, sizeof(cases) / sizeof(cases[0]))

static void reads_requirements_of_pip(void **state)
{
    (void)state;
    static const struct example cases[] = {
        { "requests[security]==2.0", "requests", "==2.0", CBX_FROM_INDEX, NULL, NULL },
        { "x; os_name == 'nt'", "x", "", CBX_FROM_INDEX, "n", NULL },
        { "x,", "x", ",", CBX_FROM_INDEX, "m", NULL },
        { "x=1", "x", "=1", CBX_FROM_INDEX, "m", NULL },
        { "x @ https://h/x-1.2-py3-none-any.whl", "x", "1.2", CBX_FROM_URL, "p", NULL },
        { "x@https://h/y.git", "x", "", CBX_FROM_URL, NULL, NULL },
        { "x @ git+https://h/y", "x", "", CBX_FROM_VCS, NULL, NULL },
        { "x @ file:///y", "x", "", CBX_FROM_PATH, NULL, NULL },
        { "git+https://h/y.git#egg=x&subdirectory=z", "x", "", CBX_FROM_VCS, NULL, NULL },
        { "git+ssh://git@h/y.git@v1", "", "", CBX_FROM_VCS, NULL, NULL },
        { "https://h/x_y-1.0.tar.gz#sha256=0", "x_y", "1.0", CBX_FROM_URL, "p", NULL },
        { "https://h/main.zip", "", "", CBX_FROM_URL, NULL, NULL },
        { "./x", "", "", CBX_FROM_PATH, NULL, NULL },
        { ".", "", "", CBX_FROM_PATH, NULL, NULL },
        { ".[dev]", "", "", CBX_FROM_PATH, NULL, NULL },
        { "~/x", "", "", CBX_FROM_PATH, NULL, NULL },
        { "dist/x-2.0-py3-none-any.whl", "x", "2.0", CBX_FROM_PATH, "p", NULL },
        { "x-2.0-py3-none-any.whl", "x", "2.0", CBX_FROM_PATH, "p", NULL },
        { "file:x", "", "", CBX_FROM_PATH, NULL, NULL },
        { "x@1.2", "x", "", CBX_FROM_PATH, NULL, NULL },
    };
    CHECK(CBX_SPEC_PIP, cases);
}

static void reads_constraints_of_projects(void **state)
{
    (void)state;
    static const struct example cases[] = {
        { "x", "x", "", CBX_FROM_INDEX, NULL, NULL },
        { "x>=1", "x", ">=1", CBX_FROM_INDEX, NULL, NULL },
        { "x@^1.2", "x", "^1.2", CBX_FROM_INDEX, NULL, NULL },
        { "x@1.2", "x", "1.2", CBX_FROM_INDEX, "p", NULL },
        { "x@1.*", "x", "1.*", CBX_FROM_INDEX, NULL, NULL },
        { "x[a]@latest", "x", "latest", CBX_FROM_INDEX, NULL, NULL },
        { "x@git+https://h/y", "x", "", CBX_FROM_VCS, NULL, NULL },
        { "git+https://h/y@v1", "", "", CBX_FROM_VCS, NULL, NULL },
    };
    CHECK(CBX_SPEC_PROJECT, cases);
}

static void reads_match_specs_of_conda(void **state)
{
    (void)state;
    static const struct example cases[] = {
        { "numpy", "numpy", "", CBX_FROM_INDEX, NULL, NULL },
        { "numpy=1.2", "numpy", "=1.2", CBX_FROM_INDEX, NULL, NULL },
        { "numpy==1.2", "numpy", "==1.2", CBX_FROM_INDEX, NULL, NULL },
        { "numpy>=1.2,<2", "numpy", ">=1.2,<2", CBX_FROM_INDEX, NULL, NULL },
        { "numpy=1.2=py39_0", "numpy", "1.2", CBX_FROM_INDEX, "p", NULL },
        { "numpy 1.2 py39_0", "numpy", "1.2", CBX_FROM_INDEX, NULL, NULL },
        { "numpy 1.2.*", "numpy", "1.2.*", CBX_FROM_INDEX, NULL, NULL },
        { "conda-forge::numpy=1.2", "numpy", "=1.2", CBX_FROM_INDEX, NULL, "conda-forge" },
        { "conda-forge/linux-64::numpy", "numpy", "", CBX_FROM_INDEX, NULL,
          "conda-forge/linux-64" },
        { "numpy[version='>=1.2,<2']", "numpy", ">=1.2,<2", CBX_FROM_INDEX, NULL, NULL },
        { "numpy[channel=evil,version=\"1.2\"]", "numpy", "1.2", CBX_FROM_INDEX, NULL, "evil" },
        { "numpy[version=1.2", "numpy", "1.2", CBX_FROM_INDEX, "m", NULL },
        { "https://h/x-1.tar.bz2", "", "", CBX_FROM_URL, NULL, NULL },
        { "./x.conda", "", "", CBX_FROM_PATH, NULL, NULL },
        { "_libgcc_mutex", "_libgcc_mutex", "", CBX_FROM_INDEX, NULL, NULL },
        { "=1", "", "=1", CBX_FROM_INDEX, "m", NULL },
    };
    CHECK(CBX_SPEC_CONDA, cases);
}

static void reads_specifiers_of_npm(void **state)
{
    (void)state;
    static const struct example cases[] = {
        { "x", "x", "", CBX_FROM_INDEX, NULL, NULL },
        { "x@", "x", "", CBX_FROM_INDEX, NULL, NULL },
        { "x@^1.2", "x", "^1.2", CBX_FROM_INDEX, NULL, NULL },
        { "x@>=1 <2", "x", ">=1 <2", CBX_FROM_INDEX, NULL, NULL },
        { "x@next", "x", "next", CBX_FROM_INDEX, NULL, NULL },
        { "@s/x", "@s/x", "", CBX_FROM_INDEX, NULL, NULL },
        { "@s/x@1", "@s/x", "1", CBX_FROM_INDEX, NULL, NULL },
        { "a@npm:b@1", "b", "1", CBX_FROM_INDEX, NULL, NULL },
        { "a@npm:@s/b@1", "@s/b", "1", CBX_FROM_INDEX, NULL, NULL },
        { "npm:b@1", "b", "1", CBX_FROM_INDEX, NULL, NULL },
        { "user/repo", "", "", CBX_FROM_VCS, NULL, NULL },
        { "user/repo#main", "", "", CBX_FROM_VCS, NULL, NULL },
        { "github:user/repo", "", "", CBX_FROM_VCS, NULL, NULL },
        { "gist:0123", "", "", CBX_FROM_VCS, NULL, NULL },
        { "git@github.com:user/repo.git", "", "", CBX_FROM_VCS, NULL, NULL },
        { "git+ssh://git@h/x.git", "", "", CBX_FROM_VCS, NULL, NULL },
        { "https://h/x.git", "", "", CBX_FROM_VCS, NULL, NULL },
        { "https://h/x.tgz", "", "", CBX_FROM_URL, NULL, NULL },
        { "x@https://h/x.tgz", "x", "https://h/x.tgz", CBX_FROM_URL, NULL, NULL },
        { "x@user/repo", "x", "user/repo", CBX_FROM_VCS, NULL, NULL },
        { "x@file:../y", "x", "file:../y", CBX_FROM_PATH, NULL, NULL },
        { "x@workspace:*", "x", "workspace:*", CBX_FROM_PATH, NULL, NULL },
        { "x.tgz", "", "", CBX_FROM_PATH, NULL, NULL },
        { "./x", "", "", CBX_FROM_PATH, NULL, NULL },
        { "..", "", "", CBX_FROM_PATH, NULL, NULL },
        { "/x", "", "", CBX_FROM_PATH, NULL, NULL },
        { "file:x", "", "", CBX_FROM_PATH, NULL, NULL },
        { "jsr:@std/x", "", "", CBX_FROM_URL, NULL, NULL },
        { "x y", "x y", "", CBX_FROM_INDEX, "m", NULL },
        { "@s", "@s", "", CBX_FROM_INDEX, "m", NULL },
        { "_x", "_x", "", CBX_FROM_INDEX, "m", NULL },
    };
    CHECK(CBX_SPEC_NPM, cases);
}

static void asks_in_the_syntax_of_each_manager(void **state)
{
    (void)state;
    static const struct {
        enum cbx_spec_kind kind;
        const char *word, *minimum;
        bool below;
    } cases[] = {
        { CBX_SPEC_PIP, "x==1.1", "1.2", true },
        { CBX_SPEC_PIP, "x>=1.1", "1.2", false },
        { CBX_SPEC_PIP, "x @ https://h/x-1.1-py3-none-any.whl", "1.2", true },
        { CBX_SPEC_PIP, "x @ https://h/x-1.2-py3-none-any.whl", "1.2", false },
        { CBX_SPEC_PIP, "x @ https://h/y", "1.2", true },
        { CBX_SPEC_PROJECT, "x@^1.1", "1.2", false },
        { CBX_SPEC_PROJECT, "x@^1.1", "2", true },
        { CBX_SPEC_PROJECT, "x@~1.1", "1.2", true },
        { CBX_SPEC_PROJECT, "x@~=1.1", "1.2", false },
        { CBX_SPEC_PROJECT, "x@1.1", "1.2", true },
        { CBX_SPEC_PROJECT, "x@1.1.*", "1.2", true },
        { CBX_SPEC_PROJECT, "x@1.*", "1.2", false },
        { CBX_SPEC_PROJECT, "x@latest", "1.2", false },
        { CBX_SPEC_PROJECT, "x<1.2", "1.2", true },
        { CBX_SPEC_CONDA, "x=1", "1.2", false },
        { CBX_SPEC_CONDA, "x==1", "1.2", true },
        { CBX_SPEC_CONDA, "x=1=0", "1.2", true },
        { CBX_SPEC_CONDA, "x[version='1.1|1.3']", "1.2", true },
        { CBX_SPEC_NPM, "x@^1.1", "1.2.0", false },
        { CBX_SPEC_NPM, "x@~1.1", "1.2.0", true },
        { CBX_SPEC_NPM, "x@user/repo", "1.2.0", true },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_spec s;
        cbx_spec_read(cases[i].kind, cbx_str_of(cases[i].word), &s);
        if (cbx_spec_below(cases[i].kind, &s, cbx_str_of(cases[i].minimum)) != cases[i].below) {
            fail_msg("%s and %s", cases[i].word, cases[i].minimum);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_requirements_of_pip),
        cmocka_unit_test(reads_constraints_of_projects),
        cmocka_unit_test(reads_match_specs_of_conda),
        cmocka_unit_test(reads_specifiers_of_npm),
        cmocka_unit_test(asks_in_the_syntax_of_each_manager),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
