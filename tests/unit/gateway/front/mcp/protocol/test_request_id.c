/* SPDX-License-Identifier: MIT
 * The id of lines that need not be well-formed: what is found, byte by byte, and what is not taken
 * for it. */
#include "gateway/front/mcp/protocol/request_id.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

/* The id for the answer, when the line is fed in pieces of this size. */
static struct cbx_str answer_id(struct cbx_request_id *scan, struct cbx_str line, size_t piece)
{
    *scan = (struct cbx_request_id){ 0 };
    for (size_t at = 0; at < line.len; at += piece) {
        cbx_request_id_feed(scan, cbx_str_sub(line, at, at + piece));
    }
    return cbx_request_id_to_answer(scan);
}

static void assert_id(struct cbx_str line, const char *expected)
{
    static const size_t pieces[] = { 1, 2, 7, SIZE_MAX / 2 };
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct cbx_request_id scan;
        struct cbx_str id = answer_id(&scan, line, pieces[i]);
        char text[CBX_REQUEST_ID_MAX + 1] = "";
        memcpy(text, id.p != NULL ? id.p : "", id.len);
        assert_string_equal(text, expected);
    }
}

struct vector {
    const char *line, *id;
};

static void assert_vectors(const struct vector *vectors, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_id(cbx_str_of(vectors[i].line), vectors[i].id);
    }
}
#define ASSERT_VECTORS(vectors) assert_vectors(vectors, sizeof(vectors) / sizeof((vectors)[0]))

static void finds_the_id_byte_by_byte_wherever_it_stands(void **state)
{
    (void)state;
    static const struct vector vectors[] = {
        { "{\"id\":1,\"method\":\"a\"}", "1" },
        { "{\"id\":1}", "1" },
        { " \t{ \"id\" :\t-0 ,\"method\":\"a\"}\r", "-0" },
        { "{\"method\":\"a\",\"params\":{\"x\":[1,{\"y\":null}]},\"id\":\"\\u0041\\/\"}",
          "\"\\u0041\\/\"" },
        { "{\"id\":\"\",\"method\":\"a\"}", "\"\"" },
        { "{\"id\":\"\\ud83d\",\"method\":\"a\"}", "\"\\ud83d\"" },
        { "{\"id\":99999999999999999999,\"method\":\"a\"}", "99999999999999999999" },
        { "\xef\xbb\xbf{\"id\":1}", "1" },
    };
    ASSERT_VECTORS(vectors);
}

static void knows_the_name_when_it_is_written_with_escapes(void **state)
{
    (void)state;
    static const struct vector vectors[] = {
        { "{\"\\u0069d\":1}", "1" },        { "{\"i\\u0064\":2}", "2" },
        { "{\"\\u0069\\u0064\":3}", "3" },  { "{\"\\u0049d\":4}", "" },
        { "{\"\\u0169d\":5}", "" },         { "{\"i\\d\":6}", "" },
        { "{\"\\u006\":7,\"id\":8}", "8" },
    };
    ASSERT_VECTORS(vectors);
}

static void reads_on_over_members_with_malformed_content(void **state)
{
    (void)state;
    static const struct vector vectors[] = {
        { "{\"a\":\"\\ud800\",\"id\":1}", "1" },
        { "{\"a\":\"\xff\xed\xa0\x80\",\"id\":1}", "1" },
        { "{\"a\":\"\\x\\u12\\\"\\\\\",\"id\":1}", "1" },
        { "{\"a\":\"\x01\t\",\"id\":1}", "1" },
        { "{\"a\":1,\"a\":2,\"id\":1}", "1" },
        { "{\"a\":NaN,\"b\":-Infinity,\"c\":True,\"d\":01.e,\"id\":1}", "1" },
        { "{\"a\":[1,],\"b\":{\"c\":1,},\"id\":1,}", "1" },
        { "{\"id\":1,\"method\":\"a\",\"params\":{", "1" },
        { "{\"id\":1,\"method\":\"a\",\"params\":]", "1" },
        { "{\"id\":1} nonsense", "1" },
    };
    ASSERT_VECTORS(vectors);
}

