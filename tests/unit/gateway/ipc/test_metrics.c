/* SPDX-License-Identifier: MIT
 * Counters and histograms. Hostile labels neither break a line nor create series without end. */
#include "gateway/ipc/metrics.h"

#include "tests/unit/unit.h"

static size_t lines_with(const char *text, const char *start)
{
    size_t count = 0;
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
        count += strncmp(line, start, strlen(start)) == 0;
    }
    return count;
}

static void counts_by_labels(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1 << 20);
    cbx_metric_count(CBX_METRIC_DECISIONS, CBX_STR("allow"), CBX_STR("python"));
    cbx_metric_count(CBX_METRIC_DECISIONS, CBX_STR("allow"), CBX_STR("python"));
    cbx_metric_count(CBX_METRIC_RUNS, CBX_STR("ok"), CBX_STR(""));
    cbx_metrics_write(&text);
    assert_non_null(
        strstr(text.p, "\ncodebox_decisions_total{verdict=\"allow\",language=\"python\"} 2\n"));
    assert_non_null(strstr(text.p, "\ncodebox_runs_total{outcome=\"ok\"} 1\n"));
    assert_int_equal(lines_with(text.p, "# TYPE codebox_http_requests_total"), 0);
}

static void hostile_labels_stay_in_their_quotes(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1 << 20);
    cbx_metric_count(CBX_METRIC_ERRORS, CBX_STR("a\"} 9\nb\\\xff"), CBX_STR(""));
    cbx_metrics_write(&text);
    assert_non_null(strstr(text.p, "{kind=\"a\\\"} 9?b\\\\?\"} 1\n"));
}

static void the_number_of_series_is_bounded(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1 << 20);
    for (int i = 0; i < 2000; i++) {
        char route[32];
        snprintf(route, sizeof(route), "/%d", i);
        cbx_metric_count(CBX_METRIC_HTTP, cbx_str_of(route), CBX_STR("200"));
    }
    cbx_metrics_write(&text);
    assert_int_equal(lines_with(text.p, "codebox_http_requests_total{"), 513);
    assert_non_null(strstr(text.p, "{route=\"other\",status=\"other\"} 1488\n"));
}

static void a_histogram_is_cumulative(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1 << 20);
    cbx_metric_observe(CBX_METRIC_RUN_TIME, 400);
    cbx_metric_observe(CBX_METRIC_RUN_TIME, 1500);
    cbx_metric_observe(CBX_METRIC_RUN_TIME, 100 * 1000000LL);
    cbx_metrics_write(&text);
    assert_non_null(strstr(text.p, "_run_duration_seconds_bucket{le=\"0.0005\"} 1\n"));
    assert_non_null(strstr(text.p, "_run_duration_seconds_bucket{le=\"0.002\"} 2\n"));
    assert_non_null(strstr(text.p, "_run_duration_seconds_bucket{le=\"60\"} 2\n"));
    assert_non_null(strstr(text.p, "_run_duration_seconds_bucket{le=\"+Inf\"} 3\n"));
    assert_non_null(strstr(text.p, "_run_duration_seconds_count 3\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_by_labels),
        cmocka_unit_test(hostile_labels_stay_in_their_quotes),
        cmocka_unit_test(the_number_of_series_is_bounded),
        cmocka_unit_test(a_histogram_is_cumulative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
