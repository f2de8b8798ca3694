/* SPDX-License-Identifier: MIT
 * The process that fetches keys: one thread, and the threads in which libcurl resolves names. */
#include "gateway/keys/fetcher.h"

#include "gateway/ipc/jail/files.h"
#include "gateway/ipc/jail/jail.h"
#include "gateway/keys/transfer.h"
#include "policies/base/log.h"
#include "policies/base/time/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* A compromised front can send any number of requests, and the issuer's server belongs to
 * others: a source is fetched at most once in PAUSE_MS, for all clients together. */
enum { PAUSE_MS = 1000, IDLE_MS = 60000 };

struct source {
    const struct cbx_key_source *row;
    struct cbx_transfer transfer;
    struct asked {
        struct cbx_key_request request; /* the last request; number 0 = none */
        bool waits;                     /* true until it is answered */
    } asked[CBX_KEY_CLIENTS];
    int64_t began_ms;    /* time of the last fetch; 0 = none */
    struct cbx_buf last; /* result of the last successful fetch, for a client that is forked anew */
    int64_t last_ms;     /* time of that fetch; 0 = never */
};

struct fetcher {
    int channels[CBX_KEY_CLIENTS];
    CURLM *multi;
    struct source sources[CBX_KEY_SOURCES_MAX];
    size_t count;
};

static struct source *find_source(struct fetcher *f, const struct cbx_sha256 *id)
{
    for (size_t i = 0; i < f->count; i++) {
        if (cbx_sha256_equal(&f->sources[i].row->id, id)) {
            return &f->sources[i];
        }
    }
    return NULL;
}

static void answer(const struct fetcher *f, int client, struct cbx_key_answer head,
                   struct cbx_str bytes)
{
    if (!cbx_key_answer_send(f->channels[client], head, bytes)) {
        _exit(1); /* the gateway has ended */
    }
}

/* A source that the configuration does not name is requested by a client that has not applied a
 * reload yet. */
static void take_request(struct fetcher *f, int client, const struct cbx_key_request *request)
{
    struct source *s = find_source(f, &request->source);
    if (s == NULL) {
        answer(
            f, client,
            (struct cbx_key_answer){ .event = CBX_KEYS_FAILED,
                                     .number = request->number,
                                     .source = request->source,
                                     .reason = "no issuer of the configuration has this source" },
            CBX_STR(""));
        /* otherwise the request was sent again */
    } else if (request->number != s->asked[client].request.number) {
        s->asked[client] = (struct asked){ .request = *request, .waits = true };
    }
}

static void answer_fetch(const struct fetcher *f, int client, struct source *s, bool good,
                         struct cbx_key_answer head)
{
    struct asked *asked = &s->asked[client];
    bool has_bytes = good || (asked->request.wants_last == 1 && s->last_ms > 0);
    head.number = asked->request.number;
    head.event = good ? CBX_KEYS_FETCHED : CBX_KEYS_FAILED;
    head.age_ms = has_bytes ? cbx_clock_ms() - s->last_ms : 0;
    asked->waits = false;
    answer(f, client, head, has_bytes ? cbx_buf_str(&s->last) : CBX_STR(""));
}

/* One fetch answers all waiting clients. */
static void finish(struct fetcher *f, struct source *s, CURLcode code)
{
    struct cbx_key_answer head = { .source = s->row->id };
    int64_t now = cbx_clock_ms();
    bool good = cbx_transfer_end(&s->transfer, f->multi, code, head.reason, sizeof(head.reason));
    if (good) {
        cbx_buf_reset(&s->last);
        cbx_buf_add(&s->last, cbx_buf_str(&s->transfer.body));
        s->last_ms = now;
    }
    for (int i = 0; i < CBX_KEY_CLIENTS; i++) {
        if (s->asked[i].waits) {
            answer_fetch(f, i, s, good, head);
        }
    }
}

static bool is_awaited(const struct source *s)
{
    bool awaited = false;
    for (int i = 0; i < CBX_KEY_CLIENTS; i++) {
        awaited = awaited || s->asked[i].waits;
    }
    return awaited;
}

/* Starts due fetches; returns the milliseconds until the next one. */
static int begin_due(struct fetcher *f)
{
    int64_t now = cbx_clock_ms(), next = IDLE_MS;
    for (size_t i = 0; i < f->count; i++) {
        struct source *s = &f->sources[i];
        int64_t left = s->began_ms > 0 ? s->began_ms + PAUSE_MS - now : 0;
        if (!is_awaited(s) || s->transfer.curl != NULL) {
            continue;
        }
        if (left > 0) {
            next = left < next ? left : next;
            continue;
        }
        s->began_ms = now;
        cbx_transfer_begin(&s->transfer, f->multi, s->row);
        next = 0;
    }
    return (int)next;
}

static void finish_ended(struct fetcher *f)
{
    int left;
    for (CURLMsg *m; (m = curl_multi_info_read(f->multi, &left)) != NULL;) {
        char *transfer = NULL;
        CURLcode code = m->data.result;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &transfer);
        for (size_t i = 0; i < f->count; i++) {
            if ((char *)&f->sources[i].transfer == transfer) {
                finish(f, &f->sources[i], code);
            }
        }
    }
}

static int confine(struct cbx_err *err)
{
    int failed = cbx_files_confine_to_network(err);
    if (failed) {
        return failed;
    }
    return cbx_jail_sender(false, err);
}

static void open_sources(struct fetcher *f, const struct cbx_key_source *sources, size_t count)
{
    f->count = count < CBX_KEY_SOURCES_MAX ? count : CBX_KEY_SOURCES_MAX;
    for (size_t i = 0; i < f->count; i++) {
        f->sources[i].row = &sources[i];
        cbx_buf_init(&f->sources[i].transfer.body, CBX_JWKS_MAX);
        cbx_buf_init(&f->sources[i].last, CBX_JWKS_MAX);
    }
}

static void await_requests(struct fetcher *f)
{
    struct curl_waitfd requests[CBX_KEY_CLIENTS];
    for (int i = 0; i < CBX_KEY_CLIENTS; i++) {
        requests[i] = (struct curl_waitfd){ .fd = f->channels[i], .events = CURL_WAIT_POLLIN };
    }
    curl_multi_poll(f->multi, requests, CBX_KEY_CLIENTS, begin_due(f), NULL);
}

static void take_requests(struct fetcher *f)
{
    struct cbx_key_request request;
    for (int i = 0; i < CBX_KEY_CLIENTS; i++) {
        while (cbx_key_request_take(f->channels[i], &request)) {
            take_request(f, i, &request);
        }
    }
}

_Noreturn void cbx_keys_main(const int channels[CBX_KEY_CLIENTS],
                             const struct cbx_key_source *sources, size_t count)
{
    static struct fetcher f;
    struct cbx_err err = { 0 };
    memcpy(f.channels, channels, sizeof(f.channels));
    prctl(PR_SET_NAME, "cbx-keys");
    cbx_log_set_component("keys");
    open_sources(&f, sources, count);
    if (cbx_transfer_prepare(&err) != 0 || confine(&err) != 0 ||
        (f.multi = curl_multi_init()) == NULL) {
        cbx_log(CBX_LOG_ERROR, "keys of issuers: %s", err.text);
        _exit(1);
    }
    for (int i = 0; i < CBX_KEY_CLIENTS; i++) {
        answer(&f, i, (struct cbx_key_answer){ .event = CBX_KEYS_STARTED }, CBX_STR(""));
    }
    for (;;) {
        int running;
        await_requests(&f);
        take_requests(&f);
        curl_multi_perform(f.multi, &running);
        finish_ended(&f);
    }
}
