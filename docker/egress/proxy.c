/* SPDX-License-Identifier: MIT
 * The proxy of a sandbox: its container, and the frames between the supervisor and the relay in
 * the container. */
#include "docker/egress/proxy.h"
#include "docker/kernel_names.h"

#include "docker/egress/proxy_config.h"
#include "docker/sandbox/container.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

enum {
    OPEN_MAX = 64, /* concurrent connections; a supervisor has no more */
    QUEUE_MAX = OPEN_MAX * (CBX_FRAME_WINDOW + 4096),
    READ_BYTES = 64 * 1024,
    START_TIMEOUT_MS = 30000,
    POLL_MS = 250,
    FLUSH_MS = 1000,
    RETRY_MS = 5000,
    PIDS = 32,
    CPU_MILLI = 1000,
    CONFIG_MAX = 120 * 1024, /* Linux accepts 128 KiB for one variable */
};
static const int64_t mib = 1024 * 1024;

enum state { IDLE, STARTING, OPEN, FAILED };

struct cbx_proxy {
    struct cbx_engine *engine;
    const struct cbx_sandbox_config *config;
    const struct cbx_network_grant *grant;
    struct cbx_proxy_owner owner;
    pthread_mutex_t lock; /* protects the members below */
    enum state state;
    bool has_thread, stopping, exhausted;
    int64_t failed_ms; /* time of a failed start or of the container's end */
    char run[CBX_FRAME_ID_BYTES];
    struct cbx_attach *attach;
    char id[CBX_CONTAINER_ID_CHARS + 1];
    struct cbx_buf queue; /* frames for the relay while it starts */
    struct open {
        uint32_t number; /* 0 = free */
        int ended;       /* number of directions that have ended */
    } open[OPEN_MAX];
    int64_t connections, requests, bytes; /* totals so far */
    pthread_t thread;
};

/* --- the container ---------------------------------------------------------------------------- */

/* Sets a variable to words with a space between them; CBX_ETOOBIG if it is too long. */
static int set_words(struct cbx_container_spec *spec, const char *name,
                     const struct cbx_strs *words)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CONFIG_MAX);
    for (size_t i = 0; i < words->count; i++) {
        cbx_buf_add_cstr(&text, i > 0 ? " " : "");
        cbx_buf_add(&text, words->items[i]);
    }
    if (text.overflow) {
        return CBX_ETOOBIG;
    }
    cbx_container_spec_set(spec, name, cbx_buf_str(&text));
    return 0;
}

int cbx_proxy_check_network(const char *network, struct cbx_err *err)
{
    bool own = network == NULL || (strcmp(network, "host") != 0 && strcmp(network, "none") != 0 &&
                                   strchr(network, ':') == NULL);
    if (!own) {
        return cbx_fail(err, CBX_EINVAL,
                        "the network of proxies is '%.64s', allowed is the name of a network of "
                        "the engine: a proxy restricts the routes of its network namespace",
                        network);
    }
    return 0;
}

/* Sets the variables from which the relay configures itself. */
static int set_rules(struct cbx_container_spec *spec, const struct cbx_network_grant *grant,
                     struct cbx_err *err)
{
    const struct cbx_proxy_rules rules = { .hosts = grant->hosts,
                                           .allowed = &grant->settings->allowed,
                                           .denied = &grant->settings->denied };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CONFIG_MAX);
    int failed = cbx_proxy_config(&rules, &text, err);
    if (failed) {
        return failed;
    }
    /* A relay without the check of tunnels (relay/tunnel.h) reads another variable, and ends
     * without it. */
    cbx_container_spec_set(spec, "CODEBOX_PROXY_CONFIG", cbx_buf_str(&text));
    if (text.overflow || set_words(spec, "CODEBOX_ALLOWED", rules.allowed) != 0 ||
        set_words(spec, "CODEBOX_DENIED", rules.denied) != 0) {
        return cbx_fail(err, CBX_ETOOBIG, "the list of hosts is longer than %d KiB",
                        CONFIG_MAX / 1024);
    }
    return 0;
}

