/* SPDX-License-Identifier: MIT
 * `codebox audit report`: one HTML page about the log: no script, no resource of another host,
 * charts as SVG. */
#include "gateway/cli/audit/audit_commands.h"
#include "gateway/cli/audit/audit_export.h"
#include "gateway/cli/cli.h"
#include "gateway/executor/audit/audit_chain.h"
#include "policies/base/memory.h"
#include "policies/base/sort.h"
#include "policies/base/text/html.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
    KEYS_MAX = 10000,
    ROWS_MAX = 30,
    BLOCKED_MAX = 200,
    TIMES_MAX = 1000000,
    BUCKETS = 60,
    SHOWN_MAX = 300
};

struct times {
    int64_t *ms;
    size_t count;
};

struct report {
    uint64_t records, allowed, denied, asked, blocked, others;
    uint64_t relaxed; /* findings that mode log-only let pass */
    /* numbers of records by name */
    json_t *rules, *principals, *denied_principals, *origins, *relaxed_rules;
    json_t *blocked_rows; /* number of records of what the guard blocked */
    json_t *days;         /* per hour: "2026-11-23T10" -> [allowed, denied, blocked] */
    struct times runs, admissions;
    char first[32], last[32];
};

static void count(json_t *counts, struct cbx_str name)
{
    char key[256];
    snprintf(key, sizeof(key), "%.*s", CBX_STR_ARG(name));
    json_t *known = json_object_get(counts, key);
    if (known != NULL) {
        json_integer_set(known, json_integer_value(known) + 1);
    } else if (key[0] != '\0' && json_object_size(counts) < KEYS_MAX) {
        json_object_set_new(counts, key, json_integer(1));
    }
}

static void add_time(struct times *times, int64_t ms)
{
    if (times->count >= TIMES_MAX || ms < 0) {
        return;
    }
    times->ms = cbx_grow(times->ms, times->count, sizeof(*times->ms));
    times->ms[times->count++] = ms;
}

/* Counts by hour: the page joins hours if there are many. */
static void count_hour(struct report *r, const char *time, int column)
{
    char hour[14];
    snprintf(hour, sizeof(hour), "%.13s", time);
    json_t *columns = json_object_get(r->days, hour);
    if (columns == NULL) {
        json_object_set_new(r->days, hour, json_pack("[iii]", 0, 0, 0));
        columns = json_object_get(r->days, hour); /* NULL if the truncated text is no UTF-8 */
    }
    json_t *value = json_array_get(columns, (size_t)column);
    json_integer_set(value, json_integer_value(value) + 1);
}

static void count_decision(struct report *r, const json_t *record, const json_t *body)
{
    struct cbx_str verdict = cbx_json_str(json_object_get(body, "verdict"));
    struct cbx_str principal = cbx_json_str(json_object_get(body, "principal"));
    bool allowed = cbx_str_is(verdict, "allow"), asked = cbx_str_is(verdict, "ask");
    r->allowed += allowed;
    r->asked += asked;
    r->denied += !allowed && !asked;
    count(r->principals, principal);
    count(r->origins, cbx_json_str(json_object_get(body, "origin")));
    if (allowed && json_object_get(body, "mode") != NULL && cbx_audit_rule(body).len > 0) {
        r->relaxed++;
        count(r->relaxed_rules, cbx_audit_rule(body));
    }
    if (!allowed) {
        count(r->denied_principals, principal);
        count(r->rules, cbx_audit_rule(body));
    }
    const char *time = cbx_audit_text(record, "time");
    count_hour(r, time, allowed ? 0 : 1);
    int64_t recorded, issued = json_integer_value(json_object_get(body, "issued_ms"));
    if (issued > 0 && cbx_chain_time(cbx_str_of(time), &recorded)) {
        add_time(&r->admissions, recorded - issued);
    }
}

