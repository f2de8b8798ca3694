/* SPDX-License-Identifier: MIT
 * Requests to the API server: credentials, retries, replies. */
#include "docker/engine/kubernetes/kube.h"

#include "policies/base/memory.h"
#include "policies/base/text/json.h"
#include "policies/base/time/clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ANSWER_MAX = 64 * 1024 * 1024, CALL_TIMEOUT_MS = 30000, TOKEN_MS = 60000 };
enum { BUSY_TRIES = 6, BUSY_MS = 500 }; /* for replies with the status 429 */

/* --- credentials ------------------------------------------------------------------------------ */

/* The file is a symbolic link that the kubelet replaces; a file that cannot be read keeps the
 * last token. */
static void renew_token(struct cbx_kube *kube, bool renew)
{
    char *token = NULL;
    int64_t now = cbx_clock_ms();
    if (kube->token != NULL && !renew && now - kube->token_ms < TOKEN_MS) {
        return;
    }
    if (cbx_cluster_file(kube->cluster.token_file, &token, NULL) == 0) {
        token[strcspn(token, "\r\n")] = '\0';
        free(kube->token);
        kube->token = token;
    }
    kube->token_ms = now;
}

void cbx_kube_authorize(struct cbx_kube *kube, bool renew, const char *end, struct cbx_buf *out)
{
    pthread_mutex_lock(&kube->lock);
    const char *token = kube->cluster.token;
    if (kube->cluster.token_file != NULL) {
        renew_token(kube, renew);
        token = kube->token;
    }
    if (token != NULL) {
        cbx_buf_printf(out, "Authorization: Bearer %s%s", token, end);
    }
    pthread_mutex_unlock(&kube->lock);
}

static void set_blob(CURL *curl, CURLoption option, char *pem)
{
    if (pem != NULL) {
        struct curl_blob blob = { .data = pem, .len = strlen(pem), .flags = CURL_BLOB_NOCOPY };
        curl_easy_setopt(curl, option, &blob);
    }
}

CURL *cbx_kube_handle(struct cbx_kube *kube)
{
    CURL *curl = cbx_handles_take(&kube->handles);
    cbx_handles_watch(curl);
    set_blob(curl, CURLOPT_CAINFO_BLOB, kube->cluster.ca);
    set_blob(curl, CURLOPT_SSLCERT_BLOB, kube->cluster.certificate);
    set_blob(curl, CURLOPT_SSLKEY_BLOB, kube->cluster.key);
    if (kube->cluster.ca != NULL) {
        /* The system's CAs certify web sites, not clusters. */
        curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
    }
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    return curl;
}

int cbx_kube_unreachable(const struct cbx_kube *kube, CURLcode code, const char *words,
                         struct cbx_err *err)
{
    bool certificate = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CONNECT_ERROR;
    cbx_fail(err, CBX_EENGINE, "the cluster does not answer");
    cbx_err_detail(err, "%s: %s%s", kube->cluster.server,
                   words[0] != '\0' ? words : curl_easy_strerror(code),
                   certificate ? "; check certificate-authority of the kubeconfig" : "");
    return CBX_EENGINE;
}

/* --- one request ------------------------------------------------------------------------------ */

struct reply {
    long status;
    curl_off_t retry_s; /* of Retry-After; 0 = none */
    struct cbx_buf *body;
    int64_t deadline_ms; /* of the request */
};

static struct curl_slist *make_headers(struct cbx_kube *kube, bool renew)
{
    CBX_AUTO_DONE(buf) authorization;
    cbx_buf_init(&authorization, 64 * 1024);
    cbx_kube_authorize(kube, renew, "", &authorization);
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Accept: application/json");
    headers = curl_slist_append(headers, "Expect:");
    if (authorization.len > 0) {
        headers = curl_slist_append(headers, authorization.p);
    }
    return headers;
}

int cbx_kube_poll_stop(void *kube, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return atomic_load(&((struct cbx_kube *)kube)->stopping);
}

