/* SPDX-License-Identifier: MIT
 * One member is set in a JSON text; every other byte stays. */
#include "gateway/cli/install/json_splice.h"
#include "tests/unit/unit.h"

#include <string.h>

/* The text with servers.box set to {"a":[1]}; a message that starts with "error: " instead. */
static void splice(const char *text, enum cbx_splice *what, struct cbx_buf *out)
{
    CBX_AUTO_JSON value = json_pack("{s:[i]}", "a", 1);
    struct cbx_err err = { 0 };
    cbx_buf_init(out, 1 << 20);
    static const char *const path[] = { "servers", "box" };
    if (cbx_json_splice(cbx_str_of(text), path, 2, value, what, out, &err) != 0) {
        cbx_buf_printf(out, "error: %s", err.text);
    }
}

static void assert_spliced(const char *text, enum cbx_splice expected_what, const char *expected)
{
    CBX_AUTO_DONE(buf) out;
    enum cbx_splice what = CBX_SPLICE_SAME;
    splice(text, &what, &out);
    assert_string_equal(out.p, expected);
    assert_int_equal(what, expected_what);
}

static void assert_refused(const char *text, const char *part)
{
    CBX_AUTO_DONE(buf) out;
    enum cbx_splice what;
    splice(text, &what, &out);
    assert_int_equal(strncmp(out.p, "error: ", 7), 0);
    assert_non_null(strstr(out.p, part));
}

static void makes_a_file_of_nothing(void **state)
{
    (void)state;
    static const char expected[] =
        "{\n  \"servers\": {\n    \"box\": {\n      \"a\": [\n        1\n"
        "      ]\n    }\n  }\n}\n";
    assert_spliced("", CBX_SPLICE_ADDED, expected);
    assert_spliced(" \n", CBX_SPLICE_ADDED, expected);
    assert_spliced("{}\n", CBX_SPLICE_ADDED, expected);
}

static void adds_a_section_behind_the_last_member(void **state)
{
    (void)state;
    assert_spliced("{\n\t\"z\": 1.0,\n\t\"b\": [ 0.1, 1E5 ]\n}", CBX_SPLICE_ADDED,
                   "{\n\t\"z\": 1.0,\n\t\"b\": [ 0.1, 1E5 ],\n\t\"servers\": {\n\t\t\"box\": "
                   "{\n\t\t\t\"a\": [\n\t\t\t\t1\n\t\t\t]\n\t\t}\n\t}\n}");
}

static void adds_the_member_behind_the_others_of_its_section(void **state)
{
    (void)state;
    assert_spliced(
        "{\n    \"servers\": {\n        \"y\": {\"box\": 1}\n    },\n    \"x\": \"}\\\"{\"\n}\n",
        CBX_SPLICE_ADDED,
        "{\n    \"servers\": {\n        \"y\": {\"box\": 1},\n        \"box\": {\n            "
        "\"a\": [\n                1\n            ]\n        }\n    },\n    \"x\": "
        "\"}\\\"{\"\n}\n");
    assert_spliced(
        "{\n  \"x\": {\"servers\": 1},\n  \"servers\": {}\n}", CBX_SPLICE_ADDED,
        "{\n  \"x\": {\"servers\": 1},\n  \"servers\": {\n    \"box\": {\n      \"a\": [\n        "
        "1\n      ]\n    }\n  }\n}");
}

static void replaces_a_member_that_differs_where_it_stands(void **state)
{
    (void)state;
    assert_spliced(
        "{\n  \"servers\": {\n    \"b\\u006fx\": {\"a\": [2], \"c\": \"}\"},\n    \"y\": 0\n  }\n}",
        CBX_SPLICE_REPLACED,
        "{\n  \"servers\": {\n    \"b\\u006fx\": {\n      \"a\": [\n        1\n      ]\n    },\n"
        "    \"y\": 0\n  }\n}");
    assert_spliced("{\"servers\":{\"box\":null}}", CBX_SPLICE_REPLACED,
                   "{\"servers\":{\"box\":{\"a\":[1]}}}");
}

static void leaves_a_text_alone_that_has_the_member(void **state)
{
    (void)state;
    assert_spliced("{ \"servers\":{\"box\" : {\"a\":[ 1 ]} }}", CBX_SPLICE_SAME,
                   "{ \"servers\":{\"box\" : {\"a\":[ 1 ]} }}");
}

static void keeps_a_text_on_one_line(void **state)
{
    (void)state;
    assert_spliced("{\"servers\":{\"y\":-1}}", CBX_SPLICE_ADDED,
                   "{\"servers\":{\"y\":-1, \"box\": {\"a\":[1]}}}");
    assert_spliced("{\"q\":\"\\\"}\",\"y\":[\"]\\\"\"]}", CBX_SPLICE_ADDED,
                   "{\"q\":\"\\\"}\",\"y\":[\"]\\\"\"], \"servers\": {\"box\":{\"a\":[1]}}}");
    assert_spliced("{\"y\":true}", CBX_SPLICE_ADDED,
                   "{\"y\":true, \"servers\": {\"box\":{\"a\":[1]}}}");
}

