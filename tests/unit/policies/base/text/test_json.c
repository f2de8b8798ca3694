/* SPDX-License-Identifier: MIT
 * JSON from outside: refusals, the canonical form, and the messages of the table reader. */
#include "policies/base/text/json.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static int parse(struct cbx_str text, struct cbx_err *err)
{
    CBX_AUTO_JSON value = NULL;
    return cbx_json_parse(text, 4096, &value, err);
}

static void refuses_what_readers_disagree_about(void **state)
{
    (void)state;
    static const struct {
        struct cbx_str text;
        int code;
    } cases[] = {
        { CBX_STR("{\"a\": 1, \"a\": 2}"), CBX_EINVAL },
        { CBX_STR("{\"a\": {\"b\": 1, \"\\u0062\": 2}}"), CBX_EINVAL },
        { CBX_STR(""), CBX_EINVAL },
        { { NULL, 0 }, CBX_EINVAL },
        { CBX_STR("{} {}"), CBX_EINVAL },
        { CBX_STR("[1,]"), CBX_EINVAL },
        { CBX_STR("{'a': 1}"), CBX_EINVAL },
        { CBX_STR("NaN"), CBX_EINVAL },
        { CBX_STR("// x\n1"), CBX_EINVAL },
        { CBX_STR("\"\xFF\""), CBX_EINVAL },
        { CBX_STR("\"\\ud800\""), CBX_EINVAL },
        { CBX_STR("{\"a\\u0000b\": 1}"), CBX_EINVAL },
        { CBX_STR("1\0"), CBX_EINVAL },
        { CBX_STR("[1\0]"), CBX_EINVAL },
        { CBX_STR("1e999"), CBX_EINVAL },
        { CBX_STR("99999999999999999999"), CBX_EINVAL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_err err = { 0 };
        int code = parse(cases[i].text, &err);
        if (code != cases[i].code) {
            fail_msg("%zu: %d for %.*s", i, code, CBX_STR_ARG(cases[i].text));
        }
        assert_int_equal(err.code, code);
    }
}

static void points_at_the_place_of_an_error(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    assert_int_equal(parse(CBX_STR("{\n  \"a\": nope\n}"), &err), CBX_EINVAL);
    assert_int_equal(err.line, 2);
    assert_true(err.column > 0);
    assert_non_null(strstr(err.text, "not valid JSON"));
}

static void caps_size_and_depth(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    char big[4100], deep[2 * (CBX_JSON_DEPTH_MAX + 1)];
    memset(big, ' ', sizeof(big));
    big[0] = '1';
    assert_int_equal(parse((struct cbx_str){ big, 4096 }, &err), 0);
    assert_int_equal(parse((struct cbx_str){ big, 4097 }, &err), CBX_ETOOBIG);
    for (size_t n = CBX_JSON_DEPTH_MAX; n <= CBX_JSON_DEPTH_MAX + 1; n++) {
        memset(deep, '[', n);
        memset(deep + n, ']', n);
        assert_int_equal(parse((struct cbx_str){ deep, 2 * n }, &err),
                         n > CBX_JSON_DEPTH_MAX ? CBX_ETOOBIG : 0);
    }
    /* Brackets inside strings nest nothing, also behind an escaped quote. */
    assert_int_equal(parse(CBX_STR("\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[[[[[[[[[[[[[[[[[[[[["
                                   "[[[[[[[[[[[[[[[[[[[[[[\""),
                           &err),
                     0);
}

static void writes_equal_values_as_equal_bytes(void **state)
{
    (void)state;
    CBX_AUTO_JSON a = NULL;
    CBX_AUTO_JSON b = NULL;
    struct cbx_err err;
    assert_int_equal(cbx_json_parse(CBX_STR("{\"b\": [1, 2], \"a\": \"\\u00e9\"}"), 100, &a, &err),
                     0);
    assert_int_equal(cbx_json_parse(CBX_STR("{ \"a\":\"\xC3\xA9\",\n\"b\":[1,2] }"), 100, &b, &err),
                     0);
    CBX_AUTO_DONE(buf) first, second;
    cbx_buf_init(&first, 100);
    cbx_buf_init(&second, 100);
    assert_int_equal(cbx_json_write(&first, a), 0);
    assert_int_equal(cbx_json_write(&second, b), 0);
    assert_string_equal(first.p, "{\"a\":\"\xC3\xA9\",\"b\":[1,2]}");
    assert_string_equal(first.p, second.p);
    CBX_AUTO_DONE(buf) small;
    cbx_buf_init(&small, 5);
    assert_int_equal(cbx_json_write(&small, a), CBX_ETOOBIG);
}

static void makes_any_bytes_a_string(void **state)
{
    (void)state;
    CBX_AUTO_JSON broken = cbx_json_text(CBX_STR("a\xFF"
                                                 "b\0c"));
    assert_true(cbx_str_equal(cbx_json_str(broken), CBX_STR("a\xEF\xBF\xBD"
                                                            "b\0c")));
    CBX_AUTO_JSON nothing = cbx_json_text((struct cbx_str){ 0 });
    assert_int_equal(cbx_json_str(nothing).len, 0);
    assert_null(cbx_json_str(json_true()).p);
}

struct request {
    struct cbx_str code, language;
    bool trace;
    int64_t timeout_ms;
    double cpus;
    const json_t *files, *options, *id;
};
static const struct cbx_json_field fields[] = {
    { "code", CBX_JSON_STR, offsetof(struct request, code), true, false, 1, 10 },
    { "language", CBX_JSON_STR, offsetof(struct request, language), false, true, 0, 0 },
    { "trace", CBX_JSON_BOOL, offsetof(struct request, trace), false, false, 0, 0 },
    { "timeout_ms", CBX_JSON_INT, offsetof(struct request, timeout_ms), false, true, 10, 600000 },
    { "cpus", CBX_JSON_NUMBER, offsetof(struct request, cpus), false, false, 0, 4 },
    { "files", CBX_JSON_ARRAY, offsetof(struct request, files), false, false, 0, 2 },
    { "options", CBX_JSON_OBJECT, offsetof(struct request, options), false, false, 0, 0 },
    { "id", CBX_JSON_ANY, offsetof(struct request, id), false, false, 0, 0 },
};

static int read_request(const char *text, struct request *out, json_t **root, struct cbx_err *err)
{
    assert_int_equal(cbx_json_parse(cbx_str_of(text), 4096, root, err), 0);
    return cbx_json_read(*root, fields, sizeof(fields) / sizeof(fields[0]), out, err);
}

static void binds_a_table_and_keeps_defaults(void **state)
{
    (void)state;
    CBX_AUTO_JSON root = NULL;
    struct cbx_err err;
    struct request r = { .timeout_ms = 77, .language = CBX_STR("python") };
    assert_int_equal(read_request("{\"code\":\"x\",\"trace\":true,\"cpus\":2,\"files\":[1],"
                                  "\"options\":{},\"id\":null,\"language\":null}",
                                  &r, &root, &err),
                     0);
    assert_true(cbx_str_is(r.code, "x"));
    assert_true(cbx_str_is(r.language, "python")); /* null counts as absent */
    assert_true(r.trace);
    assert_int_equal(r.timeout_ms, 77);
    assert_true(r.cpus > 1.9 && r.cpus < 2.1);
    assert_int_equal(json_array_size(r.files), 1);
    assert_true(json_is_object(r.options));
    assert_true(json_is_null(r.id));
}

static void reports_what_was_found_and_what_is_allowed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int code;
        const char *message;
    } cases[] = {
        { "{}", CBX_EINVAL, "field 'code' is missing, required is a string" },
        { "{\"code\": 1}", CBX_EINVAL, "field 'code' is an integer, allowed is a string" },
        { "{\"code\": null}", CBX_EINVAL, "field 'code' is null, allowed is a string" },
        { "{\"code\": \"\"}", CBX_ETOOBIG, "field 'code' is 0 bytes, allowed 1..10" },
        { "{\"code\": \"12345678901\"}", CBX_ETOOBIG, "field 'code' is 11 bytes, allowed 1..10" },
        { "{\"code\": \"x\", \"trace\": 1}", CBX_EINVAL,
          "field 'trace' is an integer, allowed is true or false" },
        { "{\"code\": \"x\", \"timeout_ms\": 9}", CBX_EINVAL,
          "field 'timeout_ms' is 9, allowed 10..600000" },
        { "{\"code\": \"x\", \"timeout_ms\": 10.5}", CBX_EINVAL,
          "field 'timeout_ms' is a number, allowed is an integer" },
        { "{\"code\": \"x\", \"timeout_ms\": \"10\"}", CBX_EINVAL,
          "field 'timeout_ms' is a string, allowed is an integer" },
        { "{\"code\": \"x\", \"files\": {}}", CBX_EINVAL,
          "field 'files' is an object, allowed is" },
        { "{\"code\": \"x\", \"files\": [1,2,3]}", CBX_EINVAL,
          "field 'files' is 3 items, allowed 0..2" },
        { "{\"code\": \"x\", \"cpus\": 4.5}", CBX_EINVAL, "field 'cpus' is 4.5, allowed 0..4" },
        { "{\"code\": \"x\", \"langage\": \"x\"}", CBX_EINVAL,
          "unknown field 'langage', did you mean 'language'" },
        { "{\"code\": \"x\", \"privileged\": true}", CBX_EINVAL,
          "unknown field 'privileged', allowed are: code, language" },
        { "{\"code\": \"x\", \"Code\": \"y\"}", CBX_EINVAL,
          "unknown field 'Code', did you mean 'code'" },
        { "[]", CBX_EINVAL, "found an array, allowed is an object" },
        { "\"x\"", CBX_EINVAL, "found a string, allowed is an object" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_JSON root = NULL;
        struct cbx_err err = { 0 };
        struct request r = { 0 };
        int code = read_request(cases[i].text, &r, &root, &err);
        if (code != cases[i].code || strstr(err.text, cases[i].message) == NULL) {
            fail_msg("%s: %d, '%s'", cases[i].text, code, err.text);
        }
    }
}

static void gives_the_lines_of_a_text(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "", "[]" },
        { "a", "[\"a\"]" },
        { "a\n\nb\n", "[\"a\",\"\",\"b\"]" },
        { "\n", "[\"\"]" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_JSON lines = cbx_json_lines(cases[i][0]);
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 1024);
        assert_int_equal(cbx_json_write(&out, lines), 0);
        assert_string_equal(out.p, cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_readers_disagree_about),
        cmocka_unit_test(gives_the_lines_of_a_text),
        cmocka_unit_test(points_at_the_place_of_an_error),
        cmocka_unit_test(caps_size_and_depth),
        cmocka_unit_test(writes_equal_values_as_equal_bytes),
        cmocka_unit_test(makes_any_bytes_a_string),
        cmocka_unit_test(binds_a_table_and_keeps_defaults),
        cmocka_unit_test(reports_what_was_found_and_what_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
