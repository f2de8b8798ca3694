/* SPDX-License-Identifier: MIT
 * The list of tools, and their arguments: a wrong argument is reported at once. */
#include "gateway/front/mcp/tools/tools_internal.h"
#include "tests/unit/unit.h"

#include <string.h>

static const struct cbx_tool execute = { .name = "execute_code" },
                             python = { .name = "run_python_code", .language = "python" },
                             policy_tool = { .name = "get_policy" };

/* Reads JSON with ' for " as the tool's arguments; the errors, or "" (static). */
static const char *errors_of(const struct cbx_tool *tool, const char *arguments,
                             struct cbx_tool_arguments *out, json_t **json)
{
    static char text[8192];
    char quoted[2048];
    snprintf(quoted, sizeof(quoted), "%s", arguments);
    for (char *p = quoted; *p != '\0'; p++) {
        *p = *p == '\'' ? '"' : *p;
    }
    CBX_AUTO_DONE(buf) errors;
    cbx_buf_init(&errors, sizeof(text) - 1);
    assert_int_equal(cbx_json_parse(cbx_str_of(quoted), sizeof(quoted), json, NULL), 0);
    bool good = cbx_tool_read(tool, *json, out, &errors);
    assert_int_equal(good, errors.len == 0);
    snprintf(text, sizeof(text), "%s", errors.len > 0 ? errors.p : "");
    return text;
}

static void all_mistakes_are_told_at_once(void **state)
{
    (void)state;
    struct cbx_tool_arguments out;
    CBX_AUTO_JSON json = NULL;
    const char *errors = errors_of(
        &execute, "{'language':'cobol','timeout':3,'timeout_seconds':4,'libraries':7,'sesion':'x'}",
        &out, &json);
    static const char *const parts[] = { "'code' is missing", "cobol",
                                         "both 'timeout_seconds' and 'timeout' are given",
                                         "'libraries' is an integer", "did you mean 'session'" };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        assert_non_null(strstr(errors, parts[i]));
    }
}

static void a_language_has_many_names(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        { "Python", "python" },   { "py", "python" },
        { "ipython", "python" },  { "JS", "javascript" },
        { "Node", "javascript" }, { "bash", "shell" },
        { "TS", "typescript" },   { "C", "c" },
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char arguments[100];
        struct cbx_tool_arguments out;
        CBX_AUTO_JSON json = NULL;
        snprintf(arguments, sizeof(arguments), "{'code':'1','language':'%s'}", names[i][0]);
        assert_string_equal(errors_of(&execute, arguments, &out, &json), "");
        assert_true(cbx_str_is(out.language, names[i][1]));
    }
}

static void what_is_not_given_has_its_default(void **state)
{
    (void)state;
    struct cbx_tool_arguments out;
    CBX_AUTO_JSON json = NULL;
    CBX_AUTO_JSON other = NULL;
    assert_string_equal(errors_of(&execute, "{'code':'1','session':null}", &out, &json), "");
    assert_true(cbx_str_is(out.language, "python"));
    assert_int_equal(out.session.len, 0);
    assert_string_equal(errors_of(&python, "{'code':'1'}", &out, &other), "");
    assert_true(cbx_str_is(out.language, "python"));
    struct cbx_tool_arguments none;
    CBX_AUTO_DONE(buf) errors;
    cbx_buf_init(&errors, 1000);
    assert_true(cbx_tool_read(&policy_tool, NULL, &none, &errors));
}

static void the_hints_follow_from_the_policy(void **state)
{
    (void)state;
    struct cbx_policy open = { .network = CBX_NETWORK_EGRESS, .mounts = { .allow_count = 1 } },
                      closed = { 0 };
    for (int i = 0; i < 2; i++) {
        struct cbx_policy *items[] = { i == 0 ? &closed : &open };
        struct cbx_policies policies = { .items = items, .count = 1 };
        CBX_AUTO_JSON list = cbx_tools_list(policies.items[0], false);
        const json_t *hints = json_object_get(json_array_get(list, 0), "annotations");
        assert_int_equal(json_is_true(json_object_get(hints, "openWorldHint")), i);
        assert_int_equal(json_is_true(json_object_get(hints, "destructiveHint")), i);
        CBX_AUTO_MEM char *text = json_dumps(list, JSON_COMPACT);
        assert_true(strlen(text) < 8192);
    }
}

