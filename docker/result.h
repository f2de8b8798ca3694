/* SPDX-License-Identifier: MIT
 * The output of a run: a stream of events, then a result. All bytes are hostile: capped, their
 * structure validated, their content whatever the program wrote. */
#ifndef CBX_DOCKER_RESULT_H
#define CBX_DOCKER_RESULT_H

#include "policies/base/hash.h"
#include "policies/base/json.h"
#include "policies/base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* The standard input of a run: bytes that its program has not read yet, and in all. */
enum { CBX_INPUT_WAITING_MAX = 16 * 1024 * 1024 };
#define CBX_INPUT_BYTES_MAX ((uint64_t)1 << 30)

enum cbx_event_kind {
    CBX_EVENT_STDOUT = 1,
    CBX_EVENT_STDERR,
    CBX_EVENT_DISPLAY, /* display() or a figure: one MIME bundle */
    CBX_EVENT_RESULT,  /* the value of the last expression: one MIME bundle */
    CBX_EVENT_FILE,    /* a regular file in the workspace that is new or changed: name and size */
    CBX_EVENT_CUT,     /* size_bytes of output were left out here */
    CBX_EVENT_ASK,     /* the program waits for a line (input()): its prompt */
    CBX_EVENT_BLOCKED, /* the guard refused something that the program did */
};

/* One representation inside a MIME bundle. Binary types (image/png) are raw bytes, not base64. */
struct cbx_mime {
    struct cbx_str type, data;
};

/* Borrowed for the length of the callback. */
struct cbx_event {
    enum cbx_event_kind kind;
    struct cbx_str text; /* STDOUT, STDERR: raw bytes; FILE: the path relative to the workspace;
                            ASK: the prompt; BLOCKED: what was refused, as the program has it */
    const struct cbx_mime *mimes; /* DISPLAY, RESULT */
    size_t mime_count;
    uint64_t size_bytes; /* FILE, CUT */
    bool late;           /* STDOUT, STDERR, DISPLAY: written after the run before had ended, by a
                            thread, timer or process that it left behind */
    bool secret;         /* ASK: the input must not be echoed */
    unsigned refusal;    /* BLOCKED: enum cbx_refusal; */
    uint64_t count;      /* how often in this run so far; */
    struct cbx_str rule; /* and the rule that denies it */
};

/* The client event sink. Called in order from the thread that follows the run. A return value other
 * than 0 cancels the run. A silent program makes no events, so `cancelled`, when it is not NULL, is
 * polled as well, a few times a second. */
struct cbx_sink {
    int (*event)(void *context, const struct cbx_event *event);
    bool (*cancelled)(void *context);
    void (*restart)(void *context); /* may be NULL; all events are replayed from the first one */
    void *context;
};

enum cbx_run_status {
    CBX_RUN_FAILED = 0, /* infrastructure: the run did not start */
    CBX_RUN_OK,         /* ran to its end, exit_code 0 */
    CBX_RUN_ERROR,      /* the program failed: exception, non-zero exit */
    CBX_RUN_TIMEOUT,
    CBX_RUN_OOM,
    CBX_RUN_KILLED,  /* by a signal, or cancelled */
    CBX_RUN_CPU,     /* used more processor time than allowed */
    CBX_RUN_REFUSED, /* the guard refused something, and the policy ends runs then */
    CBX_RUN_LOST, /* the engine, or the sandbox alone, does not answer: the program may have ended, or still run */
    CBX_RUN_STATUSES,
};
const char *cbx_run_status_name(enum cbx_run_status status);

/* What does not answer, of a run that is LOST. */
enum cbx_silent { CBX_SILENT_NONE = 0, CBX_SILENT_ENGINE, CBX_SILENT_SANDBOX, CBX_SILENTS };

/* Owned by the caller (cbx_result_done). Zero-initialised, it is a failed run. */
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
    bool session_lost; /* the kernel's state is lost (killed, crashed): the next run starts with a
                          new kernel */
    bool session_restarted; /* the sandbox was lost before this run, which started in a new one,
                               without files */
    enum cbx_silent silent; /* LOST: what does not answer */
    int64_t lost_since_ms;  /* LOST: its last sign, milliseconds since 1970; else 0 */
    bool has_input;     /* the program had a standard input, of this many bytes and this hash; */
    bool input_cut;     /* the rest of it was lost, as the gateway was restarted; */
    bool input_awaited; /* TIMEOUT: it had read all that there was, and more could come */
    uint64_t input_bytes;
    struct cbx_sha256 input_sha256;
};

/* "engine unreachable since TIME, outcome unknown", or "sandbox silent since TIME, outcome unknown" when the engine answers, with a UTC
 * time, for a result that is LOST. */
enum { CBX_RESULT_LOSS_BYTES = 96 };
const char *cbx_result_loss(const struct cbx_result *result, char out[CBX_RESULT_LOSS_BYTES]);

void cbx_result_done(struct cbx_result *result);
CBX_DEFINE_AUTO_DONE(result)

#endif