static void count_record(void *context, const json_t *record, struct cbx_str line)
{
    (void)line;
    struct report *r = context;
    const json_t *body = json_object_get(record, "body");
    const char *type = cbx_audit_text(record, "type"), *time = cbx_audit_text(record, "time");
    snprintf(r->records++ == 0 ? r->first : r->last, sizeof(r->last), "%.31s", time);
    if (strcmp(type, "decision") == 0 || strcmp(type, "analysis-failed") == 0) {
        count_decision(r, record, body);
    } else if (strcmp(type, "blocked") == 0) {
        r->blocked++;
        count_hour(r, time, 2);
        if (json_array_size(r->blocked_rows) < BLOCKED_MAX) {
            json_array_append(r->blocked_rows, (json_t *)(uintptr_t)record);
        }
    } else if (strcmp(type, "outcome") == 0) {
        const json_t *duration = json_object_get(body, "duration_ms");
        if (json_is_integer(duration)) {
            add_time(&r->runs, json_integer_value(duration));
        }
    } else {
        r->others++;
    }
}

/* --- the page --------------------------------------------------------------------------------- */

/* A text of the log, cut: printf "%.*s". */
#define SHOWN(text) CBX_STR_ARG(cbx_str_sub(text, 0, SHOWN_MAX))

struct row {
    const char *name;
    int64_t count;
};

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                                : strcmp(x->name, y->name);
}

