/* SPDX-License-Identifier: MIT
 * Counters and histograms of one process. */
#include "gateway/ipc/metrics.h"

#include "policies/base/memory.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { VALUE_MAX = 64, BUCKETS = 16 };
enum kind { COUNTER, HISTOGRAM };

/* Upper bounds; the last bucket has no bound. */
static const double bounds_s[BUCKETS - 1] = { 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,
                                              0.2,    0.5,   1,     2,     5,    20,   60 };

static const struct row {
    enum kind kind;
    const char *name, *labels;
    size_t series_max;
    const char *help;
} rows[] = {
#define CBX_METRIC(id, kind, name, labels, series, help) { kind, name, labels, series, help },
#include "gateway/ipc/metrics.def"
#undef CBX_METRIC
};

struct series {
    char values[CBX_METRIC_LABELS_MAX][VALUE_MAX];
    uint64_t count;
};
static struct family {
    struct series *series; /* the series of a counter */
    size_t count;
    uint64_t buckets[BUCKETS];
    double sum_s;
} families[CBX_METRICS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int64_t cbx_metric_clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static struct series *find_series(const struct family *family, const char *first,
                                  const char *second)
{
    for (size_t i = 0; i < family->count; i++) {
        if (strcmp(family->series[i].values[0], first) == 0 &&
            strcmp(family->series[i].values[1], second) == 0) {
            return &family->series[i];
        }
    }
    return NULL;
}

/* The array has one element more than series_max: the series "other". */
static struct series *add_series(const struct row *row, struct family *family, const char *first,
                                 const char *second)
{
    if (family->count >= row->series_max) {
        first = "other";
        second = strchr(row->labels, ',') != NULL ? "other" : "";
        struct series *other = find_series(family, first, second);
        if (other != NULL) {
            return other;
        }
    }
    if (family->series == NULL) {
        family->series = cbx_new_array(row->series_max + 1, sizeof(*family->series));
    }
    struct series *made = &family->series[family->count++];
    snprintf(made->values[0], VALUE_MAX, "%s", first);
    snprintf(made->values[1], VALUE_MAX, "%s", second);
    return made;
}

void cbx_metric_count(enum cbx_metric metric, struct cbx_str first, struct cbx_str second)
{
    char values[CBX_METRIC_LABELS_MAX][VALUE_MAX];
    struct family *family = &families[metric];
    snprintf(values[0], VALUE_MAX, "%.*s", CBX_STR_ARG(first));
    snprintf(values[1], VALUE_MAX, "%.*s", CBX_STR_ARG(second));
    pthread_mutex_lock(&lock);
    struct series *series = find_series(family, values[0], values[1]);
    series = series != NULL ? series : add_series(&rows[metric], family, values[0], values[1]);
    series->count++;
    pthread_mutex_unlock(&lock);
}

void cbx_metric_observe(enum cbx_metric metric, int64_t us)
{
    double seconds = (double)us / 1e6;
    size_t bucket = 0;
    while (bucket < BUCKETS - 1 && seconds > bounds_s[bucket]) {
        bucket++;
    }
    pthread_mutex_lock(&lock);
    families[metric].buckets[bucket]++;
    families[metric].sum_s += seconds;
    pthread_mutex_unlock(&lock);
}

/* A process cannot reach the files of /proc with more details. */
struct cbx_process_memory cbx_metrics_memory(void)
{
    struct mallinfo2 heap = mallinfo2();
    struct rusage usage = { 0 };
    getrusage(RUSAGE_SELF, &usage);
    return (struct cbx_process_memory){ .heap_bytes = (int64_t)(heap.uordblks + heap.hblkhd),
                                        .peak_resident_bytes = (int64_t)usage.ru_maxrss * 1024 };
}

/* --- text ------------------------------------------------------------------------------------- */

void cbx_metrics_add_head(struct cbx_buf *out, const char *name, const char *type, const char *help)
{
    cbx_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Values are names from the code and from policies; a truncated name may end within a UTF-8
 * sequence. */
static void add_label(struct cbx_buf *out, struct cbx_str name, struct cbx_str value)
{
    cbx_buf_printf(out, "%.*s=\"", CBX_STR_ARG(name));
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.p[i];
        if (c == '\\' || c == '"') {
            cbx_buf_add_char(out, '\\');
        }
        cbx_buf_add_char(out, c >= ' ' && c < 0x7f ? (char)c : '?');
    }
    cbx_buf_add_char(out, '"');
}

void cbx_metrics_add_sample(struct cbx_buf *out, const char *name, const char *label,
                            struct cbx_str value, double number)
{
    cbx_buf_add_cstr(out, name);
    if (label != NULL) {
        cbx_buf_add_char(out, '{');
        add_label(out, cbx_str_of(label), value);
        cbx_buf_add_char(out, '}');
    }
    cbx_buf_printf(out, " %.15g\n", number);
}

static void write_counter(const struct row *row, const struct family *family, struct cbx_buf *out)
{
    struct cbx_str first = { .p = row->labels, .len = strcspn(row->labels, ",") };
    const char *second = row->labels + first.len + (row->labels[first.len] == ',');
    for (size_t i = 0; i < family->count; i++) {
        const struct series *s = &family->series[i];
        cbx_buf_printf(out, "%s{", row->name);
        add_label(out, first, cbx_str_of(s->values[0]));
        if (*second != '\0') {
            cbx_buf_add_char(out, ',');
            add_label(out, cbx_str_of(second), cbx_str_of(s->values[1]));
        }
        cbx_buf_printf(out, "} %llu\n", (unsigned long long)s->count);
    }
}

static void write_histogram(const struct row *row, const struct family *family, struct cbx_buf *out)
{
    uint64_t count = 0;
    for (size_t i = 0; i < BUCKETS; i++) {
        count += family->buckets[i];
        if (i < BUCKETS - 1) {
            cbx_buf_printf(out, "%s_bucket{le=\"%g\"} %llu\n", row->name, bounds_s[i],
                           (unsigned long long)count);
        }
    }
    cbx_buf_printf(out, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.9g\n%s_count %llu\n", row->name,
                   (unsigned long long)count, row->name, family->sum_s, row->name,
                   (unsigned long long)count);
}

static bool has_samples(const struct family *family)
{
    bool any = family->count > 0;
    for (size_t i = 0; i < BUCKETS; i++) {
        any = any || family->buckets[i] > 0;
    }
    return any;
}

void cbx_metrics_write(struct cbx_buf *out)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < CBX_METRICS; i++) {
        if (!has_samples(&families[i])) {
            continue;
        }
        bool counter = rows[i].kind == COUNTER;
        cbx_metrics_add_head(out, rows[i].name, counter ? "counter" : "histogram", rows[i].help);
        if (counter) {
            write_counter(&rows[i], &families[i], out);
        } else {
            write_histogram(&rows[i], &families[i], out);
        }
    }
    pthread_mutex_unlock(&lock);
}
