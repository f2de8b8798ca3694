/* SPDX-License-Identifier: MIT
 * The guard refuses to unjudged code exactly the modules that rules deny by name. */
#include "analyzer/imports.h"
#include "policies/guard/guard.h"
#include "tests/unit/unit.h"

#include <string.h>

static struct cbx_policy *parse(const char *yaml)
{
    struct cbx_policy *policy = NULL;
    struct cbx_err err;
    if (cbx_policy_parse(cbx_str_of(yaml), "test", &policy, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return policy;
}

static struct cbx_importer importer_of(const struct cbx_policy *policy, const char *principal)
{
    return (struct cbx_importer){ .policy = policy,
                                  .language = CBX_PYTHON,
                                  .principal = cbx_str_of(principal),
                                  .now = 1700000000 };
}

/* The mark of the longest name of the list that covers this one, as the sandbox reads it; 0 =
 * none. */
static char mark_of(struct cbx_str list, const char *module)
{
    char mark = 0;
    size_t longest = 0;
    for (struct cbx_str rest = list; rest.len > 0;) {
        struct cbx_str name = cbx_str_of(rest.p + 1);
        bool covers = strncmp(module, name.p, name.len) == 0 &&
                      (module[name.len] == '\0' || module[name.len] == '.');
        if (covers && name.len >= longest) {
            longest = name.len;
            mark = rest.p[0];
        }
        rest = cbx_str_sub(rest, name.len + 2, rest.len);
    }
    return mark;
}

static void assert_marks(const struct cbx_importer *importer, const char *denied,
                         const char *const *modules)
{
    CBX_AUTO_DONE(buf) list;
    struct cbx_err err;
    cbx_buf_init(&list, CBX_IMPORTS_BYTES_MAX);
    assert_int_equal(cbx_imports_list(importer, &list, &err), 0);
    for (size_t i = 0; modules[i] != NULL; i++) {
        char mark = mark_of(cbx_buf_str(&list), modules[i]);
        bool is_denied = mark == CBX_IMPORT_DENIED || mark == CBX_IMPORT_REFUSED;
        if (denied[i] != (is_denied ? mark : '+')) {
            fail_msg("%s has the mark '%c', expected '%c'", modules[i], mark, denied[i]);
        }
    }
}

static void the_default_policy_denies_processes_and_passes_what_computes(void **state)
{
    (void)state;
    struct cbx_policy *policy;
    struct cbx_err err;
    assert_int_equal(cbx_policy_load("default", &policy, &err), 0);
    const struct cbx_importer importer = importer_of(policy, "agent");
    static const char *const modules[] = { "subprocess",
                                           "socket",
                                           "ctypes",
                                           "ctypes.util",
                                           "pickle",
                                           "importlib",
                                           "importlib.metadata",
                                           "importlib.resources.abc",
                                           "os",
                                           "os.path",
                                           "json",
                                           "numpy",
                                           "numpy.ctypeslib",
                                           "sub",
                                           "subprocesses",
                                           "distutils.version",
                                           NULL };
    assert_marks(&importer, "------++++++-+++", modules);
    cbx_policy_free(policy);
}

static void rules_name_modules_and_parts_of_them(void **state)
{
    (void)state;
    static const char yaml[] =
        "version: 1\nname: t\nrules:\n"
        "  - {id: a, languages: [python], match: {import: [alpha, '!alpha.good', 'beta.*', "
        "'gam*a']}}\n"
        "  - {id: b, languages: [javascript], match: {import: [delta]}}\n"
        "  - {id: c, effect: warn, match: {import: [epsilon]}}\n"
        "  - {id: d, languages: [python], match: {import: [alpha.good.bad]}}\n";
    struct cbx_policy *policy = parse(yaml);
    const struct cbx_importer importer = importer_of(policy, "agent");
    static const char *const modules[] = {
        "alpha",  "alpha.x", "alpha.good", "alpha.good.x", "alpha.good.bad",
        "beta.x", "delta",   "epsilon",    "json",         NULL
    };
    assert_marks(&importer, "--++-++++", modules);
    cbx_policy_free(policy);
}

static void an_exception_and_its_end_change_the_list(void **state)
{
    (void)state;
    static const char yaml[] = "version: 1\nname: t\nrules:\n"
                               "  - {id: a, match: {import: [alpha]}}\n"
                               "exceptions:\n"
                               "  - {rule: a, principal: ops, until: 2024-01-01, reason: tests}\n";
    struct cbx_policy *policy = parse(yaml);
    static const char *const modules[] = { "alpha", NULL };
    struct cbx_importer ops = importer_of(policy, "ops"), agent = importer_of(policy, "agent");
    assert_marks(&ops, "+", modules);
    assert_marks(&agent, "-", modules);
    ops.now = 1800000000;
    assert_marks(&ops, "-", modules);
    cbx_policy_free(policy);
}

static void the_key_of_the_guard_refuses_modules_that_no_rule_denies(void **state)
{
    (void)state;
    struct cbx_policy *policy = parse("version: 1\nname: t\nguard: {import: refuse}\n"
                                      "rules:\n  - {id: a, match: {import: [alpha]}}\n");
    const struct cbx_importer importer = importer_of(policy, "agent");
    static const char *const modules[] = {
        "subprocess", "socket", "pickle", "alpha", "json", NULL
    };
    assert_marks(&importer, "====+", modules);
    cbx_policy_free(policy);
}

static void the_rule_of_a_module_is_named(void **state)
{
    (void)state;
    struct cbx_policy *policy;
    struct cbx_err err;
    assert_int_equal(cbx_policy_load("default", &policy, &err), 0);
    const struct cbx_importer importer = importer_of(policy, "agent");
    assert_true(cbx_str_is(cbx_imports_rule(&importer, CBX_STR("socket"))->id, "py.socket"));
    assert_true(cbx_str_is(cbx_imports_rule(&importer, CBX_STR("subprocess.x"))->id, "py.process"));
    assert_null(cbx_imports_rule(&importer, CBX_STR("json")));
    cbx_policy_free(policy);
}

static void a_list_that_does_not_fit_is_an_error(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) list;
    struct cbx_policy *policy;
    struct cbx_err err;
    assert_int_equal(cbx_policy_load("default", &policy, &err), 0);
    const struct cbx_importer importer = importer_of(policy, "agent");
    cbx_buf_init(&list, 100);
    assert_int_equal(cbx_imports_list(&importer, &list, &err), CBX_ETOOBIG);
    cbx_policy_free(policy);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_default_policy_denies_processes_and_passes_what_computes),
    cmocka_unit_test(rules_name_modules_and_parts_of_them),
    cmocka_unit_test(an_exception_and_its_end_change_the_list),
    cmocka_unit_test(the_key_of_the_guard_refuses_modules_that_no_rule_denies),
    cmocka_unit_test(the_rule_of_a_module_is_named),
    cmocka_unit_test(a_list_that_does_not_fit_is_an_error),
};

int main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