static int transfer(struct cbx_kube *kube, const struct cbx_kube_request *request, bool renew,
                    struct reply *reply, struct cbx_err *err)
{
    char url[8192], detail[CURL_ERROR_SIZE] = "";
    CBX_AUTO_DONE(buf) body;
    cbx_buf_init(&body, ANSWER_MAX);
    CURL *curl = cbx_kube_handle(kube);
    struct curl_slist *headers = make_headers(kube, renew);
    snprintf(url, sizeof(url), "%s%s", kube->cluster.server, request->path);
    cbx_buf_reset(reply->body);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, cbx_handles_collect);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, reply->body);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail);
    int64_t left = reply->deadline_ms - cbx_clock_ms();
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, left > 1 ? (long)left : 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, cbx_kube_poll_stop);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, kube);
    if (request->body != NULL) {
        cbx_json_write(&body, request->body);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)body.len);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.p);
    }
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply->status);
    curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &reply->retry_s);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
    curl_slist_free_all(headers);
    cbx_handles_give(&kube->handles, curl);
    if (code != CURLE_OK) {
        return cbx_kube_unreachable(
            kube, code, reply->body->overflow ? "its answer is too large" : detail, err);
    }
    return 0;
}

void cbx_kube_pause(const struct cbx_kube *kube, int64_t ms)
{
    enum { STEP_MS = 50 };
    for (int64_t left = ms; left > 0 && !atomic_load(&kube->stopping); left -= STEP_MS) {
        struct timespec step = { .tv_nsec = STEP_MS * 1000000L };
        nanosleep(&step, NULL);
    }
}

/* A status of 429 means that the server did not begin with the request (API Priority and
 * Fairness), so each method may be repeated. */
static int transfer_until_served(struct cbx_kube *kube, const struct cbx_kube_request *request,
                                 struct reply *reply, struct cbx_err *err)
{
    reply->deadline_ms =
        cbx_clock_ms() + (request->timeout_ms > 0 ? request->timeout_ms : CALL_TIMEOUT_MS);
    int failed = transfer(kube, request, false, reply, err);
    if (!failed && reply->status == 401 && kube->cluster.token_file != NULL) {
        failed = transfer(kube, request, true, reply, err);
    }
    for (int tries = 1; !failed && reply->status == 429 && tries < BUSY_TRIES; tries++) {
        bool given = reply->retry_s > 0 && reply->retry_s <= 2;
        int64_t ms = given ? reply->retry_s * 1000 : (int64_t)BUSY_MS * tries;
        if (cbx_clock_ms() + ms >= reply->deadline_ms) {
            return 0;
        }
        cbx_kube_pause(kube, ms);
        failed = transfer(kube, request, false, reply, err);
    }
    return failed;
}

int cbx_kube_call(struct cbx_kube *kube, const struct cbx_kube_request *request, long *status,
                  json_t **answer, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) body;
    cbx_buf_init(&body, ANSWER_MAX);
    struct reply reply = { .body = &body };
    *answer = NULL;
    int failed = transfer_until_served(kube, request, &reply, err);
    if (failed) {
        return failed;
    }
    *status = reply.status;
    struct cbx_err inner;
    if (body.len > 0 && cbx_json_parse(cbx_buf_str(&body), ANSWER_MAX, answer, &inner) != 0 &&
        reply.status < 300) {
        cbx_fail(err, CBX_EENGINE, "the cluster answered something that is no JSON");
        cbx_err_detail(err, "%s", kube->cluster.server);
        return CBX_EENGINE;
    }
    return 0;
}

int cbx_kube_text(struct cbx_kube *kube, const char *path, struct cbx_buf *out, struct cbx_err *err)
{
    struct cbx_kube_request request = { .method = "GET", .path = path };
    struct reply reply = { .body = out };
    int failed = transfer_until_served(kube, &request, &reply, err);
    if (failed) {
        return failed;
    }
    if (reply.status != 200) {
        CBX_AUTO_JSON answer = NULL;
        cbx_json_parse(cbx_buf_str(out), out->max_bytes, &answer, NULL);
        return cbx_kube_refused(kube, reply.status, answer, "give a pod's log", err);
    }
    return 0;
}

int cbx_kube_expect(struct cbx_kube *kube, const struct cbx_kube_request *request, long good,
                    const char *what, json_t **answer, struct cbx_err *err)
{
    CBX_AUTO_JSON got = NULL;
    long status = 0;
    int failed = cbx_kube_call(kube, request, &status, &got, err);
    if (failed) {
        return failed;
    }
    if (status != good || !json_is_object(got)) {
        return cbx_kube_refused(kube, status, got, what, err);
    }
    *answer = json_incref(got);
    return 0;
}
