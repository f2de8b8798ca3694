/* SPDX-License-Identifier: MIT
 * The log of a program: one line per message on stderr, by severity, as text or as a JSON
 * object. Texts may have parts from a client or a sandbox: each line is made printable.
 * Thread-safe. */
#ifndef CBX_POLICIES_BASE_LOG_H
#define CBX_POLICIES_BASE_LOG_H

#include "policies/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cbx_log_level {
    CBX_LOG_ERROR = 0, /* a guarantee of the gateway does not hold; an operator must act */
    /* a request failed for a reason outside the client's control, or was delayed */
    CBX_LOG_WARNING,
    CBX_LOG_INFO,  /* start, stop, and changes of state */
    CBX_LOG_DEBUG, /* every request */
};

/* Sets the lowest logged severity; CBX_LOG_WARNING before the first call. With `times`, each
 * line begins with the time and the level, as a server's log; otherwise with "codebox: ", as a
 * command's messages. Call it before there are threads; forked processes inherit it. */
void cbx_log_set(enum cbx_log_level level, bool times);

/* With `json`, each line is {"time", "level", "component", "message"} instead, in ASCII. Call it
 * before there are threads; forked processes inherit it. */
void cbx_log_set_json(bool json);
bool cbx_log_is_json(void);

/* Sets the process's name in the JSON form; "codebox" before the first call. Borrowed. */
void cbx_log_set_component(const char *name);

/* Sets a function that changes the text of each line before it is written, in a buffer of this
 * size; NULL = none. Call it before there are threads. */
void cbx_log_set_filter(void (*filter)(char *text, size_t size));

/* Finds a level by its name, "error" to "debug"; false for any other name. */
bool cbx_log_level_of(const char *name, enum cbx_log_level *out);

/* Writes one line if `level` is logged. Text: as for cbx_fail. */
void cbx_log(enum cbx_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#define cbx_log(...) CBX_MESSAGE_SCOPE((cbx_log)(__VA_ARGS__))

/* The rate limit for one kind of line that a client without a credential can cause, so that it
 * cannot fill the disk with such lines. Zero-initialised. */
struct cbx_log_rate {
    int64_t since_ms;
    unsigned written, left_out; /* numbers since the start of the interval */
};
enum { CBX_LOG_RATE_LINES = 20, CBX_LOG_RATE_MS = 60 * 1000 };

/* At `now_ms` (cbx_clock_ms): true if one more line may be written, CBX_LOG_RATE_LINES in
 * CBX_LOG_RATE_MS. *left_out is then the number of earlier lines that were not written and not
 * reported yet. Thread-safe. */
bool cbx_log_rate_take(struct cbx_log_rate *rate, int64_t now_ms, unsigned *left_out);

/* As cbx_log, without the lines over the rate; the next written line ends with the number of
 * omitted lines. */
void cbx_log_limited(struct cbx_log_rate *rate, enum cbx_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define cbx_log_limited(...) CBX_MESSAGE_SCOPE((cbx_log_limited)(__VA_ARGS__))

#endif
