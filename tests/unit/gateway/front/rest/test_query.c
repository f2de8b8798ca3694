/* SPDX-License-Identifier: MIT
 * The query of a target: accepted parameters, and refusals. */
#include "gateway/front/rest/query.h"

#include "tests/unit/unit.h"

struct query {
    int64_t limit;
    struct cbx_str name;
    bool end;
};
static const struct cbx_json_field fields[] = {
    { "limit", CBX_JSON_INT, offsetof(struct query, limit), false, false, 1, 1000 },
    { "name", CBX_JSON_STR, offsetof(struct query, name), false, false, 1, 8 },
    { "end", CBX_JSON_BOOL, offsetof(struct query, end), false, false, 0, 0 },
};

static int read_query(struct cbx_str text, struct query *out, json_t **json, struct cbx_err *err)
{
    *out = (struct query){ .limit = 7 };
    return cbx_query_read(text, fields, sizeof(fields) / sizeof(fields[0]), out, json, err);
}

static void an_empty_query_leaves_the_defaults(void **state)
{
    (void)state;
    struct query query;
    struct cbx_err err;
    CBX_AUTO_JSON json = NULL;
    assert_int_equal(read_query(CBX_STR(""), &query, &json, &err), 0);
    assert_int_equal(query.limit, 7);
    assert_int_equal(query.name.len, 0);
}

static void values_are_decoded_and_bound_by_their_type(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t limit;
        const char *name;
    } rows[] = {
        { "limit=12", 12, "" },           { "name=a%20b%2B&limit=1000", 1000, "a b+" },
        { "%6Eame=12", 7, "12" },         { "name=a=b", 7, "a=b" },
        { "name=%c3%A9", 7, "\xc3\xa9" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct query query;
        struct cbx_err err;
        CBX_AUTO_JSON json = NULL;
        assert_int_equal(read_query(cbx_str_of(rows[i].text), &query, &json, &err), 0);
        assert_int_equal(query.limit, rows[i].limit);
        assert_true(cbx_str_is(query.name, rows[i].name));
    }
}

static void true_and_false_are_booleans_where_one_is_wanted(void **state)
{
    (void)state;
    struct query query;
    struct cbx_err err;
    CBX_AUTO_JSON json = NULL;
    assert_int_equal(read_query(CBX_STR("end=true&name=true"), &query, &json, &err), 0);
    assert_true(query.end);
    assert_true(cbx_str_is(query.name, "true"));
    CBX_AUTO_JSON other = NULL;
    assert_int_equal(read_query(CBX_STR("end=false"), &query, &other, &err), 0);
    assert_false(query.end);
    assert_int_equal(read_query(CBX_STR("end=1"), &query, &other, &err), CBX_EINVAL);
}

static void what_is_refused_is_named_with_what_is_allowed(void **state)
{
    (void)state;
    static const struct {
        struct cbx_str text;
        const char *found;
    } rows[] = {
        { CBX_STR("limit=0"), "'limit' is 0, allowed 1..1000" },
        { CBX_STR("limit=1001"), "'limit' is 1001, allowed 1..1000" },
        { CBX_STR("limit=-1"), "'limit' is a string, allowed is an integer" },
        { CBX_STR("limit=1e2"), "'limit' is a string, allowed is an integer" },
        { CBX_STR("limit="), "'limit' is a string, allowed is an integer" },
        { CBX_STR("limit=99999999999999999999"), "'limit' is a string, allowed is an integer" },
        { CBX_STR("limit"), "found 'limit', allowed is NAME=VALUE" },
        { CBX_STR("=1"), "found '', allowed is NAME=VALUE" },
        { CBX_STR("limit=1&"), "found '', allowed is NAME=VALUE" },
        { CBX_STR("&"), "found '', allowed is NAME=VALUE" },
        { CBX_STR("limit=1&limit=1"), "'limit' is given twice" },
        { CBX_STR("limit=1&l%69mit=2"), "'limit' is given twice" },
        { CBX_STR("limt=1"), "unknown field 'limt', did you mean 'limit'" },
        { CBX_STR("offset=1"), "unknown field 'offset', allowed are: limit, name" },
        { CBX_STR("name=123456789"), "'name' is 9 bytes, allowed 1..8" },
        { CBX_STR("name=a+b"), "byte 0x2B must be written %2B" },
        { CBX_STR("name=a b"), "byte 0x20 must be written %20" },
        { CBX_STR("name=\xc3\xa9"), "byte 0xC3 must be written %C3" },
        { CBX_STR("name=a\0b"), "byte 0x00 must be written %00" },
        { CBX_STR("name=%4"), "'%' is not followed by two hexadecimal digits" },
        { CBX_STR("name=%"), "'%' is not followed by two hexadecimal digits" },
        { CBX_STR("name=%g1"), "'%' is not followed by two hexadecimal digits" },
        { CBX_STR("name=%00"), "not UTF-8 without NUL" },
        { CBX_STR("n%00ame=a"), "not UTF-8 without NUL" },
        { CBX_STR("name=%ff"), "not UTF-8 without NUL" },
        { CBX_STR("name=%c0%80"), "not UTF-8 without NUL" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct query query;
        struct cbx_err err;
        json_t *json = NULL;
        assert_true(read_query(rows[i].text, &query, &json, &err) < 0);
        assert_null(json);
        if (strstr(err.text, rows[i].found) == NULL) {
            fail_msg("row %zu: '%s'", i, err.text);
        }
    }
}

static void a_query_that_is_too_long_is_refused(void **state)
{
    (void)state;
    char text[CBX_QUERY_BYTES_MAX + 2];
    struct query query;
    struct cbx_err err;
    json_t *json = NULL;
    memset(text, 'a', sizeof(text));
    memcpy(text, "name=", 5);
    struct cbx_str longest = { .p = text, .len = CBX_QUERY_BYTES_MAX };
    assert_int_equal(read_query(longest, &query, &json, &err), CBX_ETOOBIG); /* for the field */
    longest.len++;
    assert_int_equal(read_query(longest, &query, &json, &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, "4097 bytes, allowed are 4096"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_query_leaves_the_defaults),
        cmocka_unit_test(values_are_decoded_and_bound_by_their_type),
        cmocka_unit_test(true_and_false_are_booleans_where_one_is_wanted),
        cmocka_unit_test(what_is_refused_is_named_with_what_is_allowed),
        cmocka_unit_test(a_query_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