/* Draws bars, the longest first. */
static void add_bars(struct cbx_buf *out, const char *title, json_t *counts)
{
    enum { HEIGHT = 22, LEFT = 300, WIDTH = 400 };
    size_t count = 0, total = json_object_size(counts);
    struct row *rows = cbx_new_array(total + 1, sizeof(*rows));
    const char *name;
    json_t *value;
    json_object_foreach(counts, name, value)
    {
        rows[count++] = (struct row){ name, json_integer_value(value) };
    }
    cbx_sort_heap(rows, count, sizeof(*rows), compare_rows);
    size_t shown = count < ROWS_MAX ? count : ROWS_MAX;
    cbx_html_add(out, "<h2>%s</h2>\n", title);
    if (shown == 0) {
        cbx_html_add(out, "<p>none</p>\n");
    } else {
        cbx_html_add(out, "<svg role=\"img\" width=\"800\" height=\"%zu\">\n", shown * HEIGHT);
    }
    for (size_t i = 0; i < shown; i++) {
        int64_t width = rows[i].count * WIDTH / rows[0].count;
        cbx_html_add(out,
                     "<text x=\"%d\" y=\"%zu\" text-anchor=\"end\">%.*s</text>"
                     "<rect x=\"%d\" y=\"%zu\" width=\"%lld\" height=\"16\"/>"
                     "<text x=\"%lld\" y=\"%zu\">%lld</text>\n",
                     LEFT - 8, i * HEIGHT + 15,
                     CBX_STR_ARG(cbx_str_sub(cbx_str_of(rows[i].name), 0, 45)), LEFT,
                     i * HEIGHT + 3, (long long)(width > 0 ? width : 1),
                     (long long)(LEFT + width + 8), i * HEIGHT + 15, (long long)rows[i].count);
    }
    cbx_html_add(out, shown > 0 ? "</svg>\n" : "");
    if (count > shown) {
        cbx_html_add(out, "<p>and %zu more</p>\n", count - shown);
    }
    free(rows);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

/* Draws columns over time. Neighbouring hours are joined until there are at most BUCKETS. */
static void add_columns(struct cbx_buf *out, json_t *days)
{
    enum { HEIGHT = 160, WIDTH = 12 };
    static const char *const classes[] = { "allowed", "denied", "blocked" };
    size_t hours = json_object_size(days), at = 0;
    struct row *rows = cbx_new_array(hours + 1, sizeof(*rows));
    int64_t sums[BUCKETS][3] = { { 0 } }, most = 1;
    const char *name;
    json_t *columns;
    json_object_foreach(days, name, columns)
    {
        rows[at++].name = name;
    }
    cbx_sort_heap(rows, hours, sizeof(*rows), compare_names);
    size_t per = (hours + BUCKETS - 1) / BUCKETS;
    for (size_t i = 0; i < hours; i++) {
        int64_t *sum = sums[i / per];
        for (size_t k = 0; k < 3; k++) {
            sum[k] += json_integer_value(json_array_get(json_object_get(days, rows[i].name), k));
        }
        int64_t all = sum[0] + sum[1] + sum[2];
        most = all > most ? all : most;
    }
    cbx_html_add(out,
                 "<h2>Over time</h2>\n<p>From %sh to %sh (UTC), hours without records left out; "
                 "hours per column: %zu; the tallest column has %lld decisions. "
                 "<span class=\"allowed\">allowed</span> <span class=\"denied\">denied</span> "
                 "<span class=\"blocked\">blocked by the guard</span></p>\n"
                 "<svg role=\"img\" width=\"800\" height=\"%d\">\n",
                 hours > 0 ? rows[0].name : "-", hours > 0 ? rows[hours - 1].name : "-", per,
                 (long long)most, HEIGHT + 2);
    for (size_t i = 0; per > 0 && i * per < hours; i++) {
        int64_t y = HEIGHT;
        for (size_t k = 0; k < 3; k++) {
            int64_t height = sums[i][k] * HEIGHT / most;
            height = height == 0 && sums[i][k] > 0 ? 1 : height;
            y -= height;
            cbx_html_add(out,
                         "<rect class=\"%s\" x=\"%zu\" y=\"%lld\" width=\"%d\" "
                         "height=\"%lld\"/>",
                         classes[k], i * (WIDTH + 1), (long long)y, WIDTH, (long long)height);
        }
    }
    cbx_html_add(out, "\n</svg>\n");
    free(rows);
}

static void add_blocked(struct cbx_buf *out, const json_t *records)
{
    static const char *const members[] = { "principal", "session", "capability",
                                           "rule",      "what",    "decision" };
    size_t i;
    const json_t *record;
    cbx_html_add(out, "<h2>What the guard blocked and the analyzer had let through</h2>\n");
    if (json_array_size(records) == 0) {
        cbx_html_add(out, "<p>none</p>\n");
        return;
    }
    cbx_html_add(out, "<p>the first %zu</p>\n<table><tr><th>record<th>time",
                 json_array_size(records));
    for (size_t k = 0; k < sizeof(members) / sizeof(members[0]); k++) {
        cbx_html_add(out, "<th>%s", members[k]);
    }
    json_array_foreach(records, i, record)
    {
        const json_t *body = json_object_get(record, "body");
        cbx_html_add(out, "</tr>\n<tr><td>%lld<td>%.*s",
                     (long long)json_integer_value(json_object_get(record, "seq")),
                     SHOWN(cbx_json_str(json_object_get(record, "time"))));
        for (size_t k = 0; k < sizeof(members) / sizeof(members[0]); k++) {
            cbx_html_add(out, "<td>%.*s", SHOWN(cbx_json_str(json_object_get(body, members[k]))));
        }
    }
    cbx_html_add(out, "</tr></table>\n");
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void add_latency(struct cbx_buf *out, const char *name, struct times *times)
{
    static const int percents[] = { 50, 90, 99, 100 };
    cbx_sort_heap(times->ms, times->count, sizeof(*times->ms), compare_times);
    cbx_html_add(out, "<tr><th>%s<td>%zu", name, times->count);
    for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
        size_t at = times->count > 0 ? (times->count - 1) * (size_t)percents[i] / 100 : 0;
        cbx_html_add(out, "<td>%lld ms", times->count > 0 ? (long long)times->ms[at] : 0);
    }
    cbx_html_add(out, "</tr>\n");
}

static void add_page(struct cbx_buf *out, struct report *r)
{
    cbx_html_add(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
        "<title>codebox audit report</title>\n<style>\n"
        "body{font:15px sans-serif;margin:2em auto;max-width:60em;padding:0 "
        "1em;color:#222}\nh2{margin-top:2em;font-size:1.1em}\nsvg text{font-size:13px}\n"
        "rect{fill:#47c}\nrect.allowed{fill:#5a5}\nrect.denied{fill:#c44}\n"
        "rect.blocked{fill:#c80}\n.allowed{color:#383}\n.denied{color:#a22}\n"
        ".blocked{color:#a60}\ntable{border-collapse:collapse}\n"
        "td,th{border:1px solid #ccc;padding:.2em "
        ".6em;text-align:left;overflow-wrap:anywhere}\n</style></head><body>\n"
        "<h1>codebox audit report</h1>\n<p>%llu records, from %s to %s. This page does not "
        "verify the log: run 'codebox audit verify'.</p>\n"
        "<table><tr><th>allowed<th>denied<th>to be approved<th>blocked by the "
        "guard<th>others</tr><tr><td>%llu<td>%llu<td>%llu<td>%llu<td>%llu</tr></table>\n",
        (unsigned long long)r->records, r->first, r->last[0] != '\0' ? r->last : r->first,
        (unsigned long long)r->allowed, (unsigned long long)r->denied, (unsigned long long)r->asked,
        (unsigned long long)r->blocked, (unsigned long long)r->others);
    add_columns(out, r->days);
    add_bars(out, "Denied, by the rule that decided", r->rules);
    if (r->relaxed > 0) {
        cbx_html_add(out,
                     "<p>%llu of the allowed would have been denied if their policy were "
                     "not in mode log-only.</p>\n",
                     (unsigned long long)r->relaxed);
        add_bars(out, "Allowed in mode log-only, by the rule that would have decided",
                 r->relaxed_rules);
    }
    add_bars(out, "Denied, by principal", r->denied_principals);
    add_bars(out, "Decisions, by principal", r->principals);
    add_bars(out, "Decisions, by frontend", r->origins);
    add_blocked(out, r->blocked_rows);
    cbx_html_add(out, "<h2>Latencies</h2>\n<table><tr><th><th>count<th>p50<th>p90"
                      "<th>p99<th>max</tr>\n");
    add_latency(out, "from the decision to its record", &r->admissions);
    add_latency(out, "duration of programs", &r->runs);
    cbx_html_add(out, "</table>\n</body></html>\n");
}

static int write_page(const char *path, mode_t mask, const struct cbx_buf *page)
{
    CBX_AUTO_FD fd = -1;
    if (path != NULL) {
        umask(mask);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    }
    if ((path != NULL && fd < 0) ||
        cbx_cli_write(path != NULL ? fd : STDOUT_FILENO, cbx_buf_str(page)) < 0) {
        fprintf(stderr, "codebox: '%s' cannot be written: %s\n",
                path != NULL ? path : "standard output", strerror(errno));
        return 2;
    }
    return 0;
}

int cbx_audit_report_command(const struct cbx_options *options)
{
    struct report r = { .rules = json_object(),
                        .principals = json_object(),
                        .denied_principals = json_object(),
                        .origins = json_object(),
                        .relaxed_rules = json_object(),
                        .blocked_rows = json_array(),
                        .days = json_object() };
    int status = cbx_audit_for_each(options, count_record, &r);
    CBX_AUTO_DONE(buf) page;
    cbx_buf_init(&page, 16 * 1024 * 1024);
    add_page(&page, &r);
    int failed = write_page(options->report_file, options->umask, &page);
    json_decref(r.rules);
    json_decref(r.principals);
    json_decref(r.denied_principals);
    json_decref(r.origins);
    json_decref(r.relaxed_rules);
    json_decref(r.blocked_rows);
    json_decref(r.days);
    free(r.runs.ms);
    free(r.admissions.ms);
    if (failed) {
        return failed;
    }
    return status;
}
