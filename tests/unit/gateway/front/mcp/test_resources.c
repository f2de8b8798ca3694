/* SPDX-License-Identifier: MIT
 * URIs of resources, and the parts of executions. */
#include "gateway/front/mcp/tools/parts.h"
#include "tests/unit/unit.h"

#include <string.h>

static void every_language_that_runs_has_the_version_of_what_runs_it(void **state)
{
    (void)state;
    CBX_AUTO_DONE(resource) resource = { 0 };
    CBX_AUTO_JSON all = NULL;
    struct cbx_mcp mcp = { 0 };
    size_t i;
    const json_t *each;
    assert_int_equal(cbx_resource_read(&mcp, cbx_caller_local(), NULL,
                                       CBX_STR("sandbox://languages"), &resource, NULL),
                     0);
    assert_int_equal(cbx_json_parse(cbx_buf_str(&resource.bytes), 1 << 20, &all, NULL), 0);
    const json_t *list = json_object_get(all, "languages");
    assert_true(json_array_size(list) > 0);
    json_array_foreach(list, i, each)
    {
        const json_t *runtime = json_object_get(each, "runtime");
        assert_non_null(json_string_value(json_object_get(runtime, "name")));
        const char *version = json_string_value(json_object_get(runtime, "version"));
        assert_non_null(version);
        assert_true(strspn(version, "0123456789.") == strlen(version) && version[0] != '\0');
    }
}

static void a_range_is_taken_off_the_uri(void **state)
{
    (void)state;
    static const struct {
        const char *uri, *rest;
        int64_t offset, length;
    } cases[] = { { "a://b", "a://b", 0, 0 },
                  { "a://b?offset=5", "a://b", 5, 0 },
                  { "a://b?length=7", "a://b", 0, 7 },
                  { "a://b?offset=5&length=7", "a://b", 5, 7 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_str uri = cbx_str_of(cases[i].uri);
        int64_t offset, length;
        assert_int_equal(cbx_resource_range(&uri, &offset, &length, NULL), 0);
        assert_true(cbx_str_is(uri, cases[i].rest));
        assert_int_equal(offset, cases[i].offset);
        assert_int_equal(length, cases[i].length);
    }
    static const char *const bad[] = { "a?",
                                       "a?x=1",
                                       "a?offset=-1",
                                       "a?offset=1&",
                                       "a?offset=1x",
                                       "a?length=1&offset=1",
                                       "a?offset=99999999999999999999" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct cbx_str uri = cbx_str_of(bad[i]);
        int64_t offset, length;
        assert_int_equal(cbx_resource_range(&uri, &offset, &length, NULL), CBX_EINVAL);
    }
}

static void a_part_of_a_text_ends_between_characters_and_may_be_empty(void **state)
{
    (void)state;
    static const struct {
        size_t offset, length;
        const char *text;
    } cases[] = { { 0, 0, "a\u20acb" }, { 1, 0, "\u20acb" }, { 2, 0, "\u20acb" }, { 0, 2, "a" },
                  { 0, 4, "a\u20ac" },  { 4, 1, "b" },       { 5, 0, "" },        { 99, 9, "" } };
    struct cbx_resource resource = { .type = "text/plain", .is_text = true };
    cbx_buf_init(&resource.bytes, 100);
    cbx_buf_add_cstr(&resource.bytes, "a\u20acb");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_JSON part =
            cbx_resource_contents(CBX_STR("x://y"), &resource, cases[i].offset, cases[i].length);
        assert_string_equal(json_string_value(json_object_get(part, "text")), cases[i].text);
        assert_string_equal(json_string_value(json_object_get(part, "uri")), "x://y");
    }
    cbx_resource_done(&resource);
}

