/* SPDX-License-Identifier: MIT
 * The front's client of the analyzer workers. */
#include "gateway/front/judge.h"

#include "gateway/ipc/metrics.h"
#include "gateway/ipc/wire/ipc_wire.h"
#include "policies/base/memory.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct cbx_judge {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    int control, workers, timeout_ms;
    atomic_ulong asked_for; /* number of requested workers */
    struct slot {
        int fd; /* socket of a worker without a request; -1 = no worker */
        bool busy;
        unsigned long asked_for; /* number of the request for its worker */
    } slots[CBX_WORKER_SLOTS_MAX];
};

struct cbx_judge *cbx_judge_new(int control, int workers, int timeout_ms)
{
    struct cbx_judge *judge = cbx_new(sizeof(*judge));
    pthread_mutex_init(&judge->lock, NULL);
    pthread_cond_init(&judge->freed, NULL);
    judge->control = control;
    judge->workers = workers > CBX_WORKER_SLOTS_MAX ? CBX_WORKER_SLOTS_MAX : workers;
    judge->timeout_ms = timeout_ms;
    for (int i = 0; i < CBX_WORKER_SLOTS_MAX; i++) {
        judge->slots[i].fd = -1;
    }
    return judge;
}

void cbx_judge_free(struct cbx_judge *judge)
{
    if (judge == NULL) {
        return;
    }
    for (int i = 0; i < CBX_WORKER_SLOTS_MAX; i++) {
        cbx_fd_auto(&judge->slots[i].fd);
    }
    cbx_fd_auto(&judge->control);
    pthread_mutex_destroy(&judge->lock);
    pthread_cond_destroy(&judge->freed);
    free(judge);
}

void cbx_judgement_done(struct cbx_judgement *judgement)
{
    json_decref(judgement->decision);
    json_decref(judgement->installs);
    cbx_buf_done(&judgement->sealed);
    cbx_buf_done(&judgement->text);
    cbx_buf_done(&judgement->past);
    cbx_buf_done(&judgement->files);
    *judgement = (struct cbx_judgement){ 0 };
}

/* Returns NULL if not analysed (new reference). */
static json_t *read_sealed(const struct cbx_judgement *judgement)
{
    json_t *sealed = NULL;
    if (judgement->analysed) {
        cbx_json_parse(cbx_buf_str(&judgement->sealed), CBX_SEAL_MAX_BYTES, &sealed, NULL);
    }
    return sealed;
}

void cbx_judgement_id(const struct cbx_judgement *judgement, char out[CBX_ID_CHARS + 1])
{
    CBX_AUTO_JSON sealed = read_sealed(judgement);
    const char *id = json_string_value(json_object_get(sealed, "id"));
    snprintf(out, CBX_ID_CHARS + 1, "%s", id != NULL ? id : "");
}

void cbx_judgement_digest(const struct cbx_judgement *judgement, char out[CBX_SHA256_HEX + 1])
{
    CBX_AUTO_JSON sealed = judgement->verdict == CBX_ASK ? read_sealed(judgement) : NULL;
    out[0] = '\0';
    if (sealed != NULL) {
        struct cbx_sha256 digest = cbx_seal_digest(sealed);
        cbx_sha256_hex(&digest, out);
    }
}

bool cbx_judgement_is_approved(const struct cbx_judgement *judgement,
                               const struct cbx_approval *approval)
{
    char digest[CBX_SHA256_HEX + 1];
    if (approval == NULL || approval->digest[0] == '\0') {
        return false;
    }
    cbx_judgement_digest(judgement, digest);
    return strcmp(digest, approval->digest) == 0;
}

/* Requests a new worker for the slot; the zygote kills the previous one. If the zygote itself
 * was killed, the request stays in the socket for the next one. */
static int refill(struct cbx_judge *judge, int slot)
{
    struct cbx_err err;
    int pair[2];
    cbx_fd_auto(&judge->slots[slot].fd);
    int failed = cbx_wire_pair(pair, &err);
    if (failed) {
        return failed;
    }
    failed = cbx_wire_send_fd(judge->control, pair[1], (char)slot, &err);
    close(pair[1]);
    if (failed) {
        close(pair[0]);
        return failed;
    }
    judge->slots[slot].fd = pair[0];
    judge->slots[slot].asked_for = atomic_fetch_add(&judge->asked_for, 1);
    return 0;
}

/* With the lock held: returns a free slot, of several the one whose worker had the longest time
 * to start; -1 if all are busy. */
static int find_slot(const struct cbx_judge *judge)
{
    int found = -1;
    for (int i = 0; i < judge->workers; i++) {
        const struct slot *slot = &judge->slots[i];
        if (!slot->busy && (found < 0 || slot->asked_for < judge->slots[found].asked_for)) {
            found = i;
        }
    }
    return found;
}

