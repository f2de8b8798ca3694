/* SPDX-License-Identifier: MIT
 * Counters and histograms of one process, by the rows of metrics.def, and the text format of
 * Prometheus (0.0.4). The number of series is bounded for any values of labels. Thread-safe. */
#ifndef CBX_GATEWAY_IPC_METRICS_H
#define CBX_GATEWAY_IPC_METRICS_H

#include "policies/base/buf.h"

#include <stdint.h>

enum cbx_metric {
#define CBX_METRIC(id, ...) CBX_METRIC_##id,
#include "gateway/ipc/metrics.def"
#undef CBX_METRIC
    CBX_METRICS
};

enum { CBX_METRIC_LABELS_MAX = 2 };

/* Adds one to the counter with these values of its labels; the unused ones are empty. */
void cbx_metric_count(enum cbx_metric metric, struct cbx_str first, struct cbx_str second);

/* Adds a duration in microseconds to a histogram. */
void cbx_metric_observe(enum cbx_metric metric, int64_t us);

/* Returns the microseconds of a monotonic clock. */
int64_t cbx_metric_clock_us(void);

/* Appends every metric that has a sample. */
void cbx_metrics_write(struct cbx_buf *out);

/* Append the header of a family, and one sample of it with one label at most (NULL = none): for
 * values that are read when the metrics are written, and not counted in this module. */
void cbx_metrics_add_head(struct cbx_buf *out, const char *name, const char *type,
                          const char *help);
void cbx_metrics_add_sample(struct cbx_buf *out, const char *name, const char *label,
                            struct cbx_str value, double number);

/* Memory of this process in bytes: heap in use, and the largest resident size so far. */
struct cbx_process_memory {
    int64_t heap_bytes, peak_resident_bytes;
};
struct cbx_process_memory cbx_metrics_memory(void);

#endif
