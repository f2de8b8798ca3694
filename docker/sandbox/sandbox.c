/* SPDX-License-Identifier: MIT
 * The life cycle of a sandbox: created, claimed, adopted, detached or removed. */
#include "docker/sandbox/sandbox.h"
#include "docker/kernel_names.h"

#include "docker/egress/proxy.h"
#include "docker/sandbox/container.h"
#include "docker/sandbox/sandbox_internal.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"

#include <stdlib.h>

enum {
    HELLO_TIMEOUT_MS = 30000,
    ADOPT_TIMEOUT_MS = 15000,
    CHECK_TIMEOUT_MS = 5000,
    STATE_POLL_MS = 250, /* doubled at each poll */
};

const char *cbx_sandbox_id(const struct cbx_sandbox *sandbox)
{
    return sandbox->id;
}

const char *cbx_sandbox_session(const struct cbx_sandbox *sandbox)
{
    return sandbox->session;
}

const char *cbx_sandbox_principal(const struct cbx_sandbox *sandbox)
{
    return sandbox->principal;
}

const char *cbx_sandbox_policy(const struct cbx_sandbox *sandbox)
{
    return sandbox->policy;
}

const struct cbx_sha256 *cbx_sandbox_ledger(const struct cbx_sandbox *sandbox)
{
    return &sandbox->ledger;
}

const struct cbx_sha256 *cbx_sandbox_policy_sha256(const struct cbx_sandbox *sandbox)
{
    return &sandbox->policy_sha256;
}

const char *cbx_sandbox_kernel(const struct cbx_sandbox *sandbox)
{
    return sandbox->kernel;
}

int64_t cbx_sandbox_claimed_ms(const struct cbx_sandbox *sandbox)
{
    return sandbox->claimed_ms;
}

const struct cbx_limits *cbx_sandbox_limits(const struct cbx_sandbox *sandbox)
{
    return &sandbox->limits;
}

const json_t *cbx_sandbox_mounted(const struct cbx_sandbox *sandbox)
{
    return sandbox->mounted;
}

const char *cbx_sandbox_run_id(const struct cbx_sandbox *sandbox)
{
    return sandbox->run_id;
}

static struct cbx_sandbox *new_sandbox(struct cbx_engine *engine,
                                       const struct cbx_sandbox_config *config)
{
    struct cbx_sandbox *sandbox = cbx_new(sizeof(*sandbox));
    sandbox->engine = engine;
    sandbox->config = *config;
    sandbox->lease_ms = config->lease_ms != 0 ? config->lease_ms : CBX_SANDBOX_LEASE_MS;
    memcpy(sandbox->secret, config->secret, sizeof(sandbox->secret));
    pthread_mutex_init(&sandbox->send_lock, NULL);
    cbx_sandbox_input_init(&sandbox->input);
    cbx_stream_init(&sandbox->stream, CBX_FRAME_DATA_MAX);
    return sandbox;
}

void cbx_sandbox_detach(struct cbx_sandbox *sandbox)
{
    if (sandbox == NULL) {
        return;
    }
    cbx_proxy_free(sandbox->proxy);
    cbx_attach_free(sandbox->attach);
    cbx_stream_done(&sandbox->stream);
    pthread_mutex_destroy(&sandbox->send_lock);
    cbx_sandbox_input_done(&sandbox->input);
    json_decref(sandbox->mounted);
    free(sandbox->chunk);
    free(sandbox);
}

void cbx_sandbox_free(struct cbx_sandbox *sandbox)
{
    if (sandbox != NULL && sandbox->id[0] != '\0') {
        cbx_engine_container_remove(sandbox->engine, sandbox->id, NULL);
    }
    cbx_sandbox_detach(sandbox);
}

/* --- the handshake with the supervisor -------------------------------------------------------- */

/* Derives a secret of this container, which only this gateway can do: its key, and the MAC of
 * its tag. */
static struct cbx_sha256 derive(const struct cbx_sandbox *sandbox, const char *purpose,
                                struct cbx_str text)
{
    CBX_AUTO_DONE(buf) message;
    cbx_buf_init(&message, 2 * (size_t)CBX_FRAME_TAG_MAX);
    cbx_buf_printf(&message, "%s %s ", purpose, sandbox->id);
    cbx_buf_add(&message, text);
    struct cbx_str secret = { .p = (const char *)sandbox->secret, .len = sizeof(sandbox->secret) };
    return cbx_hmac_sha256(secret, cbx_buf_str(&message));
}

