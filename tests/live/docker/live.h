/* SPDX-License-Identifier: MIT
 * Shared by the live tests: the engine, a sandbox for one test, and all output of a run in it. */
#ifndef CBX_TESTS_LIVE_DOCKER_LIVE_H
#define CBX_TESTS_LIVE_DOCKER_LIVE_H

#include "docker/kernel_names.h"
#include "docker/sandbox/container.h"
#include "docker/sandbox/sandbox.h"
#include "tests/live/docker/open.h"
#include "tests/unit/unit.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { LIVE_NO_ENGINE = 77 };

static struct cbx_engine *engine;
static struct cbx_sandbox_config config;

/* Options of every sandbox and run; live_begin sets them, then a program's main() may change
 * them. */
static struct cbx_limits live_limits;

/* The files that the next run accepts as code; a test begins with none. */
static struct cbx_sha256 live_accepted[CBX_RUN_ACCEPT_MAX];
static size_t live_accepted_count;

static inline void accept_file(const char *text)
{
    live_accepted[live_accepted_count++] = cbx_sha256_of(cbx_str_of(text));
}

struct seen {
    /* The events in their order: out(...) and err(...) with text, display(...) and result(...) with
     * types. Then the events by their kind; files as "name:size" lines. */
    struct cbx_buf order, out, err, late, files, asked;
    struct cbx_buf plain, value; /* text/plain: of all that was shown, of the last result */
    int last;                    /* kind of the event that `order` ends with */
    size_t displays, cut;
    bool png;
    struct cbx_result result;
    /* Actions during the run; these three persist from run to run until they happened. */
    struct cbx_sandbox *interrupt;   /* interrupted at the first text */
    const char *kill_on;             /* remove this container at the first text */
    struct cbx_sandbox *answers_for; /* the first two questions are answered "ann", others end it */
    int answers;
};

static inline struct cbx_permit permit_for(const char *language, const char *source)
{
    struct cbx_permit p = { .session = "live",
                            .decision = "d",
                            .principal = "tester",
                            .action = CBX_ACTION_RUN,
                            .limits = live_limits };
    snprintf(p.language, sizeof(p.language), "%s", language);
    p.source_sha256 = cbx_sha256_of(cbx_str_of(source));
    return p;
}

static inline void take_text(struct seen *seen, const struct cbx_event *event)
{
    bool out = event->kind == CBX_EVENT_STDOUT;
    if (event->late) { /* not output of this run */
        cbx_buf_add(&seen->late, event->text);
        return;
    }
    if (seen->last == (int)event->kind) {
        seen->order.len--; /* the bracket */
    } else {
        cbx_buf_add_cstr(&seen->order, out ? "out(" : "err(");
    }
    cbx_buf_add(&seen->order, event->text);
    cbx_buf_add_char(&seen->order, ')');
    cbx_buf_add(out ? &seen->out : &seen->err, event->text);
    if (seen->interrupt != NULL) {
        cbx_sandbox_interrupt(seen->interrupt);
        seen->interrupt = NULL;
    }
    if (seen->kill_on != NULL) {
        cbx_engine_container_remove(engine, seen->kill_on, NULL);
        seen->kill_on = NULL;
    }
}

static inline void take_bundle(struct seen *seen, const struct cbx_event *event)
{
    bool result = event->kind == CBX_EVENT_RESULT;
    seen->displays += !result;
    cbx_buf_add_cstr(&seen->order, result ? "result(" : "display(");
    for (size_t i = 0; i < event->mime_count; i++) {
        struct cbx_str type = event->mimes[i].type, data = event->mimes[i].data;
        cbx_buf_printf(&seen->order, "%s%.*s", i > 0 ? " " : "", CBX_STR_ARG(type));
        seen->png |= cbx_str_is(type, "image/png") && cbx_str_starts(data, CBX_STR("\x89PNG"));
        if (cbx_str_is(type, "text/plain")) {
            cbx_buf_add(&seen->plain, data);
            if (result) {
                cbx_buf_reset(&seen->value);
                cbx_buf_add(&seen->value, data);
            }
        }
    }
    cbx_buf_add_char(&seen->order, ')');
}

static inline int take_event(void *context, const struct cbx_event *event)
{
    struct seen *seen = context;
    if (event->kind == CBX_EVENT_STDOUT || event->kind == CBX_EVENT_STDERR) {
        take_text(seen, event);
    } else if (event->kind == CBX_EVENT_DISPLAY || event->kind == CBX_EVENT_RESULT) {
        take_bundle(seen, event);
    } else if (event->kind == CBX_EVENT_FILE) {
        cbx_buf_add(&seen->files, event->text);
        cbx_buf_printf(&seen->files, ":%" PRIu64 "\n", event->size_bytes);
    } else if (event->kind == CBX_EVENT_CUT) {
        seen->cut += event->size_bytes;
    } else if (event->kind == CBX_EVENT_ASK && seen->answers_for != NULL) {
        cbx_buf_add(&seen->asked, event->text);
        cbx_buf_add_cstr(&seen->asked, event->secret ? "*|" : "|");
        cbx_sandbox_input(seen->answers_for, ++seen->answers <= 2 ? CBX_STR("ann\n") : CBX_STR(""),
                          NULL);
    }
    seen->last = (int)event->kind;
    return 0;
}

