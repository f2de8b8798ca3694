/* SPDX-License-Identifier: MIT
 * Shared by the tests of docker/sandbox*.c: a sandbox on the scripted engine, and a sink that
 * records events. Include it once. */
#ifndef CBX_TESTS_UNIT_DOCKER_SANDBOX_RIG_H
#define CBX_TESTS_UNIT_DOCKER_SANDBOX_RIG_H

#include "docker/sandbox/sandbox.h"
#include "tests/unit/docker/fake_engine.h"

static struct cbx_engine *engine;
static struct cbx_sandbox_config config = { .instance = "unit", .secret = "secret" };
static struct cbx_err err;

static struct cbx_limits limits; /* limits of sandboxes and permits; set by begin_test */

static inline int begin_test(void **state)
{
    (void)state;
    fake_start();
    cbx_limits_default(&limits);
    limits.wall_ms = 20000;
    limits.cpu_ms = 3000;
    limits.memory_bytes = 256 << 20;
    limits.disk_bytes = 16 << 20;
    limits.output_bytes = 64 * 1024;
    limits.files_bytes = 1 << 20;
    memset(&err, 0, sizeof(err));
    assert_int_equal(cbx_engine_new(fake.host, &engine, &err), 0);
    return 0;
}

static inline int end_test(void **state)
{
    (void)state;
    cbx_engine_free(engine);
    fake_stop();
    return 0;
}

static inline struct cbx_permit permit_for(const char *source)
{
    struct cbx_permit p = { .decision = "d1",
                            .session = "s1",
                            .principal = "ann",
                            .policy = "strict",
                            .language = "ipython",
                            .action = CBX_ACTION_RUN,
                            .limits = limits };
    p.source_sha256 = cbx_sha256_of(cbx_str_of(source));
    return p;
}

static inline struct cbx_sandbox *open_for(const struct cbx_permit *permit)
{
    const char *kernel;
    struct cbx_sandbox *sandbox = NULL;
    assert_int_equal(cbx_sandbox_permitted(permit, &kernel, &err), 0);
    assert_int_equal(
        cbx_sandbox_prepare(engine, &config, kernel, &permit->limits, NULL, &sandbox, &err), 0);
    assert_int_equal(cbx_sandbox_claim(sandbox, permit, &err), 0);
    return sandbox;
}

static inline struct cbx_sandbox *open_sandbox(void)
{
    struct cbx_permit p = permit_for("");
    return open_for(&p);
}

static inline int prepare(struct cbx_sandbox **out)
{
    return cbx_sandbox_prepare(engine, &config, "python", &limits, NULL, out, &err);
}

/* Each container that was made has been removed. */
static inline void assert_nothing_left(void)
{
    for (int i = 0; i < fake.count; i++) {
        assert_true(fake.containers[i].removed);
    }
}

/* The text is fit for a caller; the operator's detail names the place. */
static inline void assert_safe(const char *detail)
{
    assert_null(strstr(err.text, fake.folder));
    assert_null(strstr(err.text, FAKE_SECRET));
    assert_null(strstr(err.text, "localhost"));
    assert_non_null(strstr(err.detail, detail));
}

/* --- events ----------------------------------------------------------------------------------- */

static struct {
    char text[256];
    int events, stop_after, begun_events;
    bool cancelled;
    char begun[64];
} seen;

static inline int take_event(void *context, const struct cbx_event *event)
{
    (void)context;
    size_t used = strlen(seen.text);
    snprintf(seen.text + used, sizeof(seen.text) - used, "%d:%.*s;", event->kind,
             CBX_STR_ARG(event->text));
    return ++seen.events == seen.stop_after;
}

static inline bool is_cancelled(void *context)
{
    (void)context;
    return seen.cancelled;
}

static inline void note_begun(void *context)
{
    struct fake_container *c = context;
    FAKE_AWAIT(strchr(c->received, CBX_FRAME_RUN) != NULL);
    seen.begun_events = seen.events;
    snprintf(seen.begun, sizeof(seen.begun), "%s", c->run.id);
}

static const struct cbx_sink sink = { .event = take_event, .cancelled = is_cancelled };

static inline int run(struct cbx_sandbox *sandbox, const struct cbx_permit *permit,
                      const char *source, struct cbx_result *out)
{
    struct cbx_run_options options = { .sink = &sink,
                                       .begun = note_begun,
                                       .context = &fake.containers[0] };
    memset(&seen.text, 0, sizeof(seen.text));
    seen.events = 0;
    struct cbx_permit now = *permit; /* as the gateway judges it: with the earlier runs */
    now.ledger = *cbx_sandbox_ledger(sandbox);
    return cbx_sandbox_run(sandbox, &now, cbx_str_of(source), &options, out, &err);
}

#endif