static int read_hello(struct cbx_sandbox *sandbox, const struct cbx_frame *frame,
                      struct cbx_str *tag, struct cbx_err *err)
{
    struct cbx_frame_hello hello = { 0 };
    if (frame->type == CBX_FRAME_HELLO && frame->payload.len >= sizeof(hello)) {
        memcpy(&hello, frame->payload.p, sizeof(hello));
    }
    if (hello.version != CBX_FRAME_VERSION) {
        return cbx_fail(
            err, CBX_EENGINE,
            "the sandbox image has protocol %u, needed is %d; 'codebox image build' renews it",
            hello.version, CBX_FRAME_VERSION);
    }
    if (hello.run == CBX_HELLO_FENCED) {
        return cbx_fail(err, CBX_ESTATE, "another gateway has taken the sandbox over");
    }
    hello.id[sizeof(hello.id) - 1] = '\0';
    if (hello.run != CBX_HELLO_IDLE) {
        memcpy(sandbox->run_id, hello.id, sizeof(hello.id));
    }
    *tag = cbx_str_sub(frame->payload, sizeof(hello), frame->payload.len);
    return 0;
}

/* An engine lets a client attach to a container that has just ended, and then sends nothing. */
static int receive_hello(struct cbx_sandbox *sandbox, int timeout_ms, struct cbx_frame *out,
                         struct cbx_err *err)
{
    int64_t now = cbx_clock_ms(), deadline = now + timeout_ms;
    for (int64_t wait_ms = STATE_POLL_MS;; wait_ms *= 2) {
        int64_t until = now + wait_ms < deadline ? now + wait_ms : deadline;
        int failed = cbx_sandbox_receive(sandbox, until, out, err);
        now = cbx_clock_ms();
        if (failed != CBX_ETIMEDOUT || now >= deadline) {
            return failed;
        }
        struct cbx_container_state state = { 0 };
        failed = cbx_engine_container_state(sandbox->engine, sandbox->id, 0, &state, err);
        if (failed) {
            return failed;
        }
        if (!state.running) {
            return cbx_fail(err, CBX_ENOTFOUND, "the sandbox has ended");
        }
    }
}

/* A peer that closed the connection may have sent a reason before: its error replaces the error of
 * sending. */
static int read_close_reason(struct cbx_sandbox *sandbox, int failed, struct cbx_err *err)
{
    enum { CLOSED_MS = 1000 };
    struct cbx_frame frame;
    struct cbx_err why = { 0 };
    if (failed != CBX_EIO || err == NULL) {
        return failed;
    }
    if (cbx_sandbox_receive(sandbox, cbx_clock_ms() + CLOSED_MS, &frame, &why) == CBX_EIO) {
        *err = why;
    }
    return failed;
}

/* Sends the key and ATTACH. Frames of other threads come after them, as the sandbox does not own the
 * connection yet. */
static int send_opening(struct cbx_sandbox *sandbox, struct cbx_attach *attach,
                        const char mark[CBX_FRAME_MARK_BYTES], struct cbx_err *err)
{
    struct cbx_str nonce = { .p = mark + CBX_FRAME_KEY_BYTES, .len = CBX_FRAME_NONCE_BYTES };
    char terms[sizeof(sandbox->lease_ms) + sizeof(sandbox->config.epoch)];
    memcpy(terms, &sandbox->lease_ms, sizeof(sandbox->lease_ms));
    memcpy(terms + sizeof(sandbox->lease_ms), &sandbox->config.epoch,
           sizeof(sandbox->config.epoch));
    CBX_AUTO_DONE(buf) opening;
    cbx_buf_init(&opening, CBX_FRAME_KEY_BYTES + CBX_FRAME_HEAD_BYTES + CBX_FRAME_ATTACH_BYTES);
    cbx_buf_add_bytes(&opening, mark, CBX_FRAME_KEY_BYTES);
    int failed = cbx_sandbox_add_frame(&opening, CBX_FRAME_ATTACH, nonce,
                                       (struct cbx_str){ .p = terms, .len = sizeof(terms) }, err);
    if (!failed) {
        failed = cbx_attach_send(attach, opening.p, opening.len, err);
    }
    explicit_bzero(opening.p, opening.len);
    return failed;
}