int cbx_proxy_spec(const struct cbx_sandbox_config *config, const struct cbx_network_grant *grant,
                   const char *image, struct cbx_container_spec *out, struct cbx_err *err)
{
    *out = (struct cbx_container_spec){ .role = CBX_ROLE_PROXY,
                                        .kernel = "proxy",
                                        .image = image,
                                        .instance = config->instance,
                                        .command = { "/usr/local/bin/codebox-relay" },
                                        .limits = { .memory_bytes = 128 * mib,
                                                    .pids = PIDS,
                                                    .cpu_milli = CPU_MILLI,
                                                    .disk_bytes = 4 * mib,
                                                    .isolation = CBX_ISOLATION_CONTAINER },
                                        .tmpfs = { { .path = "/run/codebox",
                                                     .bytes = 4 * mib,
                                                     .inodes = 64,
                                                     .mode = 0700,
                                                     .owned = true } },
                                        .tmpfs_count = 1,
                                        .runtime = config->runtime,
                                        .network = grant->settings->network,
                                        .lease_s = grant->life_s };
    int failed = cbx_proxy_check_network(grant->settings->network, err);
    if (failed) {
        return failed;
    }
    return set_rules(out, grant, err);
}

static int start_container(struct cbx_proxy *proxy, struct cbx_err *err)
{
    char image[CBX_IMAGE_NAME_BYTES], image_id[CBX_IMAGE_ID_CHARS + 1];
    CBX_AUTO_DONE(container_spec) spec = { 0 };
    CBX_AUTO(attach) attach = NULL;
    char id[CBX_CONTAINER_ID_CHARS + 1] = "";
    cbx_image_name(proxy->config->image_prefix, CBX_PROXY_IMAGE, NULL, image);
    int failed = cbx_engine_image_id(proxy->engine, image, image_id, err);
    if (failed) {
        return failed;
    }
    failed = cbx_proxy_spec(proxy->config, proxy->grant, image_id, &spec, err);
    if (failed) {
        return failed;
    }
    failed = cbx_engine_container_begin(proxy->engine, &spec, id, &attach, err);
    if (failed) {
        if (id[0] != '\0') {
            cbx_engine_container_remove(proxy->engine, id, NULL);
        }
        return failed;
    }
    pthread_mutex_lock(&proxy->lock);
    memcpy(proxy->id, id, sizeof(id));
    proxy->attach = cbx_steal(&attach);
    pthread_mutex_unlock(&proxy->lock);
    return 0;
}

/* --- connections ------------------------------------------------------------------------------ */

static struct open *find_open(struct cbx_proxy *proxy, uint32_t number)
{
    for (int i = 0; i < OPEN_MAX; i++) {
        if (proxy->open[i].number == number) {
            return &proxy->open[i];
        }
    }
    return NULL;
}

static void tell_closed(struct cbx_proxy *proxy, uint32_t number)
{
    const struct cbx_frame_close close = { .connection = number, .how = CBX_CLOSE_ALL };
    proxy->owner.send(proxy->owner.context, CBX_FRAME_CLOSE,
                      (struct cbx_str){ .p = (const char *)&close, .len = sizeof(close) });
}

/* Call it with the lock held. */
static void close_all(struct cbx_proxy *proxy)
{
    for (int i = 0; i < OPEN_MAX; i++) {
        if (proxy->open[i].number != 0) {
            tell_closed(proxy, proxy->open[i].number);
            proxy->open[i] = (struct open){ 0 };
        }
    }
}

static uint32_t number_of(struct cbx_str payload)
{
    uint32_t number = 0;
    if (payload.len >= sizeof(number)) {
        memcpy(&number, payload.p, sizeof(number));
    }
    return number;
}

/* Updates the table and the counters for a frame in either direction, with the lock held. False
 * if the frame must not be forwarded. */
static bool account(struct cbx_proxy *proxy, uint8_t type, struct cbx_str payload)
{
    struct open *open = find_open(proxy, number_of(payload));
    if (number_of(payload) == 0 || open == NULL) {
        return false;
    }
    if (type == CBX_FRAME_PART) {
        proxy->bytes += (int64_t)payload.len;
        return proxy->bytes <= proxy->grant->bytes_max;
    }
    if (type == CBX_FRAME_CLOSE && payload.len == sizeof(struct cbx_frame_close)) {
        struct cbx_frame_close close;
        memcpy(&close, payload.p, sizeof(close));
        if (close.how != CBX_CLOSE_END || ++open->ended == 2) {
            *open = (struct open){ 0 };
        }
    }
    return true;
}

