/* SPDX-License-Identifier: MIT
 * Keys of requests. */
#include "gateway/front/rest/idempotency.h"

#include "gateway/front/jobs/results.h"
#include "gateway/front/service/service_packages.h"
#include "gateway/front/service/service_sessions.h"
#include "policies/base/hash.h"

#include <string.h>
#include <time.h>

enum { KEY_MAX = 255, KEPT_S = 86400, STALE_S = 120 };

/* Writes the time `seconds` ago in the format of cbx_service_now. */
static void time_before(int64_t seconds, char out[32])
{
    time_t then = time(NULL) - (time_t)seconds;
    struct tm utc;
    gmtime_r(&then, &utc);
    strftime(out, 32, "%Y-%m-%dT%H:%M:%S.000000", &utc);
}

/* False if the response is made. */
static bool copy_key(struct cbx_rest_call *call, char out[KEY_MAX + 1])
{
    struct cbx_str key = call->request->idempotency_key;
    bool good = key.len > 0 && key.len <= KEY_MAX;
    for (size_t i = 0; good && i < key.len; i++) {
        good = key.p[i] >= ' ' && key.p[i] < 0x7f;
    }
    if (!good) {
        struct cbx_err err;
        cbx_fail(&err, CBX_EINVAL,
                 "Idempotency-Key has %zu bytes, allowed are 1 to %d printable characters", key.len,
                 KEY_MAX);
        cbx_rest_fail(call, 400, &err);
        return false;
    }
    snprintf(out, KEY_MAX + 1, "%.*s", (int)key.len, key.p);
    return true;
}

static void hash_request(const struct cbx_rest_call *call, char hex[CBX_SHA256_HEX + 1])
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, call->request->body.len + call->request->path.len + 64);
    cbx_buf_add(&text, call->request->method);
    cbx_buf_add_char(&text, ' ');
    cbx_buf_add(&text, call->request->path);
    cbx_buf_add_char(&text, '\n');
    cbx_buf_add(&text, call->request->body);
    struct cbx_sha256 hash = cbx_sha256_of(cbx_buf_str(&text));
    cbx_sha256_hex(&hash, hex);
}

/* --- answers ---------------------------------------------------------------------------------- */

/* Returns the response to the request that opened it; NULL if it is closed. */
static json_t *find_session(struct cbx_rest_call *call, const char *id)
{
    const char *principal = cbx_rest_principal(call);
    CBX_AUTO_JSON found = NULL;
    CBX_AUTO_JSON options = NULL;
    if (cbx_service_describe_session(call->service, principal, id, &found, NULL) != 0 ||
        cbx_store_get_session(call->service->store, principal, id, NULL, &options, NULL) != 0) {
        return NULL;
    }
    return json_pack("{s:O,s:O,s:O,s:o}", "session_id", json_object_get(found, "session_id"),
                     "language", json_object_get(found, "language"), "created_at",
                     json_object_get(found, "created_at"), "installed",
                     cbx_package_names(json_string_value(json_object_get(options, "language")),
                                       cbx_json_str(json_object_get(options, "packages"))));
}

static json_t *find(struct cbx_rest_call *call, enum cbx_once kind, const char *id, int *status)
{
    CBX_AUTO_JSON found = NULL;
    *status = 201;
    if (kind == CBX_ONCE_SESSION) {
        return find_session(call, id);
    }
    if (cbx_store_get_execution(call->service->store, cbx_rest_principal(call), id, &found, NULL) !=
        0) {
        return NULL;
    }
    const char *state = json_string_value(json_object_get(found, "status"));
    *status = state != NULL && strcmp(state, "running") == 0 ? 202 : 200;
    return cbx_execution_json(found);
}

/* The key is taken. True if its object does not exist any more: its request ended without a
 * result. One of a front that was killed is at work no more: what it made is stored before it has
 * an effect. */
static bool repeat(struct cbx_rest_call *call, enum cbx_once kind, const char *request,
                   const struct cbx_stored_key *stored)
{
    struct cbx_err err;
    int status;
    char stale[32];
    json_t *made;
    if (strcmp(stored->request, request) != 0) {
        cbx_fail(&err, CBX_EINVAL,
                 "this Idempotency-Key came with another request before; take a new one");
        cbx_rest_fail(call, 422, &err);
        return false;
    }
    if ((made = find(call, kind, stored->id, &status)) != NULL) {
        cbx_rest_answer(call, status, made);
        return false;
    }
    time_before(STALE_S, stale);
    if (strcmp(stored->created_at, stale) < 0 ||
        strcmp(stored->created_at, call->service->began_at) < 0) {
        return true;
    }
    cbx_fail(&err, CBX_ESTATE,
             "the first request with this Idempotency-Key is still at work, or what it made is "
             "gone; try again later");
    cbx_rest_fail(call, 409, &err);
    return false;
}

bool cbx_rest_once(struct cbx_rest_call *call, enum cbx_once kind, const char *id)
{
    char key[KEY_MAX + 1], oldest[32], request[CBX_SHA256_HEX + 1];
    const char *principal = cbx_rest_principal(call);
    if (call->request->idempotency_key.p == NULL) {
        return true;
    }
    if (!copy_key(call, key)) {
        return false;
    }
    hash_request(call, request);
    time_before(KEPT_S, oldest);
    for (;;) {
        struct cbx_err err = { 0 };
        struct cbx_stored_key stored;
        snprintf(stored.request, sizeof(stored.request), "%s", request);
        snprintf(stored.id, sizeof(stored.id), "%s", id);
        cbx_service_now(stored.created_at);
        int failed =
            cbx_store_take_key(call->service->store, principal, key, oldest, &stored, &err);
        if (failed == 0) {
            return true;
        }
        if (failed != CBX_ESTATE) {
            cbx_rest_fail(call, 0, &err);
            return false;
        }
        if (!repeat(call, kind, request, &stored)) {
            return false;
        }
        cbx_store_drop_key(call->service->store, principal, key, stored.id, NULL);
    }
}

void cbx_rest_undo_once(struct cbx_rest_call *call, const char *id)
{
    char key[KEY_MAX + 1];
    struct cbx_str sent = call->request->idempotency_key;
    if (sent.p != NULL) {
        snprintf(key, sizeof(key), "%.*s", (int)(sent.len < KEY_MAX ? sent.len : KEY_MAX), sent.p);
        cbx_store_drop_key(call->service->store, cbx_rest_principal(call), key, id, NULL);
    }
}