static void passes_over_ids_that_are_not_at_the_top(void **state)
{
    (void)state;
    static const struct vector vectors[] = {
        { "{\"params\":{\"id\":5}}", "" },
        { "{\"params\":{\"id\":5},\"id\":6}", "6" },
        { "{\"params\":[{\"id\":5},\"id\"],\"x\":\"id\",\"id\":6}", "6" },
        { "{\"a\":\"{\\\"id\\\":5,\",\"id\":6}", "6" },
        { "{\"a\":\"}],\\\\\",\"b\":\"\\\"id\\\":5\",\"id\":6}", "6" },
        { "{\"ids\":5,\"Id\":5,\"\":5,\"id \":5,\"identity\":5}", "" },
        { "[{\"id\":5}]", "" },
        { "\"id\":5", "" },
        { "x{\"id\":5}", "" },
        { "", "" },
    };
    ASSERT_VECTORS(vectors);
}

static void ends_where_the_structure_breaks_because_text_could_be_taken_for_members(void **state)
{
    (void)state;
    static const struct vector vectors[] = {
        { "{\"params\":{\"code\":\"print(\"x\", \"id\":5)\"},\"id\":6}", "" },
        { "{\"code\":\"say \"hi\",\"id\":5,\"x\":\"\",\"id\":6}", "" },
        { "{\"params\":{\"a\":1],\"id\":5},\"id\":6}", "" },
        { "{\"a\":[}, \"id\":5}", "" },
        { "{\"a\" 1,\"id\":5}", "" },
        { "{\"a\":1 \"id\":5}", "" },
        { "{\"a\"::\"id\":5}", "" },
        { "{'a':'\"','id':5,\"id\":6}", "" },
        { "{,\"id\":5}", "" },
        { "{\"a\":'x,\"id\":5,y','id':6}", "" },
    };
    ASSERT_VECTORS(vectors);
}

static void takes_no_value_that_mcp_does_not_have_as_an_id(void **state)
{
    (void)state;
    static const struct vector vectors[] = {
        { "{\"id\":null}", "" },
        { "{\"id\":true}", "" },
        { "{\"id\":1.0}", "" },
        { "{\"id\":1e3}", "" },
        { "{\"id\":01}", "" },
        { "{\"id\":-}", "" },
        { "{\"id\":[1]}", "" },
        { "{\"id\":{\"id\":1}}", "" },
        { "{\"id\":\"\\x\"}", "" },
        { "{\"id\":\"\xff\"}", "" },
        { "{\"id\":\"\x01\"}", "" },
        { "{\"id\":\"\\u12\"}", "" },
        { "{\"id\":\"\\ud83\\\"}", "" },
        { "{\"id\":NaN}", "" },
        { "{\"id\":}", "" },
    };
    ASSERT_VECTORS(vectors);
}

static void waits_for_the_end_of_an_id(void **state)
{
    (void)state;
    static const struct vector vectors[] = {
        { "{\"id\":12", "" },    { "{\"id\":\"12", "" },  { "{\"id\":\"12\\\"", "" },
        { "{\"id\":12 ", "12" }, { "{\"id\":12}", "12" }, { "{\"id\":\"12\"", "\"12\"" },
    };
    ASSERT_VECTORS(vectors);
}

static void takes_two_ids_only_when_they_are_the_same(void **state)
{
    (void)state;
    static const struct vector vectors[] = {
        { "{\"id\":1,\"id\":1}", "1" },         { "{\"id\":1,\"id\":2}", "" },
        { "{\"id\":1,\"\\u0069d\":2}", "" },    { "{\"id\":null,\"id\":2}", "" },
        { "{\"id\":1,\"id\":\"1\"}", "" },      { "{\"id\":{},\"id\":2}", "" },
        { "{\"id\":1,\"id\":2,\"id\":1}", "" },
    };
    ASSERT_VECTORS(vectors);
}

static void gives_no_id_to_answer_a_response_with(void **state)
{
    (void)state;
    static const struct vector vectors[] = {
        { "{\"id\":1,\"result\":{}}", "" },
        { "{\"error\":{},\"id\":1}", "" },
        { "{\"id\":1,\"method\":\"a\",\"result\":{}}", "1" },
        { "{\"id\":1,\"params\":{\"result\":1,\"error\":2}}", "1" },
    };
    ASSERT_VECTORS(vectors);
    struct cbx_request_id scan = { 0 };
    cbx_request_id_feed(&scan, CBX_STR("{\"id\":1,\"result\":{}}"));
    assert_true(cbx_str_is(cbx_request_id_value(&scan), "1"));
}

