/* SPDX-License-Identifier: MIT
 * Charts. */
#include "gateway/front/page/charts.h"

#include "policies/base/sort.h"
#include "policies/base/text/html.h"

#include <string.h>

enum { BARS_MAX = 60, WIDTH = 300, HEIGHT = 56, BAR_WIDTH = 5 };

const char *cbx_duration_write(int64_t ms, char out[CBX_DURATION_BYTES])
{
    enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR };
    if (ms < SECOND) {
        snprintf(out, CBX_DURATION_BYTES, "%d ms", ms > 0 ? (int)ms : 0);
    } else if (ms < 10 * SECOND) {
        snprintf(out, CBX_DURATION_BYTES, "%d.%d s", (int)ms / SECOND, (int)ms % SECOND / 100);
    } else if (ms < 2 * MINUTE) {
        snprintf(out, CBX_DURATION_BYTES, "%d s", (int)ms / SECOND);
    } else if (ms < HOUR) {
        snprintf(out, CBX_DURATION_BYTES, "%d min", (int)ms / MINUTE);
    } else if (ms < DAY) {
        snprintf(out, CBX_DURATION_BYTES, "%d h %d min", (int)ms / HOUR, (int)ms % HOUR / MINUTE);
    } else {
        snprintf(out, CBX_DURATION_BYTES, "%lld d %d h", (long long)(ms / DAY),
                 (int)(ms % DAY) / HOUR);
    }
    return out;
}

/* --- parts of a whole ------------------------------------------------------------------------- */

struct part {
    const char *name, *class;
    json_int_t count;
};

static void add_parts(struct cbx_buf *out, const char *title, const struct part *parts,
                      size_t count)
{
    json_int_t all = 0;
    double x = 0;
    for (size_t i = 0; i < count; i++) {
        all += parts[i].count;
    }
    cbx_html_add(
        out,
        "<svg class=\"bar\" viewBox=\"0 0 %d 10\" preserveAspectRatio=\"none\" role=\"img\" "
        "aria-label=\"%s\"><rect class=\"empty\" width=\"%d\" height=\"10\"/>",
        WIDTH, title, WIDTH);
    for (size_t i = 0; i < count; i++) {
        double width = all > 0 ? (double)parts[i].count / (double)all * WIDTH : 0;
        cbx_html_add(out, "<rect class=\"%s\" x=\"%.1f\" width=\"%.1f\" height=\"10\"/>",
                     parts[i].class, x, width);
        x += width;
    }
    cbx_html_add(out, "</svg><ul class=\"legend\">");
    for (size_t i = 0; i < count; i++) {
        cbx_html_add(out, "<li class=\"%s\"><b>%lld</b> %s</li>", parts[i].class,
                     (long long)parts[i].count, parts[i].name);
    }
    cbx_html_add(out, "</ul>");
}

static json_int_t count_verdict(const json_t *decisions, const char *verdict)
{
    json_int_t count = 0;
    size_t i;
    const json_t *d;
    json_array_foreach((json_t *)(uintptr_t)decisions, i, d)
    {
        count += cbx_str_is(cbx_json_str(json_object_get(d, "verdict")), verdict);
    }
    return count;
}

void cbx_chart_verdicts(struct cbx_buf *out, const json_t *decisions)
{
    const struct part parts[] = {
        { "allowed", "good", count_verdict(decisions, "allow") },
        { "need approval", "warn", count_verdict(decisions, "ask") },
        { "denied", "bad", count_verdict(decisions, "deny") },
    };
    add_parts(out, "Decisions by verdict", parts, sizeof(parts) / sizeof(parts[0]));
}

void cbx_chart_pool(struct cbx_buf *out, const json_t *pool)
{
    const struct part parts[] = {
        { "ready", "good", json_integer_value(json_object_get(pool, "ready")) },
        { "in use", "busy", json_integer_value(json_object_get(pool, "in_use")) },
        { "being made", "warn", json_integer_value(json_object_get(pool, "making")) },
    };
    add_parts(out, "Sandboxes by state", parts, sizeof(parts) / sizeof(parts[0]));
    cbx_html_add(out, "<p class=\"note\">%lld runs wait for one; %lld made, %lld failed.</p>",
                 (long long)json_integer_value(json_object_get(pool, "waiting")),
                 (long long)json_integer_value(json_object_get(pool, "made")),
                 (long long)json_integer_value(json_object_get(pool, "failed")));
}

/* --- runs ------------------------------------------------------------------------------------- */

struct runs {
    json_int_t ms[BARS_MAX]; /* the newest first */
    bool good[BARS_MAX];
    size_t count;
};

static void collect(const json_t *decisions, struct runs *runs)
{
    size_t i;
    const json_t *d;
    json_array_foreach((json_t *)(uintptr_t)decisions, i, d)
    {
        const json_t *run = json_object_get(d, "run"), *ms = json_object_get(run, "duration_ms");
        if (json_is_integer(ms) && runs->count < BARS_MAX) {
            runs->good[runs->count] =
                cbx_str_is(cbx_json_str(json_object_get(run, "outcome")), "ok");
            runs->ms[runs->count++] = json_integer_value(ms);
        }
    }
}

static int compare(const void *a, const void *b)
{
    json_int_t x = *(const json_int_t *)a, y = *(const json_int_t *)b;
    return (x > y) - (x < y);
}

/* Twice the logarithm to base 2, from 1: integers are enough for a bar. */
static int steps_of(json_int_t ms)
{
    int steps = 1;
    for (; ms > 1; ms /= 2) {
        steps += ms >= 3 ? 2 : 1;
    }
    return steps;
}

static int most_steps(const struct runs *runs)
{
    enum { LEAST = 8 }; /* runs that are all short have short bars */
    int most = LEAST;
    for (size_t i = 0; i < runs->count; i++) {
        int steps = steps_of(runs->ms[i]);
        most = steps > most ? steps : most;
    }
    return most;
}

void cbx_chart_runs(struct cbx_buf *out, const json_t *decisions)
{
    struct runs runs = { 0 };
    collect(decisions, &runs);
    int most = most_steps(&runs);
    cbx_html_add(out,
                 "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" "
                 "aria-label=\"Durations of the last runs\">",
                 WIDTH, HEIGHT);
    for (size_t i = 0; i < runs.count; i++) {
        int height = steps_of(runs.ms[i]) * HEIGHT / most;
        cbx_html_add(out,
                     "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\">"
                     "<title>%s</title></rect>",
                     runs.good[i] ? "busy" : "bad", WIDTH - ((int)i + 1) * BAR_WIDTH,
                     HEIGHT - height, BAR_WIDTH - 1, height, CBX_DURATION(runs.ms[i]));
    }
    cbx_html_add(out, "</svg>");
    if (runs.count == 0) {
        cbx_html_add(out, "<p class=\"note\">No run has ended yet.</p>");
        return;
    }
    json_int_t scratch[BARS_MAX];
    cbx_sort(runs.ms, runs.count, sizeof(runs.ms[0]), compare, scratch);
    cbx_html_add(out,
                 "<p class=\"note\">Last %zu: median <b>%s</b>, 95th percentile <b>%s</b>. "
                 "The scale is logarithmic.</p>",
                 runs.count, CBX_DURATION(runs.ms[runs.count / 2]),
                 CBX_DURATION(runs.ms[(runs.count * 95 + 99) / 100 - 1]));
}