static void report(struct cbx_proxy *proxy, const struct cbx_proxy_event *event)
{
    char run[CBX_FRAME_ID_BYTES];
    pthread_mutex_lock(&proxy->lock);
    memcpy(run, proxy->run, sizeof(run));
    pthread_mutex_unlock(&proxy->lock);
    if (proxy->owner.event(proxy->owner.context, run, event) != 0) {
        pthread_mutex_lock(&proxy->lock);
        proxy->exhausted = true;
        close_all(proxy);
        pthread_mutex_unlock(&proxy->lock);
    }
}

/* The session has used its granted amount: all connections are closed, with one report. */
static void exhaust(struct cbx_proxy *proxy, const char *reason)
{
    pthread_mutex_lock(&proxy->lock);
    bool first = !proxy->exhausted;
    proxy->exhausted = true;
    close_all(proxy);
    pthread_mutex_unlock(&proxy->lock);
    if (first) {
        report(proxy, &(struct cbx_proxy_event){ .outcome = CBX_PROXY_REFUSED,
                                                 .reason = cbx_str_of(reason) });
    }
}

/* --- the proxy's thread ----------------------------------------------------------------------- */

static void take_of_relay(struct cbx_proxy *proxy, const struct cbx_frame *frame)
{
    if (frame->type == CBX_FRAME_EVENT) {
        struct cbx_proxy_event event;
        struct cbx_err err;
        if (cbx_proxy_log_read(frame->payload, &event, &err) != 0) {
            cbx_log(CBX_LOG_WARNING, "a proxy logged what is no record: %s", err.text);
            return;
        }
        pthread_mutex_lock(&proxy->lock);
        bool many = ++proxy->requests > proxy->grant->connections_max;
        pthread_mutex_unlock(&proxy->lock);
        report(proxy, &event);
        /* a connection may have any number of requests, each of which is a record */
        if (many) {
            exhaust(proxy, "limit-of-connections");
        }
        return;
    }
    pthread_mutex_lock(&proxy->lock);
    bool passes = account(proxy, (uint8_t)frame->type, frame->payload);
    bool spent = proxy->bytes > proxy->grant->bytes_max;
    pthread_mutex_unlock(&proxy->lock);
    if (passes) {
        proxy->owner.send(proxy->owner.context, (uint8_t)frame->type, frame->payload);
    } else if (spent) {
        exhaust(proxy, "limit-of-bytes");
    }
}

/* Forwards frames until one of type `until` (0 = none ends it), until the deadline (0 = none),
 * until the end of the stream; and, except for FLUSH, until the proxy is stopping, which is a
 * failure while waiting for a type. */
static int pump(struct cbx_proxy *proxy, struct cbx_stream *stream, char *chunk, uint8_t until,
                int64_t deadline, struct cbx_err *err)
{
    for (;;) {
        struct cbx_frame frame;
        int got;
        while ((got = cbx_stream_next(stream, &frame, err)) > 0) {
            if (until != 0 && frame.type == until) {
                return 0;
            }
            take_of_relay(proxy, &frame);
        }
        struct cbx_attach_bytes arrived = { 0 };
        int failed;
        if (got < 0) {
            failed = got;
        } else {
            failed = cbx_attach_receive(proxy->attach, chunk, READ_BYTES, POLL_MS, &arrived, err);
        }
        pthread_mutex_lock(&proxy->lock);
        bool stopping = proxy->stopping;
        pthread_mutex_unlock(&proxy->lock);
        if (!failed && arrived.bytes.len == 0) {
            failed = cbx_fail(err, CBX_EIO,
                              until == CBX_FRAME_READY
                                  ? "the proxy ended before it was ready: its image may be older "
                                    "than this program; 'codebox image build' renews it"
                                  : "the proxy has ended");
        }
        if (!failed && arrived.channel == CBX_CHANNEL_STDOUT) {
            failed = cbx_stream_feed(stream, arrived.bytes, err);
        }
        if (failed && failed != CBX_ETIMEDOUT) {
            return failed;
        }
        if (stopping && until != CBX_FRAME_FLUSH) {
            if (until != 0) {
                return cbx_fail(err, CBX_ESTATE, "its sandbox has ended");
            }
            return 0;
        }
        if (deadline != 0 && cbx_clock_ms() >= deadline) {
            return cbx_fail(err, CBX_ETIMEDOUT, "the proxy did not answer in time");
        }
    }
}

