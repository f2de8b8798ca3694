/* SPDX-License-Identifier: MIT
 * Well-known names, look-alikes, and the distributions of imports. */
#include "analyzer/packages/known.h"
#include "tests/unit/unit.h"

static const char *const pypi[] = {
#define CBX_PYPI(name) name,
#include "analyzer/packages/known.def"
};
static const char *const npm[] = {
#define CBX_NPM(name) name,
#include "analyzer/packages/known.def"
};
static const char *const modules[] = {
#define CBX_PYTHON_MODULE(name) name,
#include "analyzer/packages/imports.def"
};
static const char *const node_modules[] = {
#define CBX_NODE_MODULE(name) name,
#include "analyzer/packages/imports.def"
};

static void check_order(const char *const *names, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (strcmp(names[i - 1], names[i]) >= 0) {
            fail_msg("%s stands before %s", names[i - 1], names[i]);
        }
    }
}
#define CHECK_ORDER(names) check_order(names, sizeof(names) / sizeof(names[0]))

static void keeps_its_tables_in_order(void **state)
{
    (void)state;
    CHECK_ORDER(pypi);
    CHECK_ORDER(npm);
    CHECK_ORDER(modules);
    CHECK_ORDER(node_modules);
}

static void never_takes_a_well_known_name_for_another(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(pypi) / sizeof(pypi[0]); i++) {
        assert_int_equal(cbx_known_meant(true, cbx_str_of(pypi[i])).len, 0);
    }
    for (size_t i = 0; i < sizeof(npm) / sizeof(npm[0]); i++) {
        assert_int_equal(cbx_known_meant(false, cbx_str_of(npm[i])).len, 0);
    }
}

static void recognises_slips_and_tricks(void **state)
{
    (void)state;
    static const struct {
        bool python;
        const char *name, *meant;
    } cases[] = {
        { true, "reqeusts", "requests" }, /* swapped */
        { true, "nmupy", "numpy" },
        { true, "request", "requests" }, /* missing */
        { true, "nupy", "numpy" },
        { true, "requestss", "requests" }, /* doubled */
        { true, "numppy", "numpy" },
        { true, "requestz", "requests" }, /* changed */
        { true, "djanga", "django" },
        { true, "tens0rflow", "tensorflow" }, /* a digit for a letter */
        { true, "f1ask", "flask" },
        { true, "urlib3", "urllib3" },
        { true, "colourama", "colorama" },
        { true, "scikitlearn", "scikit-learn" },
        { true, "beautiful-soup4", "beautifulsoup4" },
        { true, "Python_Requests", "requests" },
        { true, "python3-dateutil", "python-dateutil" },
        { true, "pyflask", "flask" },
        { true, "requests-python", "requests" },
        { true, "dateutil", "python-dateutil" },
        { true, "serial", "pyserial" },
        { true, "cv2", "opencv-python" },
        { true, "sklearn", "scikit-learn" },
        { true, "jwt", "pyjwt" },
        { false, "crossenv", "cross-env" },
        { false, "lodahs", "lodash" },
        { false, "expres", "express" },
        { false, "node-express", "express" },
        { false, "lodash-js", "lodash" },
        { false, "axois", "axios" },
        { false, "@bable/core", "@babel/core" },
        /* names of their own */
        { true, "my-company-tools", "" },
        { true, "flask-something", "" },
        { true, "ruff-lsp", "" },
        { true, "riche", "" },
        { true, "pies", "" },
        { true, "six2", "" },
        { true, "numbat", "" },
        { true, "pydata", "" },
        { true, "torch-geometric", "" },
        { false, "left", "" },
        { false, "express-something", "" },
        { false, "vue2", "" },
        { false, "@mycompany/core", "" },
        { true, "", "" },
        { true, "-", "" },
        { true, "a", "" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_str meant = cbx_known_meant(cases[i].python, cbx_str_of(cases[i].name));
        if (!cbx_str_is(meant, cases[i].meant)) {
            fail_msg("'%s' means '%.*s', expected '%s'", cases[i].name, CBX_STR_ARG(meant),
                     cases[i].meant);
        }
    }
}

static void finds_the_distribution_of_an_import(void **state)
{
    (void)state;
    static const struct {
        bool python;
        const char *import, *distributions;
    } cases[] = {
        { true, "numpy", "numpy" },
        { true, "numpy.linalg", "numpy" },
        { true, "PIL.Image", "pillow" },
        { true, "sklearn.svm", "scikit-learn" },
        { true, "Crypto.Cipher", "pycryptodome pycrypto" },
        { true, "google.protobuf.message", "protobuf" },
        { true, "google.something", "google" },
        { true, "google", "google" },
        { true, "yamlx", "yamlx" },
        { true, "ruamel.yaml", "ruamel-yaml" },
        { true, ".local", "" },
        { true, "", "" },
        { false, "lodash", "lodash" },
        { false, "lodash/fp", "lodash" },
        { false, "@s/x", "@s/x" },
        { false, "@s/x/y", "@s/x" },
        { false, "./x", "" },
        { false, "/x", "" },
        { false, "node:fs", "" },
        { false, "https://h/x.js", "" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_str is = cbx_known_distributions(cbx_str_of(cases[i].import), cases[i].python);
        if (!cbx_str_is(is, cases[i].distributions)) {
            fail_msg("'%s': '%.*s'", cases[i].import, CBX_STR_ARG(is));
        }
    }
    assert_true(cbx_known_builtin(CBX_STR("os.path"), true));
    assert_true(cbx_known_builtin(CBX_STR("typing"), true));
    assert_true(cbx_known_builtin(CBX_STR("fs/promises"), false));
    assert_false(cbx_known_builtin(CBX_STR("numpy"), true));
    assert_false(cbx_known_builtin(CBX_STR("os.path"), false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_its_tables_in_order),
        cmocka_unit_test(never_takes_a_well_known_name_for_another),
        cmocka_unit_test(recognises_slips_and_tricks),
        cmocka_unit_test(finds_the_distribution_of_an_import),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
