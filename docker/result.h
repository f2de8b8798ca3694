/* SPDX-License-Identifier: MIT
 * The output of a run: a stream of events, then a result. All bytes are hostile: capped, their
 * structure validated, their content chosen by the program. */
#ifndef CBX_DOCKER_RESULT_H
#define CBX_DOCKER_RESULT_H

#include "policies/base/hash.h"
#include "policies/base/str.h"
#include "policies/base/text/json.h"

#include <stdbool.h>
#include <stdint.h>

/* Limits of a run's standard input: bytes that its program has not read yet, and total bytes. */
enum { CBX_INPUT_WAITING_MAX = 16 * 1024 * 1024 };
#define CBX_INPUT_BYTES_MAX ((uint64_t)1 << 30)

enum cbx_event_kind {
    CBX_EVENT_STDOUT = 1,
    CBX_EVENT_STDERR,
    CBX_EVENT_DISPLAY, /* display() or a figure: one MIME bundle */
    CBX_EVENT_RESULT,  /* the value of the last expression: one MIME bundle */
    CBX_EVENT_FILE,    /* a new or changed regular file in the workspace: name and size */
    CBX_EVENT_CUT,     /* size_bytes of output were left out here */
    CBX_EVENT_ASK,     /* the program waits for a line (input()): its prompt */
    CBX_EVENT_BLOCKED, /* the guard refused an action of the program */
};

/* One representation inside a MIME bundle. Binary types (image/png) are raw bytes, not base64. */
struct cbx_mime {
    struct cbx_str type, data;
};

/* An event; borrowed during the callback. */
struct cbx_event {
    enum cbx_event_kind kind;
    /* STDOUT, STDERR: raw bytes; FILE: the path relative to the workspace; ASK: the prompt;
     * BLOCKED: the refused action, as the program names it */
    struct cbx_str text;
    const struct cbx_mime *mimes; /* DISPLAY, RESULT */
    size_t mime_count;
    uint64_t size_bytes; /* FILE, CUT */
    /* STDOUT, STDERR, DISPLAY: written after the previous run had ended, by a thread, timer or
     * process that it left */
    bool late;
    bool secret;         /* ASK: the input must not be echoed */
    unsigned refusal;    /* BLOCKED: enum cbx_refusal; */
    uint64_t count;      /* number of times in this run so far; */
    struct cbx_str rule; /* and the rule that denies it */
};

/* The client event sink. Called in order from the thread that follows the run. A return value
 * other than 0 cancels the run. A silent program makes no events, so `cancelled`, if not NULL,
 * is polled too, a few times a second. */
struct cbx_sink {
    int (*event)(void *context, const struct cbx_event *event);
    bool (*cancelled)(void *context);
    void (*restart)(void *context); /* may be NULL; all events are replayed from the first one */
    void *context;
};

enum cbx_run_status {
    CBX_RUN_FAILED = 0, /* infrastructure: the run did not start */
    CBX_RUN_OK,         /* the program ended with exit_code 0 */
    CBX_RUN_ERROR,      /* the program failed: exception, non-zero exit */
    CBX_RUN_TIMEOUT,
    CBX_RUN_OOM,
    CBX_RUN_KILLED,  /* killed by a signal, or cancelled */
    CBX_RUN_CPU,     /* used more processor time than allowed */
    CBX_RUN_REFUSED, /* the guard refused an action, and the policy ends runs then */
    /* the engine, or only the sandbox, does not reply, or the cluster took the sandbox away: the
     * program may have ended, or still run */
    CBX_RUN_LOST,
    CBX_RUN_STATUSES,
};
const char *cbx_run_status_name(enum cbx_run_status status);

/* The part that does not reply, for a LOST run. TAKEN: the sandbox, which the cluster has evicted or
 * removed. */
enum cbx_silent {
    CBX_SILENT_NONE = 0,
    CBX_SILENT_ENGINE,
    CBX_SILENT_SANDBOX,
    CBX_SILENT_TAKEN,
    CBX_SILENTS
};

/* Owned by the caller (cbx_result_done). Zero-initialised, it is a failed run. */
struct cbx_result {
    enum cbx_run_status status;
    int exit_code;        /* -1 = none */
    int signal;           /* 0 = none */
    char *ename, *evalue; /* NULL = no exception */
    char *traceback;      /* lines separated by '\n', terminal escapes removed; NULL = none */
    uint64_t duration_ms, cpu_ms;
    uint64_t stdout_bytes, stderr_bytes; /* bytes written by the program */
    bool output_truncated;               /* true if the program wrote more than the limit */
    bool files_truncated;
    /* the kernel's state is lost (killed, crashed): the next run starts with a new kernel */
    bool session_lost;
    bool session_restarted; /* the sandbox was lost before this run, which started in a new one,
                               without files */
    enum cbx_silent silent; /* LOST: the part that does not reply */
    int64_t lost_since_ms;  /* LOST: time of its last byte, milliseconds since 1970; else 0 */
    bool has_input;     /* the program had a standard input, of this many bytes and this hash; */
    bool input_cut;     /* the rest of it was lost in a restart of the gateway; */
    bool input_awaited; /* TIMEOUT: the program had read all input, and more could come */
    uint64_t input_bytes;
    struct cbx_sha256 input_sha256;
};

/* Writes "engine unreachable since TIME, outcome unknown", "sandbox silent since TIME, outcome
 * unknown" if the engine replies, or "sandbox evicted or removed by its cluster, silent since TIME,
 * outcome unknown", with a UTC time, for a LOST result. */
enum { CBX_RESULT_LOSS_BYTES = 128 };
const char *cbx_result_loss(const struct cbx_result *result, char out[CBX_RESULT_LOSS_BYTES]);

void cbx_result_done(struct cbx_result *result);
CBX_DEFINE_AUTO_DONE(result)

#endif