static void takes_an_id_up_to_its_longest_and_none_that_is_longer(void **state)
{
    (void)state;
    char line[CBX_REQUEST_ID_MAX + 50], id[CBX_REQUEST_ID_MAX + 1];
    snprintf(id, sizeof(id), "\"%0*d\"", CBX_REQUEST_ID_MAX - 2, 0);
    snprintf(line, sizeof(line), "{\"id\":%s,\"method\":\"a\"}", id);
    assert_id(cbx_str_of(line), id);
    snprintf(line, sizeof(line), "{\"id\":\"%0*d\",\"method\":\"a\"}", CBX_REQUEST_ID_MAX - 1, 0);
    assert_id(cbx_str_of(line), "");
    struct cbx_request_id scan = { 0 };
    cbx_request_id_feed(&scan, cbx_str_of(line));
    assert_int_equal(scan.id_bytes, CBX_REQUEST_ID_MAX + 1);
}

/* "{"a":" + `many` times `open` + "1" + `many` times `close` + ","id":7}" */
static void assert_nested(size_t many, char open, char close, const char *expected)
{
    static const char head[] = "{\"a\":", tail[] = ",\"id\":7}";
    size_t len = 0;
    char *line = malloc(2 * many + sizeof(head) + sizeof(tail));
    assert_non_null(line);
    memcpy(line, head, sizeof(head) - 1);
    len = sizeof(head) - 1;
    memset(line + len, open, many);
    len += many;
    line[len++] = '1';
    memset(line + len, close, many);
    len += many;
    memcpy(line + len, tail, sizeof(tail) - 1);
    assert_id((struct cbx_str){ line, len + sizeof(tail) - 1 }, expected);
    free(line);
}

static void finds_the_id_behind_any_depth(void **state)
{
    (void)state;
    assert_nested(CBX_REQUEST_ID_LEVELS - 1, '[', ']', "7");
    assert_nested(CBX_REQUEST_ID_LEVELS, '[', ']', "7");
    assert_nested(CBX_REQUEST_ID_LEVELS + 1, '[', ']', "7");
    assert_nested(1000000, '[', ']', "7");
    assert_nested(CBX_REQUEST_ID_LEVELS, '[', '}', "");
    assert_nested(1, '[', '}', "");
}

static void finds_the_id_behind_a_long_member(void **state)
{
    (void)state;
    static const char head[] = "{\"params\":{\"code\":\"", tail[] = "\\\"}\"},\"id\":\"last\"}";
    size_t many = 10 * 1024 * 1024;
    char *line = malloc(many + sizeof(head) + sizeof(tail));
    assert_non_null(line);
    memcpy(line, head, sizeof(head) - 1);
    memset(line + sizeof(head) - 1, '{', many);
    memcpy(line + sizeof(head) - 1 + many, tail, sizeof(tail) - 1);
    assert_id((struct cbx_str){ line, sizeof(head) - 1 + many + sizeof(tail) - 1 }, "\"last\"");
    free(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_id_byte_by_byte_wherever_it_stands),
        cmocka_unit_test(knows_the_name_when_it_is_written_with_escapes),
        cmocka_unit_test(reads_on_over_members_with_malformed_content),
        cmocka_unit_test(passes_over_ids_that_are_not_at_the_top),
        cmocka_unit_test(ends_where_the_structure_breaks_because_text_could_be_taken_for_members),
        cmocka_unit_test(takes_no_value_that_mcp_does_not_have_as_an_id),
        cmocka_unit_test(waits_for_the_end_of_an_id),
        cmocka_unit_test(takes_two_ids_only_when_they_are_the_same),
        cmocka_unit_test(gives_no_id_to_answer_a_response_with),
        cmocka_unit_test(takes_an_id_up_to_its_longest_and_none_that_is_longer),
        cmocka_unit_test(finds_the_id_behind_any_depth),
        cmocka_unit_test(finds_the_id_behind_a_long_member),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
