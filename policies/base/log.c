/* SPDX-License-Identifier: MIT
 * The log of a program. */
#include "policies/base/log.h"

#include "policies/base/clock.h"
#include "policies/base/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 2048 };

static enum cbx_log_level least = CBX_LOG_WARNING;
static bool with_times;
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

/* "2026-11-22T10:00:00.123Z warning " or "codebox: ". */
static size_t write_start(enum cbx_log_level level, char *out, size_t size)
{
    if (!with_times) {
        return (size_t)snprintf(out, size, "codebox: ");
    }
    int64_t now = cbx_time_ms();
    time_t seconds = (time_t)(now / 1000);
    struct tm utc;
    char date[32];
    gmtime_r(&seconds, &utc);
    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &utc);
    return (size_t)snprintf(out, size, "%s.%03dZ %-7s codebox: ", date, (int)(now % 1000),
                            names[level]);
}

void cbx_log(enum cbx_log_level level, const char *format, ...)
{
    if (level > least) {
        return;
    }
    char line[LINE_MAX_BYTES];
    size_t used = write_start(level, line, sizeof(line));
    va_list args;
    va_start(args, format);
    vsnprintf(line + used, sizeof(line) - used - 1, format, args);
    va_end(args);
    if (filter_of != NULL) {
        filter_of(line + used, sizeof(line) - used - 1);
    }
    cbx_printable_mask(line);
    size_t len = strlen(line);
    line[len] = '\n';
    /* One call, so that lines of several processes do not mix. */
    (void)!write(STDERR_FILENO, line, len + 1);
}