static void own_attach(struct cbx_sandbox *sandbox, struct cbx_attach *attach)
{
    pthread_mutex_lock(&sandbox->send_lock);
    cbx_attach_free(sandbox->attach);
    sandbox->attach = attach;
    pthread_mutex_unlock(&sandbox->send_lock);
}

int cbx_sandbox_greet(struct cbx_sandbox *sandbox, struct cbx_attach *attach, int timeout_ms,
                      struct cbx_str *tag, struct cbx_err *err)
{
    struct cbx_sha256 key = derive(sandbox, "key", CBX_STR(""));
    char mark[CBX_FRAME_MARK_BYTES];
    struct cbx_frame frame;
    memcpy(mark, key.bytes, CBX_FRAME_KEY_BYTES);
    cbx_random(mark + CBX_FRAME_KEY_BYTES, CBX_FRAME_NONCE_BYTES);
    cbx_stream_seek(&sandbox->stream, mark);
    int failed = send_opening(sandbox, attach, mark, err);
    own_attach(sandbox, attach);
    if (failed) {
        failed = read_close_reason(sandbox, failed, err);
    } else {
        failed = receive_hello(sandbox, timeout_ms, &frame, err);
    }
    if (failed) {
        return cbx_wrap(err, "starting a sandbox");
    }
    return read_hello(sandbox, &frame, tag, err);
}

static int run_container(struct cbx_sandbox *sandbox, const struct cbx_container_spec *spec,
                         struct cbx_err *err)
{
    struct cbx_str tag;
    struct cbx_attach *attach = NULL;
    int failed = cbx_engine_container_begin(sandbox->engine, spec, sandbox->id, &attach, err);
    if (failed) {
        cbx_attach_free(attach); /* streams of a container that did not start */
        return failed;
    }
    return cbx_sandbox_greet(sandbox, attach, HELLO_TIMEOUT_MS, &tag, err);
}

static int start(struct cbx_sandbox *sandbox, const struct cbx_sandbox_config *config,
                 const struct cbx_sandbox_mounts *mounts, struct cbx_err *err)
{
    char image[CBX_IMAGE_NAME_BYTES], image_id[CBX_IMAGE_ID_CHARS + 1];
    int failed = cbx_sandbox_check_wishes(sandbox, config, mounts, err);
    if (!failed && sandbox->layer.image[0] != '\0') {
        memcpy(image_id, sandbox->layer.image, sizeof(image_id));
    } else if (!failed) {
        cbx_image_name(config->image_prefix, sandbox->kernel, config->variant, image);
        failed = cbx_engine_image_id(sandbox->engine, image, image_id, err);
    }
    if (failed) {
        return failed;
    }
    CBX_AUTO_DONE(container_spec) spec;
    cbx_sandbox_spec(config, sandbox->kernel, &sandbox->limits, image_id, mounts, &spec);
    failed = run_container(sandbox, &spec, err);
    sandbox->alive = !failed;
    if (!failed && mounts != NULL) {
        failed = cbx_sandbox_verify_mounts(sandbox, mounts, err);
    }
    cbx_sandbox_trim(sandbox);
    return failed;
}

int cbx_sandbox_prepare(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                        const char *kernel, const struct cbx_limits *limits,
                        const struct cbx_sandbox_layer *layer, struct cbx_sandbox **out,
                        struct cbx_err *err)
{
    return cbx_sandbox_prepare_with(engine, config, kernel, limits, layer, NULL, out, err);
}

int cbx_sandbox_prepare_with(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                             const char *kernel, const struct cbx_limits *limits,
                             const struct cbx_sandbox_layer *layer,
                             const struct cbx_sandbox_mounts *mounts, struct cbx_sandbox **out,
                             struct cbx_err *err)
{
    mounts = mounts != NULL && mounts->count > 0 ? mounts : NULL;
    CBX_AUTO(sandbox) sandbox = new_sandbox(engine, config);
    snprintf(sandbox->kernel, sizeof(sandbox->kernel), "%s", kernel);
    sandbox->limits = *limits;
    if (layer != NULL) {
        sandbox->layer = *layer;
    }
    int failed = start(sandbox, config, mounts, err);
    if (failed == CBX_ENOTFOUND) { /* an image or a container, which no caller named */
        failed = CBX_EENGINE;
        if (err != NULL) {
            err->code = failed;
        }
    }
    if (!failed) {
        *out = cbx_steal(&sandbox);
    }
    return failed;
}