/* Frees the buffers of clear(); buffers of a run that did not happen are NULL. */
static inline void drop(struct seen *seen)
{
    cbx_buf_done(&seen->order);
    cbx_buf_done(&seen->out);
    cbx_buf_done(&seen->err);
    cbx_buf_done(&seen->late);
    cbx_buf_done(&seen->files);
    cbx_buf_done(&seen->asked);
    cbx_buf_done(&seen->plain);
    cbx_buf_done(&seen->value);
    cbx_result_done(&seen->result);
}

static inline void clear(struct seen *seen)
{
    enum { MOST = 1 << 24 };
    drop(seen);
    *seen = (struct seen){ .interrupt = seen->interrupt,
                           .kill_on = seen->kill_on,
                           .answers_for = seen->answers_for };
    cbx_buf_init(&seen->order, MOST);
    cbx_buf_init(&seen->out, MOST);
    cbx_buf_init(&seen->err, MOST);
    cbx_buf_init(&seen->late, MOST);
    cbx_buf_init(&seen->files, MOST);
    cbx_buf_init(&seen->asked, MOST);
    cbx_buf_init(&seen->plain, MOST);
    cbx_buf_init(&seen->value, MOST);
}

static inline void run_permit(struct cbx_sandbox *sandbox, const struct cbx_permit *permit,
                              const char *source, struct seen *seen)
{
    struct cbx_sink sink = { .event = take_event, .context = seen };
    struct cbx_err err = { 0 };
    clear(seen);
    struct cbx_permit now = *permit; /* as the gateway judges it: with the earlier runs */
    now.ledger = *cbx_sandbox_ledger(sandbox);
    if (cbx_sandbox_run(sandbox, &now, cbx_str_of(source),
                        &(struct cbx_run_options){ .sink = &sink,
                                                   .accept = live_accepted,
                                                   .accept_count = live_accepted_count },
                        &seen->result, &err) != 0) {
        fail_msg("%s (%s)", err.text, err.detail);
    }
    live_accepted_count = 0;
}

static inline void run_limited(struct cbx_sandbox *sandbox, const char *language,
                               const char *source, int64_t wall_ms, struct seen *seen)
{
    struct cbx_permit p = permit_for(language, source);
    p.limits.wall_ms = wall_ms;
    run_permit(sandbox, &p, source, seen);
}

static inline void run(struct cbx_sandbox *sandbox, const char *language, const char *source,
                       struct seen *seen)
{
    run_limited(sandbox, language, source, live_limits.wall_ms, seen);
}

static inline struct cbx_sandbox *open_for(const struct cbx_permit *permit)
{
    struct cbx_sandbox *sandbox = NULL;
    struct cbx_err err = { 0 };
    if (open_with(engine, &config, permit, &sandbox, &err) != 0) {
        fail_msg("%s (%s)", err.text, err.detail);
    }
    return sandbox;
}

static inline struct cbx_sandbox *open_sandbox(const char *language)
{
    struct cbx_permit p = permit_for(language, "");
    p.action = CBX_ACTION_OPEN;
    return open_for(&p);
}

/* A sandbox for the length of a test, and the output of its last run. */
#define IN_SANDBOX(what)                                                                           \
    (void)state;                                                                                   \
    const char *const language = what;                                                             \
    live_accepted_count = 0;                                                                       \
    CBX_AUTO(sandbox) sandbox = open_sandbox(language);                                            \
    __attribute__((cleanup(drop))) struct seen seen = { 0 }
#define RUN(source) run_limited(sandbox, language, source, live_limits.wall_ms, &seen)

/* 0, or LIVE_NO_ENGINE. Every container has the label of this process. */
static inline int live_begin(void)
{
    struct cbx_err err;
    static char instance[64];
    if (cbx_engine_new(getenv("CODEBOX_TEST_ENGINE"), &engine, &err) != 0) {
        fprintf(stderr, "skipped: %s\n", err.text);
        return LIVE_NO_ENGINE;
    }
    signal(SIGPIPE, SIG_IGN);
    snprintf(instance, sizeof(instance), "live-%d", (int)getpid());
    config.instance = instance;
    config.image_prefix =
        getenv("CODEBOX_IMAGES"); /* images of another build, beside those in use */
    cbx_limits_default(&live_limits);
    live_limits.wall_ms = 20000;
    live_limits.memory_bytes = 256 << 20;
    live_limits.disk_bytes = 16 << 20;
    live_limits.output_bytes = 64 * 1024;
    live_limits.files_bytes = 8 << 20;
    return 0;
}

/* Removes the remains of failed tests. */
static inline void live_end(void)
{
    size_t removed;
    cbx_sandbox_reap(engine, &(struct cbx_reap){ .instance = config.instance }, &removed, NULL);
    cbx_engine_free(engine);
}

/* Body of main(): a pattern of names selects tests. */
#define LIVE_RUN(argc, argv, tests)                                                                \
    do {                                                                                           \
        if ((argc) > 1) {                                                                          \
            cmocka_set_test_filter((argv)[1]);                                                     \
        }                                                                                          \
        int failed_ = cmocka_run_group_tests(tests, NULL, NULL);                                   \
        live_end();                                                                                \
        return failed_;                                                                            \
    } while (0)

#endif
