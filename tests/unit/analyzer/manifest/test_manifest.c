/* SPDX-License-Identifier: MIT
 * Manifests: which files have a reader, and the packages in them. */
#include "analyzer/manifest/manifest.h"

#include "analyzer/analyze.h"
#include "tests/unit/unit.h"

static struct cbx_policy *policy;
static struct cbx_arena arena;

static int set_up(void **state)
{
    (void)state;
    struct cbx_err err;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    return cbx_policy_load("default", &policy, &err);
}

static int tear_down(void **state)
{
    (void)state;
    cbx_policy_free(policy);
    cbx_arena_done(&arena);
    return 0;
}

static void the_name_of_a_file_selects_its_reader(void **state)
{
    (void)state;
    static const struct {
        const char *path, *reader;
    } cases[] = {
        { "requirements.txt", "requirements" },
        { "x/Requirements-dev.TXT", "requirements" },
        { "dev-requirements.in", "requirements" },
        { "constraints.txt", "requirements" },
        { "requirements.txt/x", NULL },
        { "notes.txt", NULL },
        { "", NULL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct cbx_manifest_reader *r = cbx_manifest_reader_of(cbx_str_of(cases[i].path));
        const char *name = r != NULL ? r->name : "none";
        assert_string_equal(name, cases[i].reader != NULL ? cases[i].reader : "none");
        assert_true(r == NULL || cbx_manifest_reader_find(r->name)->read == r->read);
    }
}

/* "rule line:column-column" of each finding, with "; " between them. */
static void judge(const char *name, const char *text, struct cbx_buf *out)
{
    struct cbx_manifest manifest;
    struct cbx_decision decision;
    struct cbx_err err = { 0 };
    cbx_arena_reset(&arena);
    const struct cbx_manifest_reader *reader = cbx_manifest_reader_of(cbx_str_of(name));
    assert_non_null(reader);
    if (reader->read(cbx_str_of(text), &arena, &manifest, &err) != 0) {
        cbx_buf_add_cstr(out, err.text);
        return;
    }
    assert_int_equal(cbx_manifest_judge(policy, &manifest, 0, &arena, &decision, &err), 0);
    for (size_t i = 0; i < decision.finding_count; i++) {
        const struct cbx_finding *f = &decision.findings[i];
        cbx_buf_printf(out, "%s%.*s %u:%u-%u", i > 0 ? "; " : "", CBX_STR_ARG(f->rule->id),
                       f->span.line, f->span.column, f->span.end_column);
    }
}

struct expected {
    const char *text, *findings;
};

static void check(const char *name, const struct expected *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 65536);
        judge(name, cases[i].text, &out);
        assert_string_equal(out.p, cases[i].findings);
    }
}

static void requirements_are_judged_as_words_of_pip_install(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "", "" },
        { "# paramiko\n\nrequests==2.32.0\n", "" },
        { "requests\n  paramiko>=2  # x\n", "pkg.blocked 2:3-14" },
        { "numpy==1.20.0 ; python_version > '3'\n", "pkg.version 1:1-37" },
        { "reqeusts \\\n    --hash=sha256:0\n", "pkg.look-alike 1:1-9" },
        { "git+https://example.org/x.git#egg=x\n", "pkg.source 1:1-36" },
        { "x @ https://example.org/x.whl", "pkg.source 1:1-30" },
        { "--extra-index-url http://example.org/simple\n", "pkg.source 1:1-44" },
        { "-r https://example.org/r.txt\n", "pkg.source 1:1-29" },
        { "# the files of the project are judged by themselves\n-r other.txt\n-c c.txt\n-e .\n",
          "" },
        { "\xC3\xA4\nparamiko", "pkg.blocked 2:1-9" },
    };
    check("requirements.txt", cases, sizeof(cases) / sizeof(cases[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_name_of_a_file_selects_its_reader),
        cmocka_unit_test(requirements_are_judged_as_words_of_pip_install),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