/* --- ownership -------------------------------------------------------------------------------- */

/* True if it has this kernel, and exactly these limits of memory, processors, processes and
 * disk. */
static bool fits(const struct cbx_sandbox *sandbox, const char *kernel,
                 const struct cbx_limits *limits)
{
    return strcmp(sandbox->kernel, kernel) == 0 &&
           cbx_limits_same_container(&sandbox->limits, limits);
}

/* Adds the tag: a MAC that binds it to this container, then JSON. */
static int add_tag(struct cbx_sandbox *sandbox, struct cbx_buf *frames, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_FRAME_TAG_MAX - CBX_SHA256_BYTES);
    int failed = cbx_sandbox_write_tag(sandbox, &text, err);
    if (failed) {
        return failed;
    }
    sandbox->tag_mac = derive(sandbox, "tag", cbx_buf_str(&text));
    struct cbx_str bytes = { .p = (const char *)sandbox->tag_mac.bytes,
                             .len = sizeof(sandbox->tag_mac.bytes) };
    return cbx_sandbox_add_frame(frames, CBX_FRAME_TAG, bytes, cbx_buf_str(&text), err);
}

static int send_tag(struct cbx_sandbox *sandbox, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) frames;
    cbx_buf_init(&frames, CBX_FRAME_TAG_MAX + CBX_FRAME_HEAD_BYTES);
    int failed = add_tag(sandbox, &frames, err);
    if (failed) {
        return failed;
    }
    return cbx_sandbox_send_bytes(sandbox, cbx_buf_str(&frames), err);
}

int cbx_sandbox_give(struct cbx_sandbox *sandbox, struct cbx_str variables,
                     const struct cbx_sha256 *granted, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) frames;
    cbx_buf_init(&frames, CBX_FRAME_TAG_MAX + CBX_FRAME_VARIABLES_MAX + 2 * CBX_FRAME_HEAD_BYTES);
    sandbox->granted = *granted;
    int failed = add_tag(sandbox, &frames, err);
    if (!failed) {
        failed = cbx_sandbox_add_frame(&frames, CBX_FRAME_VARIABLES, variables, CBX_STR(""), err);
    }
    if (!failed) {
        failed = cbx_sandbox_send_bytes(sandbox, cbx_buf_str(&frames), err);
    }
    explicit_bzero(frames.p, frames.len);
    return failed;
}

static void send_of_proxy(void *context, uint8_t type, struct cbx_str payload)
{
    cbx_sandbox_send(context, type, payload, CBX_STR(""), NULL);
}

static int note_event(void *context, const char *run, const struct cbx_proxy_event *event)
{
    struct cbx_sandbox *sandbox = context;
    return sandbox->network.event(sandbox->network.context, sandbox, run, event);
}

void cbx_sandbox_grant_network(struct cbx_sandbox *sandbox, const struct cbx_network_grant *grant)
{
    const struct cbx_proxy_owner owner = { .send = send_of_proxy,
                                           .event = note_event,
                                           .context = sandbox };
    sandbox->network = *grant;
    sandbox->proxy = cbx_proxy_new(sandbox->engine, &sandbox->config, &sandbox->network, &owner);
}

bool cbx_sandbox_is_untouched(const struct cbx_sandbox *sandbox)
{
    return sandbox->claimed && !sandbox->touched;
}

const struct cbx_sha256 *cbx_sandbox_layer(const struct cbx_sandbox *sandbox)
{
    return &sandbox->layer.set;
}

const struct cbx_sha256 *cbx_sandbox_granted(const struct cbx_sandbox *sandbox)
{
    return &sandbox->granted;
}

int cbx_sandbox_set_ledger(struct cbx_sandbox *sandbox, const struct cbx_sha256 *ledger,
                           struct cbx_buf *frames, struct cbx_err *err)
{
    sandbox->ledger = *ledger;
    return add_tag(sandbox, frames, err);
}

