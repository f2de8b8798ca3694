/* SPDX-License-Identifier: MIT
 * The findings that a policy in mode log-only let through, each on a line. */
#include "gateway/front/denial/relaxed.h"

#include "tests/unit/unit.h"

static json_t *finding(const char *would, const char *symbol)
{
    json_t *f = json_pack("{s:s,s:s,s:s,s:s,s:i}", "rule", "py.process", "effect", "warn", "symbol",
                          symbol, "message", "Starting programs.", "line", 3);
    if (would != NULL) {
        json_object_set_new(f, "would", json_string(would));
    }
    return f;
}

static void what_would_be_stopped_is_told_and_a_warning_is_not(void **state)
{
    (void)state;
    CBX_AUTO_JSON decision = json_pack("{s:[o,o,o]}", "findings", finding("deny", "os.system"),
                                       finding(NULL, "psutil"), finding("ask", "os.fork"));
    CBX_AUTO_JSON lines = cbx_relaxed_warnings(decision);
    assert_int_equal(json_array_size(lines), 2);
    assert_string_equal(json_string_value(json_array_get(lines, 0)),
                        "line 3: os.system would be denied by rule py.process: Starting programs.");
    assert_string_equal(
        json_string_value(json_array_get(lines, 1)),
        "line 3: os.fork would need approval by rule py.process: Starting programs.");
}

static void a_package_stands_on_no_line(void **state)
{
    (void)state;
    json_t *package = finding("deny", "paramiko==3.4.0");
    json_object_set_new(package, "line", json_integer(0));
    CBX_AUTO_JSON decision = json_pack("{s:[o]}", "findings", package);
    CBX_AUTO_JSON lines = cbx_relaxed_warnings(decision);
    assert_string_equal(json_string_value(json_array_get(lines, 0)),
                        "paramiko==3.4.0 would be denied by rule py.process: Starting programs.");
}

static void without_one_there_is_no_member(void **state)
{
    (void)state;
    CBX_AUTO_JSON decision = json_pack("{s:[o]}", "findings", finding(NULL, "psutil"));
    CBX_AUTO_JSON answer = json_object();
    cbx_relaxed_warn(decision, answer);
    cbx_relaxed_warn(NULL, answer);
    assert_int_equal(json_object_size(answer), 0);
}

static void many_are_counted_and_what_the_source_chose_is_one_printable_line(void **state)
{
    (void)state;
    CBX_AUTO_JSON decision = json_pack("{s:[]}", "findings");
    for (int i = 0; i < CBX_RELAXED_WARNINGS_MAX + 7; i++) {
        json_array_append_new(json_object_get(decision, "findings"), finding("deny", "a\nb\033[m"));
    }
    CBX_AUTO_JSON answer = json_object();
    cbx_relaxed_warn(decision, answer);
    const json_t *lines = json_object_get(answer, "warnings");
    assert_int_equal(json_array_size(lines), CBX_RELAXED_WARNINGS_MAX + 1);
    const char *first = json_string_value(json_array_get(lines, 0));
    assert_null(strchr(first, '\n'));
    assert_null(strchr(first, '\033'));
    assert_string_equal(json_string_value(json_array_get(lines, CBX_RELAXED_WARNINGS_MAX)),
                        "and 7 more findings");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_would_be_stopped_is_told_and_a_warning_is_not),
        cmocka_unit_test(a_package_stands_on_no_line),
        cmocka_unit_test(without_one_there_is_no_member),
        cmocka_unit_test(many_are_counted_and_what_the_source_chose_is_one_printable_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
