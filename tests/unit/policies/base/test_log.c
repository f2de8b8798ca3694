/* SPDX-License-Identifier: MIT
 * Lines of the log, as text and as JSON. */
#include "policies/base/log.h"

#include "policies/base/text/json.h"
#include "tests/unit/unit.h"

#include <unistd.h>

/* Returns the output of one message on stderr. */
static void line_of(char *out, size_t size, const char *hostile)
{
    int ends[2], kept = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    cbx_log(CBX_LOG_WARNING, "from '%s'", hostile);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(ends[1]);
    ssize_t n = read(ends[0], out, size - 1);
    out[n > 0 ? n : 0] = '\0';
    close(ends[0]);
}

static void a_text_line_is_one_printable_line(void **state)
{
    (void)state;
    char line[4096];
    cbx_log_set_json(false);
    cbx_log_set(CBX_LOG_WARNING, false);
    line_of(line, sizeof(line), "a\nb\x1b[0m");
    assert_string_equal(line, "codebox: from 'a?b?[0m'\n");
    cbx_log_set(CBX_LOG_WARNING, true);
    line_of(line, sizeof(line), "x");
    assert_string_equal(line + 24, " warning codebox: from 'x'\n");
}

static void a_json_line_is_one_object_with_every_text_escaped(void **state)
{
    (void)state;
    static const char *const hostile[] = {
        "a\nb", "\"}, {\"level\": \"info\"", "\x1b[0m\x7f\x01", "\xff\xfe", "\xe2\x80\xae", "\\"
    };
    cbx_log_set_json(true);
    cbx_log_set_component("front");
    for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
        char line[4096];
        line_of(line, sizeof(line), hostile[i]);
        size_t len = strlen(line);
        assert_int_equal(line[len - 1], '\n');
        for (size_t at = 0; at + 1 < len; at++) {
            assert_true(line[at] >= ' ' && line[at] <= '~' + 1);
        }
        json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(object);
        assert_int_equal(json_object_size(object), 4);
        assert_string_equal(json_string_value(json_object_get(object, "level")), "warning");
        assert_string_equal(json_string_value(json_object_get(object, "component")), "front");
        assert_int_equal(strlen(json_string_value(json_object_get(object, "time"))), 24);
        assert_non_null(strstr(json_string_value(json_object_get(object, "message")), "from '"));
        json_decref(object);
    }
    cbx_log_set_json(false);
}

static void lines_that_strangers_cause_are_limited_and_the_others_counted(void **state)
{
    (void)state;
    struct cbx_log_rate rate = { 0 };
    const int64_t start = 5 * (int64_t)CBX_LOG_RATE_MS;
    unsigned left_out = 9;
    for (int i = 0; i < CBX_LOG_RATE_LINES; i++) {
        assert_true(cbx_log_rate_take(&rate, start + i, &left_out));
        assert_int_equal(left_out, 0);
    }
    for (int i = 0; i < 1000; i++) {
        assert_false(cbx_log_rate_take(&rate, start + CBX_LOG_RATE_MS - 1, &left_out));
    }
    assert_true(cbx_log_rate_take(&rate, start + CBX_LOG_RATE_MS, &left_out));
    assert_int_equal(left_out, 1000);
    assert_true(cbx_log_rate_take(&rate, start + CBX_LOG_RATE_MS, &left_out));
    assert_int_equal(left_out, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_line_is_one_printable_line),
        cmocka_unit_test(a_json_line_is_one_object_with_every_text_escaped),
        cmocka_unit_test(lines_that_strangers_cause_are_limited_and_the_others_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
