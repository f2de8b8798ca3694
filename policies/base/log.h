/* SPDX-License-Identifier: MIT
 * The log of a program: one line per message on stderr, by severity, as text or as a JSON object.
 * Texts may hold what a client or a sandbox sent: each line is made printable. Thread-safe. */
#ifndef CBX_POLICIES_BASE_LOG_H
#define CBX_POLICIES_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum cbx_log_level {
    CBX_LOG_ERROR = 0, /* something that the gateway promises does not hold; an operator must act */
    CBX_LOG_WARNING,   /* a request failed for a reason that is not the client's, or was delayed */
    CBX_LOG_INFO,      /* start, stop, and changes of state */
    CBX_LOG_DEBUG,     /* every request */
};

/* What is written from now on; CBX_LOG_WARNING before the first call. With `times`, each line
 * begins with the time and the level, as a server's log has it; else with "codebox: ", as a
 * command's messages have. Call it before there are threads; forked processes inherit it. */
void cbx_log_set(enum cbx_log_level level, bool times);

/* With `json`, each line is {"time", "level", "component", "message"} instead, in ASCII. Call it before
 * there are threads; forked processes inherit it. */
void cbx_log_set_json(bool json);
bool cbx_log_is_json(void);

/* The process's name in the JSON form; "codebox" before the first call. Borrowed. */
void cbx_log_set_component(const char *name);

/* A function that changes the text of each line before it is written, in a buffer of this size; NULL = none. Call it before there are
 * threads. */
void cbx_log_set_filter(void (*filter)(char *text, size_t size));

/* By its name, "error" to "debug"; false for any other. */
bool cbx_log_level_of(const char *name, enum cbx_log_level *out);

/* Writes one line when `level` is to be written. Text: as cbx_fail has it. */
void cbx_log(enum cbx_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