static void every_listed_resource_can_be_read_or_says_why_not(void **state)
{
    (void)state;
    static struct cbx_flow flow;
    static struct cbx_service service = { .flow = &flow };
    struct cbx_mcp mcp;
    cbx_mcp_init(&mcp, &service, 0);
    CBX_AUTO_JSON list = cbx_resources_list();
    size_t i;
    json_t *each;
    json_array_foreach(list, i, each)
    {
        const char *uri = json_string_value(json_object_get(each, "uri"));
        CBX_AUTO_DONE(resource) resource = { 0 };
        if (strcmp(uri, "sessions://") != 0 && strcmp(uri, "sandbox://policy") != 0 &&
            strcmp(uri, "sandbox://libraries") != 0) {
            assert_int_equal(
                cbx_resource_read(&mcp, cbx_caller_local(), NULL, cbx_str_of(uri), &resource, NULL),
                0);
            assert_true(resource.is_text);
            assert_string_equal(resource.type,
                                json_string_value(json_object_get(each, "mimeType")));
        }
    }
    static const char *const none[] = { "",
                                        "x",
                                        "sandbox://",
                                        "session://",
                                        "session://../x",
                                        "session://a/b",
                                        "sandbox://executions/",
                                        "sandbox://executions/a'b" };
    for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        CBX_AUTO_DONE(resource) resource = { 0 };
        assert_int_equal(
            cbx_resource_read(&mcp, cbx_caller_local(), NULL, cbx_str_of(none[i]), &resource, NULL),
            CBX_ENOTFOUND);
    }
    cbx_mcp_done(&mcp);
}

static void the_policy_in_words_has_the_whole_of_each_text(void **state)
{
    (void)state;
    char hint[400];
    memset(hint, 'h', sizeof(hint));
    memcpy(hint + sizeof(hint) - 3, "end", 3);
    const struct cbx_rule rules[] = {
        { .id = CBX_STR("py.x"),
          .languages = 1u << CBX_PYTHON,
          .effect = CBX_EFFECT_DENY,
          .message = CBX_STR("Not here."),
          .hint = { .p = hint, .len = sizeof(hint) } },
        { .id = CBX_STR("py.warned"), .languages = 1u << CBX_PYTHON, .effect = CBX_EFFECT_WARN },
        { .id = CBX_STR("js.y"), .languages = 1u << CBX_JAVASCRIPT, .effect = CBX_EFFECT_DENY },
    };
    const struct cbx_policy policy = {
        .name = CBX_STR("p"), .languages = 1u << CBX_PYTHON, .rules = rules, .rule_count = 3
    };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 10000);
    cbx_mcp_describe_policy(&policy, NULL, false, &text);
    assert_non_null(strstr(text.p, "- py.x: Not here. Hint: hhh"));
    assert_non_null(strstr(text.p, "hend\n"));
    assert_non_null(strstr(text.p, "JavaScript may not run under this policy."));
    assert_null(strstr(text.p, "py.warned"));
    assert_null(strstr(text.p, "js.y"));
}

static void pictures_come_back_as_the_bytes_that_they_were(void **state)
{
    (void)state;
    static const char *const encoded[] = { "QUJD", "QUI=", "QQ==" }, *const plain[] = { "ABC", "AB",
                                                                                        "A" };
    for (size_t i = 0; i < 3; i++) {
        CBX_AUTO_JSON execution =
            json_pack("{s:[{s:s,s:s},{s:s,s:{s:s}}]}", "output", "kind", "stdout", "text", "x",
                      "kind", "display", "data", "image/png", encoded[i]);
        CBX_AUTO_DONE(resource) out = { 0 };
        cbx_buf_init(&out.bytes, 100);
        assert_int_equal(cbx_part_picture(execution, CBX_STR("1"), &out), 0);
        assert_true(cbx_str_is(cbx_buf_str(&out.bytes), plain[i]));
        assert_string_equal(out.type, "image/png");
        static const char *const bad[] = { "0", "2", "", "x", "01", "-1", "99999999999" };
        for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
            assert_int_equal(cbx_part_picture(execution, cbx_str_of(bad[k]), &out), CBX_ENOTFOUND);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_language_that_runs_has_the_version_of_what_runs_it),
        cmocka_unit_test(a_range_is_taken_off_the_uri),
        cmocka_unit_test(a_part_of_a_text_ends_between_characters_and_may_be_empty),
        cmocka_unit_test(every_listed_resource_can_be_read_or_says_why_not),
        cmocka_unit_test(the_policy_in_words_has_the_whole_of_each_text),
        cmocka_unit_test(pictures_come_back_as_the_bytes_that_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