int cbx_sandbox_continue(struct cbx_sandbox *sandbox, const struct cbx_sandbox *ended,
                         struct cbx_err *err)
{
    sandbox->ledger = ended->ledger;
    return send_tag(sandbox, err);
}

static int read_tag(struct cbx_sandbox *sandbox, struct cbx_str tag, struct cbx_err *err)
{
    struct cbx_str text = cbx_str_sub(tag, CBX_SHA256_BYTES, tag.len);
    struct cbx_sha256 have, want = derive(sandbox, "tag", text);
    if (tag.len == 0) {
        return cbx_fail(err, CBX_ENOTFOUND, "the sandbox was never claimed");
    }
    if (tag.len <= CBX_SHA256_BYTES) {
        return cbx_fail(err, CBX_EPROTO, "the sandbox's tag is too short");
    }
    memcpy(have.bytes, tag.p, sizeof(have.bytes));
    if (!cbx_sha256_equal(&have, &want)) {
        return cbx_fail(err, CBX_EPROTO, "the authentication of the sandbox's tag fails");
    }
    sandbox->tag_mac = have;
    return cbx_sandbox_read_tag(sandbox, text, err);
}

int cbx_sandbox_permitted(const struct cbx_permit *permit, const char **kernel, struct cbx_err *err)
{
    *kernel = cbx_kernel_of(permit->language);
    if (*kernel == NULL) {
        return cbx_fail(err, CBX_EINVAL, "no sandbox runs '%s'", permit->language);
    }
    if (permit->action != CBX_ACTION_OPEN && permit->action != CBX_ACTION_RUN) {
        return cbx_fail(err, CBX_ESEAL, "this decision does not allow a sandbox");
    }
    return 0;
}

int cbx_sandbox_claim(struct cbx_sandbox *sandbox, const struct cbx_permit *permit,
                      struct cbx_err *err)
{
    const char *kernel;
    int failed = cbx_sandbox_permitted(permit, &kernel, err);
    if (failed) {
        return failed;
    }
    if (sandbox->claimed || !fits(sandbox, kernel, &permit->limits) ||
        !cbx_sha256_equal(&sandbox->layer.set, &permit->layer) ||
        !cbx_sha256_equal(&permit->mounts, &sandbox->mounts)) {
        return cbx_fail(err, CBX_ESEAL, "the permit is not for this sandbox");
    }
    sandbox->claimed = true;
    sandbox->claimed_ms = cbx_time_ms();
    sandbox->limits = permit->limits;
    cbx_sandbox_bind(sandbox, permit);
    return send_tag(sandbox, err);
}

int cbx_sandbox_adopt(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                      const char *id, struct cbx_sandbox **out, struct cbx_err *err)
{
    struct cbx_sandbox *sandbox = new_sandbox(engine, config);
    snprintf(sandbox->id, sizeof(sandbox->id), "%s", id);
    struct cbx_attach *attach = NULL;
    int failed = cbx_engine_container_attach(engine, sandbox->id, &attach, err);
    struct cbx_str tag = { 0 };
    if (!failed) {
        failed = cbx_sandbox_greet(sandbox, attach, ADOPT_TIMEOUT_MS, &tag, err);
    }
    if (!failed) {
        failed = read_tag(sandbox, tag, err);
    }
    if (failed) {
        cbx_sandbox_detach(sandbox);
        return failed;
    }
    sandbox->claimed = sandbox->alive = sandbox->touched = true;
    cbx_sandbox_trim(sandbox);
    *out = sandbox;
    return 0;
}

int cbx_sandbox_reap(struct cbx_engine *engine, const struct cbx_reap *reap, size_t *removed,
                     struct cbx_err *err)
{
    char label[128];
    snprintf(label, sizeof(label), CBX_LABEL_INSTANCE "=%.64s", reap->instance);
    CBX_AUTO_JSON ids = NULL;
    int failed = cbx_engine_container_old(engine, label, reap->age_s, &ids, err);
    size_t i;
    json_t *id;
    *removed = 0;
    json_array_foreach(ids, i, id)
    {
        const char *container = json_string_value(id);
        if (reap->keeps == NULL || !reap->keeps(reap->context, container)) {
            int kept = cbx_engine_container_remove(engine, container, failed ? NULL : err);
            if (!failed) {
                failed = kept;
            }
            *removed += kept ? 0 : 1;
        }
    }
    return failed;
}
