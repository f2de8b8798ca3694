/* SPDX-License-Identifier: MIT
 * The log of a program. */
#include "policies/base/log.h"

#include "policies/base/auto.h"
#include "policies/base/text/json.h"
#include "policies/base/text/printable.h"
#include "policies/base/time/clock.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 2048, TIME_BYTES = 64 };

static enum cbx_log_level least = CBX_LOG_WARNING;
static bool with_times, as_json;
static const char *component = "codebox";
static void (*filter_of)(char *text, size_t size);

static const char *const names[] = { [CBX_LOG_ERROR] = "error",
                                     [CBX_LOG_WARNING] = "warning",
                                     [CBX_LOG_INFO] = "info",
                                     [CBX_LOG_DEBUG] = "debug" };

void cbx_log_set(enum cbx_log_level level, bool times)
{
    least = level;
    with_times = times;
}

void cbx_log_set_filter(void (*filter)(char *text, size_t size))
{
    filter_of = filter;
}

void cbx_log_set_json(bool json)
{
    as_json = json;
}

bool cbx_log_is_json(void)
{
    return as_json;
}

void cbx_log_set_component(const char *name)
{
    component = name;
}

bool cbx_log_level_of(const char *name, enum cbx_log_level *out)
{
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], name) == 0) {
            *out = (enum cbx_log_level)i;
            return true;
        }
    }
    return false;
}

/* Writes the time as "2026-11-22T10:00:00.123Z". */
static void write_time(char out[TIME_BYTES])
{
    int64_t now = cbx_time_ms();
    time_t seconds = (time_t)(now / 1000);
    struct tm utc;
    char date[TIME_BYTES / 2];
    gmtime_r(&seconds, &utc);
    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out, TIME_BYTES, "%s.%03dZ", date, (int)(now % 1000));
}

/* One write, so that lines of several processes do not mix. */
static void write_line(const char *line, size_t len)
{
    (void)!write(STDERR_FILENO, line, len);
}

static void write_text(enum cbx_log_level level, char *message)
{
    char line[LINE_MAX_BYTES + TIME_BYTES + 32], time[TIME_BYTES];
    write_time(time);
    cbx_printable_mask(message);
    int len = with_times ? snprintf(line, sizeof(line), "%s %-7s codebox: %s\n", time, names[level],
                                    message)
                         : snprintf(line, sizeof(line), "codebox: %s\n", message);
    write_line(line, (size_t)len);
}

static void write_json(enum cbx_log_level level, const char *message)
{
    char time[TIME_BYTES];
    write_time(time);
    CBX_AUTO_JSON object =
        json_pack("{s:s, s:s, s:s, s:o}", "time", time, "level", names[level], "component",
                  component, "message", cbx_json_text(cbx_str_of(message)));
    CBX_AUTO_MEM char *text = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII);
    size_t len = text != NULL ? strlen(text) : 0;
    if (len > 0) {
        text[len] = '\n'; /* replaces the terminator */
        write_line(text, len + 1);
    }
}

static void write_message(enum cbx_log_level level, char message[LINE_MAX_BYTES])
{
    if (filter_of != NULL) {
        filter_of(message, LINE_MAX_BYTES);
    }
    if (as_json) {
        write_json(level, message);
    } else {
        write_text(level, message);
    }
}

void(cbx_log)(enum cbx_log_level level, const char *format, ...)
{
    if (level > least) {
        return;
    }
    char message[LINE_MAX_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    write_message(level, message);
}

bool cbx_log_rate_take(struct cbx_log_rate *rate, int64_t now_ms, unsigned *left_out)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (now_ms - rate->since_ms >= CBX_LOG_RATE_MS) {
        rate->since_ms = now_ms;
        rate->written = 0;
    }
    bool may = rate->written < CBX_LOG_RATE_LINES;
    rate->written += may;
    rate->left_out += !may;
    if (may) {
        *left_out = rate->left_out;
        rate->left_out = 0;
    }
    pthread_mutex_unlock(&lock);
    return may;
}

void(cbx_log_limited)(struct cbx_log_rate *rate, enum cbx_log_level level, const char *format, ...)
{
    unsigned left_out = 0;
    if (level > least || !cbx_log_rate_take(rate, cbx_clock_ms(), &left_out)) {
        return;
    }
    char message[LINE_MAX_BYTES];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (left_out > 0 && len > 0 && (size_t)len < sizeof(message)) {
        snprintf(message + len, sizeof(message) - (size_t)len,
                 " (%u lines like this one were left out before it)", left_out);
    }
    write_message(level, message);
}