/* The relay accepts connections now: sends it the queued frames. */
static int open_proxy(struct cbx_proxy *proxy, struct cbx_err *err)
{
    pthread_mutex_lock(&proxy->lock);
    int failed;
    if (proxy->queue.overflow) {
        failed = cbx_fail(err, CBX_ETOOBIG, "more was sent than connections may have");
    } else {
        failed = cbx_attach_send(proxy->attach, proxy->queue.p, proxy->queue.len, err);
    }
    cbx_buf_reset(&proxy->queue);
    proxy->state = failed ? proxy->state : OPEN;
    pthread_mutex_unlock(&proxy->lock);
    return failed;
}

static int flush(struct cbx_proxy *proxy, struct cbx_stream *stream, char *chunk,
                 struct cbx_err *err)
{
    static const char frame[CBX_FRAME_HEAD_BYTES] = { CBX_FRAME_FLUSH };
    pthread_mutex_lock(&proxy->lock);
    int failed = cbx_attach_send(proxy->attach, frame, sizeof(frame), err);
    pthread_mutex_unlock(&proxy->lock);
    if (failed) {
        return failed;
    }
    return pump(proxy, stream, chunk, CBX_FRAME_FLUSH, cbx_clock_ms() + FLUSH_MS, err);
}

static int serve(struct cbx_proxy *proxy, struct cbx_err *err)
{
    CBX_AUTO_DONE(stream) stream;
    cbx_stream_init(&stream, CBX_FRAME_PART_MAX + CBX_FRAME_EVENT_MAX);
    stream.direction = 'p';
    CBX_AUTO_MEM char *chunk = cbx_renew(NULL, 1, READ_BYTES);
    int failed = start_container(proxy, err);
    if (failed) {
        return failed;
    }
    failed = pump(proxy, &stream, chunk, CBX_FRAME_READY, cbx_clock_ms() + START_TIMEOUT_MS, err);
    if (failed) {
        return failed;
    }
    failed = open_proxy(proxy, err);
    if (failed) {
        return failed;
    }
    failed = pump(proxy, &stream, chunk, 0, 0, err);
    if (failed) {
        return failed;
    }
    return flush(proxy, &stream, chunk, err);
}

