/* SPDX-License-Identifier: MIT
 * Requirements of PEP 508 and their markers. */
#include "policies/versions/requirement.h"
#include "tests/unit/unit.h"

#include <stdio.h>

static void same(const char *text, const char *what, struct cbx_str is, const char *expected)
{
    if (!cbx_str_is(is, expected)) {
        fail_msg("'%s': %s is '%.*s', expected '%s'", text, what, CBX_STR_ARG(is), expected);
    }
}

static void reads_the_parts_of_a_requirement(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name, *extras, *specifiers, *url, *marker;
    } cases[] = {
        { "A", "A", "", "", "", "" },
        { "A.B-C_D", "A.B-C_D", "", "", "", "" },
        { "aa", "aa", "", "", "", "" },
        { "name", "name", "", "", "", "" },
        { "name<=1", "name", "", "<=1", "", "" },
        { "name>=3", "name", "", ">=3", "", "" },
        { "name>=3,", "name", "", ">=3,", "", "" },
        { "name>=3,<2", "name", "", ">=3,<2", "", "" },
        { "name ~= 3.1 , != 3.1.3", "name", "", "~= 3.1 , != 3.1.3", "", "" },
        { "name (>=1.0, <2)", "name", "", ">=1.0, <2", "", "" },
        { "name()", "name", "", "", "", "" },
        { "name[]", "name", "", "", "", "" },
        { "name[ ]>=1", "name", " ", ">=1", "", "" },
        { "requests[security]==2.0", "requests", "security", "==2.0", "", "" },
        { "name[a, b-c ,d.e]", "name", "a, b-c ,d.e", "", "", "" },
        { "name@http://foo.com", "name", "", "", "http://foo.com", "" },
        { "name [fred,bar] @ http://foo.com ; python_version=='2.7'", "name", "fred,bar", "",
          "http://foo.com", " python_version=='2.7'" },
        { "name @ git+https://x/y;z ; os_name == 'posix'", "name", "", "", "git+https://x/y;z",
          " os_name == 'posix'" },
        { "name[quux, strange];python_version<'2.7' and platform_version=='2'", "name",
          "quux, strange", "", "", "python_version<'2.7' and platform_version=='2'" },
        { "name; os_name=='a' or os_name=='b'", "name", "", "", "",
          " os_name=='a' or os_name=='b'" },
        { "name===any.thing!", "name", "", "===any.thing!", "", "" },
        { "  name == 1.0  ", "name", "", "== 1.0", "", "" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_requirement r;
        if (!cbx_requirement_parse(cbx_str_of(cases[i].text), &r)) {
            fail_msg("'%s' is not read", cases[i].text);
        }
        same(cases[i].text, "name", r.name, cases[i].name);
        same(cases[i].text, "extras", r.extras, cases[i].extras);
        same(cases[i].text, "specifiers", r.specifiers, cases[i].specifiers);
        same(cases[i].text, "url", r.url, cases[i].url);
        same(cases[i].text, "marker", r.marker, cases[i].marker);
    }
}

static void refuses_what_is_no_requirement(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        " ",
        "-name",
        "name-",
        "_name",
        "name.",
        ".",
        "name,",
        "name 1.0",
        "name=1.0",
        "name=>1",
        "name>=",
        "name>=x",
        "name[",
        "name[a",
        "name[a b]",
        "name[,]",
        "name[a,]",
        "name[-]",
        "name(>=1",
        "name(>=1)x",
        "name @",
        "name @ ",
        "name @ http://x y",
        "name;",
        "name; ",
        "name; x",
        "name; os_name",
        "name; os_name ==",
        "name; os_name == posix",
        "name; os_name == 'posix",
        "name; (os_name == 'x'",
        "name; os_name == 'x')",
        "name; os_name == 'x' and",
        "name; os_name == 'x' xor os_name == 'y'",
        "name; os_name is 'x'",
        "name; os_name not 'x'",
        "name; unknown == 'x'",
        "n\xc3\xa4me",
        "name==1 ; ; ",
        "name>=1 <2",
        "*",
        "name\n==1",
        "name==1.0.*,>=1.*",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_requirement r;
        if (cbx_requirement_parse(cbx_str_of(cases[i]), &r)) {
            fail_msg("'%s' is read", cases[i]);
        }
    }
}

