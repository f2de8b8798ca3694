/* SPDX-License-Identifier: MIT
 * What comes out of a sandbox: a stream of events while it runs, then a result. All bytes in it are
 * hostile; they are capped and their shape is validated, their content is whatever the program
 * wrote. */
#ifndef CBX_DOCKER_RESULT_H
#define CBX_DOCKER_RESULT_H

#include "policies/base/json.h"
#include "policies/base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum cbx_event_kind {
    CBX_EVENT_STDOUT = 1,
    CBX_EVENT_STDERR,
    CBX_EVENT_DISPLAY, /* display() or a figure: one MIME bundle */
    CBX_EVENT_RESULT,  /* the value of the last expression: one MIME bundle */
    CBX_EVENT_FILE,    /* a regular file in the workspace that is new or changed: name and size */
    CBX_EVENT_CUT,     /* output was left out here: size_bytes of it */
    CBX_EVENT_ASK,     /* the program waits for a line (input()): its prompt */
};

/* One representation inside a MIME bundle. Binary types (image/png) are raw bytes, not base64. */
struct cbx_mime {
    struct cbx_str type, data;
};

/* Borrowed for the length of the callback. */
struct cbx_event {
    enum cbx_event_kind kind;
    struct cbx_str text; /* STDOUT, STDERR: raw bytes; FILE: the path relative to the workspace;
                            ASK: the prompt */
    const struct cbx_mime *mimes; /* DISPLAY, RESULT */
    size_t mime_count;
    uint64_t size_bytes; /* FILE, CUT */
    bool late;           /* STDOUT, STDERR, DISPLAY: written after the run before had ended, by a
                            thread, timer or process that it left behind */
    bool secret;         /* ASK: what is typed is not to be shown */
};

/* Called from the thread that runs the program, in order. Anything but 0 stops the run (as a
 * cancellation). A program that is silent makes no events, so `cancelled`, when it is not NULL, is
 * asked as well, a few times a second. */
struct cbx_sink {
    int (*event)(void *context, const struct cbx_event *event);
    bool (*cancelled)(void *context);
    void (*restart)(void *context); /* may be NULL: all events come again, from the beginning */
    void *context;
};

enum cbx_run_status {
    CBX_RUN_FAILED = 0, /* infrastructure: the run did not happen or its end was not seen */
    CBX_RUN_OK,         /* ran to its end, exit_code 0 */
    CBX_RUN_ERROR,      /* the program failed: exception, non-zero exit */
    CBX_RUN_TIMEOUT,
    CBX_RUN_OOM,
    CBX_RUN_KILLED, /* by a signal, or cancelled */
    CBX_RUN_CPU,    /* used more processor time than allowed */
    CBX_RUN_STATUSES,
};
const char *cbx_run_status_name(enum cbx_run_status status);

/* Owned by the caller: cbx_result_done. Zeroed memory is a failed run. */
struct cbx_result {
    enum cbx_run_status status;
    int exit_code;        /* -1 = none */
    int signal;           /* 0 = none */
    char *ename, *evalue; /* NULL = no exception */
    char *traceback;      /* lines separated by '\n', terminal escapes removed; NULL = none */
    uint64_t duration_ms, cpu_ms;
    uint64_t stdout_bytes, stderr_bytes; /* written by the program */
    bool output_truncated;               /* more was written than the limit lets out */
    bool files_truncated;
    bool
        session_lost; /* the kernel's state is gone (killed, crashed): the next run starts afresh */
    bool session_restarted; /* it was gone before this run, which started afresh, without files */
};
void cbx_result_done(struct cbx_result *result);
CBX_DEFINE_AUTO_DONE(result)

#endif