/* With the lock held: requests a worker for every free slot, so that the next requests find one
 * ready. */
static void prewarm(struct cbx_judge *judge)
{
    for (int i = 0; i < judge->workers; i++) {
        if (!judge->slots[i].busy && judge->slots[i].fd < 0) {
            refill(judge, i);
        }
    }
}

/* Waits for a free slot. */
static int take_slot(struct cbx_judge *judge)
{
    int found;
    pthread_mutex_lock(&judge->lock);
    while ((found = find_slot(judge)) < 0) {
        pthread_cond_wait(&judge->freed, &judge->lock);
    }
    if (judge->slots[found].fd < 0) {
        refill(judge, found); /* first: this request waits for it */
    }
    judge->slots[found].busy = true;
    prewarm(judge);
    pthread_mutex_unlock(&judge->lock);
    return found;
}

static void give_slot(struct cbx_judge *judge, int slot)
{
    pthread_mutex_lock(&judge->lock);
    judge->slots[slot].busy = false;
    pthread_cond_signal(&judge->freed);
    pthread_mutex_unlock(&judge->lock);
}

static json_t *make_request(const struct cbx_policy *policy, const struct cbx_subject *subject)
{
    json_t *request = json_object();
    json_object_set_new(request, "policy", cbx_json_text(policy->name));
    json_object_set_new(request, "action", json_string(cbx_action_name(subject->action)));
    cbx_subject_write(subject, request);
    json_object_set_new(request, "asked", cbx_asked_concealed(cbx_subject_asked(subject)));
    json_object_set_new(request, "past_bytes", json_integer((json_int_t)subject->past.len));
    json_object_set_new(request, "entries_bytes", json_integer((json_int_t)subject->entries.len));
    return request;
}

/* The bytes are the text that may run, then the sealed past. */
static void take_bytes(struct cbx_message *answer, size_t past_bytes, struct cbx_judgement *out)
{
    struct cbx_str bytes = cbx_buf_str(&answer->bytes);
    cbx_buf_init(&out->past, CBX_WIRE_BYTES_MAX);
    cbx_buf_add(&out->past, cbx_str_sub(bytes, bytes.len - past_bytes, bytes.len));
    out->text = answer->bytes;
    out->text.len -= past_bytes;
    out->text.p[out->text.len] = '\0';
    cbx_buf_init(&answer->bytes, CBX_WIRE_BYTES_MAX);
}

/* Moves the contents of the worker's reply. CBX_EPROTO for a malformed reply. */
static int read_answer(struct cbx_message *answer, struct cbx_judgement *out, struct cbx_err *err)
{
    json_t *code = json_object_get(answer->header, "error");
    if (json_is_integer(code)) {
        const char *text = json_string_value(json_object_get(answer->header, "text"));
        cbx_fail(err, (int)json_integer_value(code), "%s",
                 text != NULL ? text : "the analyzer rejected the request");
        return json_integer_value(code) < 0 ? (int)json_integer_value(code) : CBX_EPROTO;
    }
    struct cbx_str sealed = cbx_json_str(json_object_get(answer->header, "sealed"));
    json_t *decision = json_object_get(answer->header, "decision");
    struct cbx_str verdict = cbx_json_str(json_object_get(decision, "verdict"));
    json_int_t past = json_integer_value(json_object_get(answer->header, "past_bytes"));
    struct cbx_sha256 mac;
    if (past < 0 || (size_t)past > answer->bytes.len || sealed.p == NULL || verdict.p == NULL ||
        !json_is_array(json_object_get(decision, "findings")) ||
        !cbx_sha256_from_hex(cbx_json_str(json_object_get(answer->header, "mac")), &mac)) {
        return cbx_fail(err, CBX_EPROTO, "a worker's answer is no decision");
    }
    cbx_buf_init(&out->sealed, CBX_SEAL_MAX_BYTES);
    cbx_buf_add(&out->sealed, sealed);
    out->mac = mac;
    cbx_buf_init(&out->files, CBX_FILES_MAX * CBX_SHA256_HEX);
    cbx_buf_add(&out->files, cbx_json_str(json_object_get(answer->header, "files")));
    out->decision = json_incref(decision);
    json_t *installs = json_object_get(answer->header, "installs");
    out->installs = json_array_size(installs) > 0 ? json_incref(installs) : NULL;
    cbx_verdict_parse(verdict, &out->verdict); /* an unknown one denies */
    out->analysed = true;
    take_bytes(answer, (size_t)past, out);
    return 0;
}

static int send_request(struct cbx_judge *judge, int slot, const json_t *request,
                        struct cbx_str source, struct cbx_err *err)
{
    int failed = judge->slots[slot].fd < 0 ? refill(judge, slot) : 0;
    if (failed) {
        return failed;
    }
    return cbx_wire_send(judge->slots[slot].fd, request, source, err);
}