static void *run_proxy(void *context)
{
    struct cbx_proxy *proxy = context;
    struct cbx_err err = { 0 };
    int failed = serve(proxy, &err);
    pthread_mutex_lock(&proxy->lock);
    bool lost = failed && !proxy->stopping;
    if (lost) {
        cbx_log(CBX_LOG_ERROR, "the proxy of a sandbox: %s",
                cbx_err_full(&err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
    }
    proxy->state = FAILED;
    proxy->failed_ms = cbx_clock_ms();
    cbx_buf_reset(&proxy->queue);
    close_all(proxy);
    cbx_attach_free(cbx_steal(&proxy->attach));
    char id[sizeof(proxy->id)];
    memcpy(id, proxy->id, sizeof(id));
    proxy->id[0] = '\0';
    pthread_mutex_unlock(&proxy->lock);
    if (id[0] != '\0') {
        cbx_engine_container_remove(proxy->engine, id, NULL);
    }
    if (lost) {
        report(proxy, &(struct cbx_proxy_event){ .outcome = CBX_PROXY_FAILED,
                                                 .reason = CBX_STR("proxy-unavailable") });
    }
    return NULL;
}

/* --- from the sandbox ------------------------------------------------------------------------- */

struct cbx_proxy *cbx_proxy_new(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                                const struct cbx_network_grant *grant,
                                const struct cbx_proxy_owner *owner)
{
    struct cbx_proxy *proxy = cbx_new(sizeof(*proxy));
    proxy->engine = engine;
    proxy->config = config;
    proxy->grant = grant;
    proxy->owner = *owner;
    pthread_mutex_init(&proxy->lock, NULL);
    cbx_buf_init(&proxy->queue, QUEUE_MAX);
    return proxy;
}

void cbx_proxy_set_run(struct cbx_proxy *proxy, const char *run)
{
    pthread_mutex_lock(&proxy->lock);
    snprintf(proxy->run, sizeof(proxy->run), "%s", run);
    pthread_mutex_unlock(&proxy->lock);
}

/* Call it with the lock held. A failed start is retried after a delay. */
static void start(struct cbx_proxy *proxy)
{
    bool waits = proxy->state == FAILED && cbx_clock_ms() - proxy->failed_ms < RETRY_MS;
    if (proxy->state == STARTING || proxy->state == OPEN || waits || proxy->stopping) {
        return;
    }
    if (proxy->has_thread) {
        pthread_t ended = proxy->thread;
        pthread_mutex_unlock(&proxy->lock);
        pthread_join(ended, NULL);
        pthread_mutex_lock(&proxy->lock);
    }
    proxy->state = STARTING;
    proxy->has_thread = pthread_create(&proxy->thread, NULL, run_proxy, proxy) == 0;
    proxy->state = proxy->has_thread ? STARTING : FAILED;
}

/* With the lock held: adds a connection. False if it is refused. */
static bool connect_one(struct cbx_proxy *proxy, uint32_t number)
{
    struct open *slot = find_open(proxy, 0);
    if (number == 0 || slot == NULL || find_open(proxy, number) != NULL || proxy->exhausted) {
        return false;
    }
    start(proxy);
    if (proxy->state != STARTING && proxy->state != OPEN) {
        return false;
    }
    *slot = (struct open){ .number = number };
    return true;
}

static void forward(struct cbx_proxy *proxy, const struct cbx_frame *frame)
{
    char head[CBX_FRAME_HEAD_BYTES] = { (char)frame->type };
    uint32_t len = (uint32_t)frame->payload.len;
    memcpy(head + 1, &len, sizeof(len));
    if (proxy->state == STARTING) {
        cbx_buf_add_bytes(&proxy->queue, head, sizeof(head));
        cbx_buf_add(&proxy->queue, frame->payload);
    } else if (proxy->state == OPEN) {
        cbx_attach_send(proxy->attach, head, sizeof(head), NULL);
        cbx_attach_send(proxy->attach, frame->payload.p, frame->payload.len, NULL);
    }
}

void cbx_proxy_take(struct cbx_proxy *proxy, const struct cbx_frame *frame)
{
    uint32_t number = number_of(frame->payload);
    bool connects = frame->type == CBX_FRAME_CONNECT;
    pthread_mutex_lock(&proxy->lock);
    bool passes = connects ? connect_one(proxy, number)
                           : account(proxy, (uint8_t)frame->type, frame->payload);
    bool crowded = connects && ++proxy->connections > proxy->grant->connections_max,
         spent = proxy->bytes > proxy->grant->bytes_max;
    if (passes && !crowded) {
        forward(proxy, frame);
    }
    pthread_mutex_unlock(&proxy->lock);
    if (crowded || spent) {
        exhaust(proxy, crowded ? "limit-of-connections" : "limit-of-bytes");
    }
    if (connects && (!passes || crowded)) {
        tell_closed(proxy, number);
    }
}

void cbx_proxy_free(struct cbx_proxy *proxy)
{
    if (proxy == NULL) {
        return;
    }
    pthread_mutex_lock(&proxy->lock);
    proxy->stopping = true;
    bool has_thread = proxy->has_thread;
    pthread_mutex_unlock(&proxy->lock);
    if (has_thread) {
        pthread_join(proxy->thread, NULL);
    }
    cbx_buf_done(&proxy->queue);
    pthread_mutex_destroy(&proxy->lock);
    free(proxy);
}