static void decides_which_markers_may_hold(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum cbx_marker marker;
    } cases[] = {
        { "python_version < '3.8'", CBX_MARKER_MAY }, /* the minor version is unknown */
        { "python_version >= '3.8'", CBX_MARKER_MAY },
        { "python_version < '3'", CBX_MARKER_NEVER },
        { "python_version < '3.0'", CBX_MARKER_NEVER },
        { "python_version <= '2.7'", CBX_MARKER_NEVER },
        { "python_version == '2.7'", CBX_MARKER_NEVER },
        { "python_version == '2.*'", CBX_MARKER_NEVER },
        { "python_version == '3.*'", CBX_MARKER_MAY },
        { "python_version == '3.11'", CBX_MARKER_MAY },
        { "python_version != '3.11'", CBX_MARKER_MAY },
        { "python_version ~= '3.5'", CBX_MARKER_MAY },
        { "python_version ~= '2.5'", CBX_MARKER_NEVER },
        { "python_version >= '4'", CBX_MARKER_NEVER },
        { "python_version > '3'", CBX_MARKER_MAY },
        { "python_full_version < '3.7.1'", CBX_MARKER_MAY },
        { "python_full_version == '3.7.1'", CBX_MARKER_MAY },
        { "python_full_version == '2.7.18'", CBX_MARKER_NEVER },
        { "'3.8' > python_version", CBX_MARKER_MAY },
        { "'3' > python_version", CBX_MARKER_NEVER },
        { "'2.7' == python_version", CBX_MARKER_NEVER },
        { "python_version in '2.6 2.7'", CBX_MARKER_MAY }, /* not followed */
        { "python_version === '2.7'", CBX_MARKER_MAY },
        { "python_version < 'x'", CBX_MARKER_MAY },
        { "os_name == 'nt'", CBX_MARKER_NEVER },
        { "os_name == 'posix'", CBX_MARKER_MAY },
        { "os_name != 'posix'", CBX_MARKER_NEVER },
        { "os_name > 'posix'", CBX_MARKER_MAY },
        { "sys_platform == 'win32'", CBX_MARKER_NEVER },
        { "sys_platform == \"linux\"", CBX_MARKER_MAY },
        { "sys_platform in 'linux darwin'", CBX_MARKER_MAY },
        { "sys_platform in 'win32 darwin'", CBX_MARKER_NEVER },
        { "'lin' in sys_platform", CBX_MARKER_MAY },
        { "'win' in sys_platform", CBX_MARKER_NEVER },
        { "'win' not in sys_platform", CBX_MARKER_MAY },
        { "'lin' not  in sys_platform", CBX_MARKER_NEVER },
        { "sys.platform == 'win32'", CBX_MARKER_NEVER },
        { "platform_system == 'Windows'", CBX_MARKER_NEVER },
        { "platform_python_implementation == 'PyPy'", CBX_MARKER_NEVER },
        { "implementation_name == 'cpython'", CBX_MARKER_MAY },
        { "platform_machine == 'arm64'", CBX_MARKER_MAY },
        { "platform_release < '5'", CBX_MARKER_MAY },
        { "extra == 'test'", CBX_MARKER_MAY },
        { "'a' == 'b'", CBX_MARKER_MAY },
        { "os_name == 'nt' or sys_platform == 'win32'", CBX_MARKER_NEVER },
        { "os_name == 'nt' or sys_platform == 'linux'", CBX_MARKER_MAY },
        { "os_name == 'nt' and sys_platform == 'linux'", CBX_MARKER_NEVER },
        { "os_name == 'nt' and extra == 'x' or python_version < '3'", CBX_MARKER_NEVER },
        { "extra == 'x' or os_name == 'nt' and python_version < '3'", CBX_MARKER_MAY },
        { "(extra == 'x' or os_name == 'nt') and python_version < '3'", CBX_MARKER_NEVER },
        { "((os_name == 'posix'))and(extra=='x')", CBX_MARKER_MAY },
        { "python_version<'3'and(extra=='x')or(os_name=='nt')", CBX_MARKER_NEVER },
        { "os_name=='posix'", CBX_MARKER_MAY },
        { "", CBX_MARKER_MALFORMED },
        { "()", CBX_MARKER_MALFORMED },
        { "os_name == 'x' 'y'", CBX_MARKER_MALFORMED },
        { "os_name == 'x' or or os_name == 'y'", CBX_MARKER_MALFORMED },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum cbx_marker is = cbx_marker_read(cbx_str_of(cases[i].text));
        if (is != cases[i].marker) {
            fail_msg("'%s': %d, expected %d", cases[i].text, is, cases[i].marker);
        }
    }
}

static void stops_at_its_nesting_cap(void **state)
{
    (void)state;
    char text[256];
    for (int depth = 1; depth < 80; depth++) {
        int n = 0;
        for (int i = 0; i < depth; i++) {
            text[n++] = '(';
        }
        n += snprintf(text + n, 32, "os_name=='posix'");
        for (int i = 0; i < depth; i++) {
            text[n++] = ')';
        }
        enum cbx_marker is = cbx_marker_read((struct cbx_str){ text, (size_t)n });
        assert_int_equal(is, depth < 32 ? CBX_MARKER_MAY : CBX_MARKER_MALFORMED);
    }
}

static void a_plain_requirement_is_a_name_with_extras_and_versions(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool plain;
    } cases[] = {
        { "numpy", true },
        { " numpy ", true },
        { "Num_py.x [a, b-c] >=1.0, <2", true },
        { "numpy (>=1.22)", true },
        { "a===1.0+local.1", true },
        { "a!=1.*", true },
        { "a @ https://host/a.whl", false },
        { "a; python_version > '3'", false },
        { "a===1'; id", false },
        { "a===1'x", false },
        { "a===$(id)", false },
        { "a===`id`", false },
        { "", false },
        { "-r x", false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_requirement r;
        bool parsed = cbx_requirement_parse(cbx_str_of(cases[i].text), &r);
        assert_int_equal(parsed && cbx_requirement_is_plain(&r), cases[i].plain);
    }
    assert_false(cbx_requirement_is_plain(&(struct cbx_requirement){ 0 }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_parts_of_a_requirement),
        cmocka_unit_test(refuses_what_is_no_requirement),
        cmocka_unit_test(decides_which_markers_may_hold),
        cmocka_unit_test(stops_at_its_nesting_cap),
        cmocka_unit_test(a_plain_requirement_is_a_name_with_extras_and_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