/* CBX_EIO, CBX_ETIMEDOUT and CBX_EPROTO are failures of the worker; any other error is the
 * caller's. The death of one worker is no evidence against the source, so a second worker gets
 * the source; a second death is a denial. */
static int ask_worker(struct cbx_judge *judge, int slot, const json_t *request,
                      struct cbx_str source, struct cbx_judgement *out, struct cbx_err *err)
{
    int failed = CBX_EIO;
    for (int tries = 0; failed == CBX_EIO && tries < 2; tries++) {
        if (tries > 0 && refill(judge, slot) != 0) {
            break;
        }
        CBX_AUTO_DONE(message) answer;
        cbx_message_init(&answer);
        failed = send_request(judge, slot, request, source, err);
        if (!failed) {
            failed = cbx_wire_receive(judge->slots[slot].fd, judge->timeout_ms, &answer, err);
        }
        if (!failed) {
            failed = read_answer(&answer, out, err);
        }
    }
    return failed;
}

static bool is_worker_failure(int failed)
{
    return failed == CBX_EIO || failed == CBX_ETIMEDOUT || failed == CBX_EPROTO;
}

/* Makes the denial for a missing decision, in the form of every other decision. */
static json_t *make_failure(const struct cbx_subject *subject, struct cbx_str source,
                            const char *why)
{
    struct cbx_sha256 hash = cbx_sha256_of(source);
    char hex[CBX_SHA256_HEX + 1], message[320];
    cbx_sha256_hex(&hash, hex);
    snprintf(message, sizeof(message),
             "The analysis did not come to an end (%.200s), so the code does not run.", why);
    json_t *finding = json_object();
    json_object_set_new(finding, "rule", json_string("analysis-failed"));
    json_object_set_new(finding, "severity", json_string("high"));
    json_object_set_new(finding, "effect", json_string("deny"));
    json_object_set_new(finding, "message", json_string(message));
    json_object_set_new(finding, "hint",
                        json_string("Make the code smaller or simpler and try again."));
    json_object_set_new(finding, "symbol", json_string("analysis-failed"));
    json_object_set_new(finding, "line", json_integer(1));
    json_object_set_new(finding, "column", json_integer(1));
    json_object_set_new(finding, "end_line", json_integer(1));
    json_object_set_new(finding, "end_column", json_integer(1));
    json_object_set_new(finding, "references", json_array());
    json_t *findings = json_array();
    json_array_append_new(findings, finding);
    json_t *decision = json_object();
    json_object_set_new(decision, "verdict", json_string("deny"));
    json_object_set_new(decision, "sha256", json_string(hex));
    json_object_set_new(decision, "language", cbx_json_text(subject->language));
    json_object_set_new(decision, "findings", findings);
    return decision;
}

int cbx_judge_decide(struct cbx_judge *judge, const struct cbx_policy *policy,
                     const struct cbx_subject *subject, struct cbx_str source,
                     struct cbx_judgement *out, struct cbx_err *err)
{
    struct cbx_judgement judgement = { 0 };
    CBX_AUTO_JSON request = make_request(policy, subject);
    CBX_AUTO_DONE(buf) bytes; /* the past, the entries after it, the source */
    cbx_buf_init(&bytes, CBX_WIRE_BYTES_MAX);
    cbx_buf_add(&bytes, subject->past);
    cbx_buf_add(&bytes, subject->entries);
    if (cbx_buf_add(&bytes, source) != 0) {
        return cbx_fail(err, CBX_ETOOBIG, "the source has %zu bytes, more than can be handed on",
                        source.len);
    }
    int64_t began_us = cbx_metric_clock_us();
    int slot = take_slot(judge);
    struct cbx_err inner = { 0 };
    int failed = ask_worker(judge, slot, request, cbx_buf_str(&bytes), &judgement, &inner);
    cbx_metric_observe(CBX_METRIC_DECISION_TIME, cbx_metric_clock_us() - began_us);
    bool no_decision = is_worker_failure(failed);
    /* A worker serves one request. The zygote forks the next one while the client reads its
     * response; after a decision a failed request for a worker is the next judgement's failure. */
    if (refill(judge, slot) != 0 && no_decision) {
        no_decision = false;
        /* Neither zygote nor master exists: this is no finding against the source. */
        failed = cbx_fail(&inner, CBX_EIO,
                          "no analyzer can be started, the gateway is shutting down; try again "
                          "after the restart");
    }
    give_slot(judge, slot);
    if (no_decision) {
        judgement.decision = make_failure(subject, source, inner.text);
        failed = 0;
    }
    if (failed) {
        if (err != NULL) {
            *err = inner;
        }
        return failed;
    }
    *out = judgement;
    return 0;
}