static void ends_lines_as_the_text_does(void **state)
{
    (void)state;
    assert_spliced(
        "{\r\n  \"servers\": {\r\n    \"y\": 1\r\n  }\r\n}\r\n", CBX_SPLICE_ADDED,
        "{\r\n  \"servers\": {\r\n    \"y\": 1,\r\n    \"box\": {\r\n      \"a\": [\r\n        "
        "1\r\n      ]\r\n    }\r\n  }\r\n}\r\n");
}

#define BOX "\"box\": {\n      \"a\": [\n        1\n      ]\n    }"

static void keeps_comments_and_commas_behind_last_members(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        { "// of the team\n{\n  \"servers\": {\n    \"y\": 1 // \"box\": 2, }\n  } /* "
          "{\"servers\": */\n}\n",
          "// of the team\n{\n  \"servers\": {\n    \"y\": 1, // \"box\": 2, }\n    " BOX
          "\n  } /* {\"servers\": */\n}\n" },
        { "{\n  \"servers\": {\n    \"y\": \"//\", // note\n  },\n}\n",
          "{\n  \"servers\": {\n    \"y\": \"//\", // note\n    " BOX ",\n  },\n}\n" },
        { "{\n  \"servers\": {\n    // none yet\n  }\n}\n",
          "{\n  \"servers\": {\n    // none yet\n    " BOX "\n  }\n}\n" },
        { "{\n  // \"box\"\n  \"servers\": {\n    // ours\n    \"box\": /* old */ 0, // end\n  "
          "}\n}\n",
          "{\n  // \"box\"\n  \"servers\": {\n    // ours\n    \"box\": /* old */ {\n      \"a\": "
          "[\n        1\n      ]\n    }, // end\n  }\n}\n" },
        { "// nothing\n", "// nothing\n{\n  \"servers\": {\n    " BOX "\n  }\n}\n" },
        { "{\"y\": [1,],}", "{\"y\": [1,], \"servers\": {\"box\":{\"a\":[1]}},}" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(buf) out;
        enum cbx_splice what = CBX_SPLICE_SAME;
        splice(cases[i].text, &what, &out);
        assert_string_equal(out.p, cases[i].expected);
        assert_int_not_equal(what, CBX_SPLICE_SAME);
    }
}

static void sets_a_member_deeper_down(void **state)
{
    (void)state;
    static const char *const path[] = { "servers", "box", "a" };
    const char *text =
        "{\n  \"servers\": {\n    \"box\": {\n      \"env\": {\"K\": \"v\"}, // mine\n      "
        "\"a\": 1 // old\n    }\n  }\n}\n";
    CBX_AUTO_JSON value = json_integer(2);
    CBX_AUTO_DONE(buf) out;
    enum cbx_splice what;
    struct cbx_err err = { 0 };
    cbx_buf_init(&out, 1 << 20);
    assert_int_equal(cbx_json_splice(cbx_str_of(text), path, 3, value, &what, &out, &err), 0);
    assert_string_equal(
        out.p, "{\n  \"servers\": {\n    \"box\": {\n      \"env\": {\"K\": \"v\"}, // mine\n      "
               "\"a\": 2 // old\n    }\n  }\n}\n");
    assert_int_equal(what, CBX_SPLICE_REPLACED);
}

static void refuses_what_is_not_an_object_of_json(void **state)
{
    (void)state;
    assert_refused("{\"servers\": {},,}", "not valid JSON");
    assert_refused("{/* \"servers\": {}}", "not valid JSON");
    assert_refused("{\"servers\": {}} // one\n {}", "not valid JSON");
    assert_refused("[]", "the file is not an object");
    assert_refused("{\"servers\": []}", "servers is not an object");
    assert_refused("{\"servers\": {}, \"servers\": {}}", "not valid JSON");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_a_file_of_nothing),
        cmocka_unit_test(adds_a_section_behind_the_last_member),
        cmocka_unit_test(adds_the_member_behind_the_others_of_its_section),
        cmocka_unit_test(replaces_a_member_that_differs_where_it_stands),
        cmocka_unit_test(leaves_a_text_alone_that_has_the_member),
        cmocka_unit_test(keeps_a_text_on_one_line),
        cmocka_unit_test(ends_lines_as_the_text_does),
        cmocka_unit_test(keeps_comments_and_commas_behind_last_members),
        cmocka_unit_test(sets_a_member_deeper_down),
        cmocka_unit_test(refuses_what_is_not_an_object_of_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