static const json_t *tool_of(const json_t *list, const char *name)
{
    size_t i;
    const json_t *tool;
    json_array_foreach((json_t *)(uintptr_t)list, i, tool)
    {
        if (strcmp(json_string_value(json_object_get(tool, "name")), name) == 0) {
            return tool;
        }
    }
    return NULL;
}

static void a_description_names_libraries_that_the_policy_lets_programs_import(void **state)
{
    (void)state;
    static const struct {
        const char *policy;
        bool requests, small;
    } rows[] = { { "default", true, false },
                 { "strict", false, false },
                 { "default", false, true } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CBX_AUTO(policy) policy = NULL;
        struct cbx_err err = { 0 };
        assert_int_equal(cbx_policy_load(rows[i].policy, &policy, &err), 0);
        CBX_AUTO_JSON list = cbx_tools_list(policy, rows[i].small);
        const char *described = json_string_value(
                       json_object_get(tool_of(list, "run_python_code"), "description")),
                   *node = json_string_value(
                       json_object_get(tool_of(list, "run_javascript_code"), "description"));
        assert_non_null(strstr(described, "with numpy, pandas, matplotlib"));
        assert_int_equal(strstr(described, "requests") != NULL, rows[i].requests);
        assert_int_equal(strstr(described, "scipy") != NULL, !rows[i].small);
        assert_non_null(strstr(node, "lodash"));
        assert_null(strchr(described, '{'));
    }
}

static json_int_t bound_of(const json_t *tool, const char *argument, const char *bound)
{
    const json_t *value = json_object_get(
        json_object_get(json_object_get(json_object_get(tool, "inputSchema"), "properties"),
                        argument),
        bound);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static void schemas_have_the_limits_of_their_arguments(void **state)
{
    (void)state;
    CBX_AUTO(policy) policy = NULL;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_policy_load("default", &policy, &err), 0);
    CBX_AUTO_JSON list = cbx_tools_list(policy, false);
    const json_t *run = tool_of(list, "execute_code"), *read = tool_of(list, "sandbox_read_file");
    assert_int_equal(bound_of(run, "code", "maxLength"), policy->limits.source_bytes);
    assert_int_equal(bound_of(run, "code", "minLength"), 1);
    assert_int_equal(bound_of(run, "session", "maxLength"), 64);
    assert_int_equal(bound_of(run, "timeout_seconds", "maximum"), 3600);
    assert_int_equal(bound_of(run, "dependencies", "maxItems"), 100);
    assert_int_equal(bound_of(read, "length", "maximum"), 32000);
    assert_int_equal(bound_of(read, "offset", "minimum"), 0);
}

static void the_tools_that_run_code_take_a_standard_input(void **state)
{
    static const char *const tools[] = { "execute_code", "run_python_code", "run_javascript_code" };
    (void)state;
    CBX_AUTO_JSON list = cbx_tools_list(NULL, false);
    for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
        const json_t *schema = json_object_get(tool_of(list, tools[i]), "inputSchema");
        assert_non_null(json_object_get(json_object_get(schema, "properties"), "stdin"));
        assert_int_equal(json_array_size(json_object_get(schema, "required")), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_mistakes_are_told_at_once),
        cmocka_unit_test(a_language_has_many_names),
        cmocka_unit_test(what_is_not_given_has_its_default),
        cmocka_unit_test(the_hints_follow_from_the_policy),
        cmocka_unit_test(a_description_names_libraries_that_the_policy_lets_programs_import),
        cmocka_unit_test(schemas_have_the_limits_of_their_arguments),
        cmocka_unit_test(the_tools_that_run_code_take_a_standard_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
