/* SPDX-License-Identifier: MIT
 * Sessions. */
#include "gateway/front/service/service_sessions.h"

#include "gateway/front/dialect.h"
#include "gateway/front/executor_client.h"
#include "gateway/front/jobs/takeover.h"
#include "gateway/front/service/service_packages.h"
#include "gateway/front/service/shared_quotas.h"
#include "gateway/front/store/store_use.h"

#include <stdio.h>

/* --- the open ones ---------------------------------------------------------------------------- */

/* A session as JSON, from its row in the store and its entry in the executor. */
static json_t *describe(const json_t *row, const json_t *live)
{
    CBX_AUTO_JSON options = NULL;
    struct cbx_err err;
    cbx_json_parse(cbx_json_str(json_object_get(row, "options")), CBX_STORED_OPTIONS_MAX, &options,
                   &err);
    const char *language = json_string_value(json_object_get(options, "language"));
    json_t *json =
        json_pack("{s:O,s:O,s:s,s:O}", "session_id", json_object_get(row, "id"), "created_at",
                  json_object_get(row, "created_at"), "language", cbx_dialect_shown(language),
                  "policy", json_object_get(live, "policy"));
    json_object_set_new(json, "status",
                        json_string(json_is_true(json_object_get(live, "busy")) ? "busy" : "idle"));
    json_object_set(json, "idle_ms", json_object_get(live, "idle_ms"));
    json_object_set(json, "age_ms", json_object_get(live, "age_ms"));
    json_object_set(json, "container", json_object_get(live, "container"));
    json_object_set(json, "mounts", json_object_get(options, "mounts"));
    return json;
}

/* {ID: session} of the executor's list (new reference). */
static json_t *by_id(const json_t *sessions)
{
    json_t *map = json_object();
    size_t i;
    json_t *live;
    json_array_foreach((json_t *)(uintptr_t)sessions, i, live)
    {
        json_object_set(map, json_string_value(json_object_get(live, "session")), live);
    }
    return map;
}

/* Adds the sessions of these rows that the executor has to `list`, and the ids of the others to
 * `closed`, which may be NULL: they were closed because they were idle, or their sandbox died. */
static void add_live(const json_t *rows, const json_t *sessions, json_t *list, json_t *closed)
{
    size_t i;
    const json_t *row;
    CBX_AUTO_JSON map = by_id(sessions);
    json_array_foreach(rows, i, row)
    {
        const json_t *live = json_object_get(map, json_string_value(json_object_get(row, "id")));
        if (live != NULL) {
            json_array_append_new(list, describe(row, live));
        } else if (closed != NULL) {
            json_array_append(closed, json_object_get(row, "id"));
        }
    }
}

static struct cbx_str name_or_none(const char *name)
{
    return name != NULL ? cbx_str_of(name) : (struct cbx_str){ 0 };
}

int cbx_service_list_sessions(struct cbx_service *service, const char *principal, json_t **out,
                              json_t *closed, struct cbx_err *err)
{
    CBX_AUTO_DONE(message) answer;
    cbx_message_init(&answer);
    CBX_AUTO_JSON rows = NULL;
    const struct cbx_list_sessions_args args = { .principal = name_or_none(principal) };
    int failed = cbx_store_list_sessions(service->store, principal, &rows, err);
    if (failed) {
        return failed;
    }
    failed = cbx_call_list_sessions(service->flow, &args, CBX_STR(""), &answer, err);
    if (failed) {
        return failed;
    }
    *out = json_array();
    add_live(rows, json_object_get(answer.header, "sessions"), *out, closed);
    return 0;
}

static struct cbx_store_position position_of(const json_t *row)
{
    struct cbx_store_position position = { 0 };
    snprintf(position.created_at, sizeof(position.created_at), "%s",
             json_string_value(json_object_get(row, "created_at")));
    snprintf(position.key, sizeof(position.key), "%s",
             json_string_value(json_object_get(row, "id")));
    return position;
}

int cbx_service_page_sessions(struct cbx_service *service, const char *principal,
                              const struct cbx_store_position *after, size_t wanted, json_t **out,
                              struct cbx_err *err)
{
    CBX_AUTO_DONE(message) answer;
    cbx_message_init(&answer);
    CBX_AUTO_JSON list = json_array();
    const struct cbx_list_sessions_args args = { .principal = name_or_none(principal) };
    struct cbx_store_position at = *after;
    size_t fetched = wanted;
    int failed = cbx_call_list_sessions(service->flow, &args, CBX_STR(""), &answer, err);
    while (!failed && fetched == wanted && json_array_size(list) < wanted) {
        CBX_AUTO_JSON rows = NULL;
        failed =
            cbx_store_page_sessions(service->store, principal, &at, (int64_t)wanted, &rows, err);
        fetched = json_array_size(rows);
        add_live(rows, json_object_get(answer.header, "sessions"), list, NULL);
        if (fetched == wanted) {
            at = position_of(json_array_get(rows, fetched - 1));
        }
    }
    if (!failed) {
        *out = cbx_steal(&list);
    }
    return failed;
}

bool cbx_service_session_is_untouched(struct cbx_service *service, const char *principal,
                                      const char *id)
{
    CBX_AUTO_DONE(message) answer;
    cbx_message_init(&answer);
    const struct cbx_list_sessions_args args = { .session = cbx_str_of(id),
                                                 .principal = cbx_str_of(principal) };
    size_t i;
    const json_t *session;
    if (cbx_call_list_sessions(service->flow, &args, CBX_STR(""), &answer, NULL) != 0) {
        return false;
    }
    json_array_foreach(json_object_get(answer.header, "sessions"), i, session)
    {
        if (cbx_str_is(cbx_json_str(json_object_get(session, "session")), id) &&
            cbx_str_is(cbx_json_str(json_object_get(session, "principal")), principal)) {
            return json_is_true(json_object_get(session, "untouched"));
        }
    }
    return false;
}

int cbx_service_describe_session(struct cbx_service *service, const char *principal, const char *id,
                                 json_t **out, struct cbx_err *err)
{
    CBX_AUTO_JSON list = NULL;
    size_t i;
    json_t *session;
    int failed = cbx_service_list_sessions(service, principal, &list, NULL, err);
    json_array_foreach(list, i, session)
    {
        if (cbx_str_is(cbx_json_str(json_object_get(session, "session_id")), id)) {
            *out = json_incref(session);
            return 0;
        }
    }
    if (failed) {
        return failed;
    }
    return cbx_fail(err, CBX_ENOTFOUND, "there is no session '%s'", id);
}

int cbx_service_remove_closed(struct cbx_service *service, const char *principal, size_t *open,
                              size_t *removed, struct cbx_err *err)
{
    CBX_AUTO_JSON live = NULL;
    CBX_AUTO_JSON closed = json_array();
    size_t i;
    const json_t *id;
    unsigned number = cbx_takeover_number(service->takeover);
    int failed = cbx_service_list_sessions(service, principal, &live, closed, err);
    if (failed) {
        return failed;
    }
    *open = json_array_size(live);
    *removed = 0;
    if (number % 2 == 1 || cbx_takeover_number(service->takeover) != number) {
        return 0; /* sessions that are being taken over are stored, and not yet in the executor */
    }
    json_array_foreach(closed, i, id)
    {
        if (cbx_store_remove_session(service->store, json_string_value(id), NULL) == 0) {
            (*removed)++;
        }
    }
    return 0;
}

/* Removes the rows of closed sessions, after as many were opened as were open the last time, and
 * at least sixteen: so the cost per opening is constant for any number of open sessions. Reading
 * never removes rows. */
static void trim_sessions(struct cbx_service *service)
{
    enum { LEAST = 16 };
    size_t open, removed;
    int due = atomic_load(&service->sessions_open);
    due = due > LEAST ? due : LEAST;
    if (atomic_fetch_add(&service->sessions_opened, 1) + 1 != due) {
        return; /* the thread that completes the count does it */
    }
    atomic_store(&service->sessions_opened, 0);
    if (cbx_service_remove_closed(service, NULL, &open, &removed, NULL) == 0) {
        atomic_store(&service->sessions_open, (int)open);
    }
}

/* --- opening and closing ---------------------------------------------------------------------- */

void cbx_opening_done(struct cbx_opening *opening)
{
    cbx_asked_done(&opening->asked);
}

static int open_sandbox(struct cbx_service *service, const struct cbx_opening *o,
                        struct cbx_outcome *outcome, struct cbx_err *err)
{
    struct cbx_request request =
        cbx_service_request(CBX_ACTION_OPEN, o->principal, o->language, o->policy,
                            cbx_str_of(o->id), CBX_STR(""), &o->asked, o->origin);
    cbx_claims_lend(o->claims, &request.subject);
    CBX_AUTO_DONE(judgement) judgement = { 0 };
    int failed = cbx_review_judge(service->flow, &request, &judgement, err);
    if (failed) {
        return failed;
    }
    failed = cbx_review_submit(service->flow, &request, &judgement, NULL, outcome, err);
    if (failed ==
        CBX_ENOTFOUND) { /* a missing image is the operator's failure, not a wrong request */
        failed = err->code = CBX_EENGINE;
    }
    return failed;
}

static int store_session(struct cbx_service *service, const struct cbx_opening *o, bool placed,
                         struct cbx_err *err)
{
    char name[CBX_NAME_MAX + 1];
    snprintf(name, sizeof(name), "%.*s", CBX_STR_ARG(o->policy));
    CBX_AUTO_JSON options = json_object();
    cbx_asked_write(&o->asked, options);
    json_object_set_new(options, "language", json_string(o->language));
    if (placed) {
        return cbx_store_add_placed_session(service->store, o->principal, o->id, o->now, name,
                                            options, err);
    }
    return cbx_store_add_session(service->store, o->principal, o->id, o->now, name, options, err);
}

/* Counts the sessions of the principal; CBX_EQUOTA at its maximum. The stored rows are at least as
 * many as the open sessions, so the executor is asked only if the rows reach the maximum. */
static int check_place(struct cbx_service *service, const char *principal, size_t opening,
                       struct cbx_err *err)
{
    CBX_AUTO_JSON open = NULL;
    size_t stored = 0;
    if (service->quotas == NULL) {
        return 0;
    }
    int failed = cbx_store_count_sessions(service->store, principal, &stored, err);
    if (failed || cbx_quotas_open(service->quotas, principal, stored + opening, NULL) == 0) {
        return failed;
    }
    failed = cbx_service_list_sessions(service, principal, &open, NULL, err);
    if (failed) {
        return failed;
    }
    return cbx_quotas_open(service->quotas, principal, json_array_size(open) + opening, err);
}

/* `placed`: it has a place in the store. *stored: it is a session there. */
static int open_in_place(struct cbx_service *service, struct cbx_opening *opening, bool placed,
                         bool *stored, struct cbx_outcome *outcome, struct cbx_err *err)
{
    cbx_service_now(opening->now);
    int failed = open_sandbox(service, opening, outcome, err);
    if (failed || outcome->verdict != CBX_ALLOW) {
        return failed;
    }
    failed = store_session(service, opening, placed, err);
    *stored = !failed;
    if (!failed) { /* the executor closes a session that is not acknowledged */
        cbx_outcome_acknowledge(service->flow, outcome);
        trim_sessions(service);
    }
    return failed;
}

/* The sessions of all replicas count. */
static int open_shared(struct cbx_service *service, struct cbx_opening *opening,
                       struct cbx_outcome *outcome, struct cbx_err *err)
{
    bool taken, stored = false;
    int failed = cbx_shared_quotas_enter(service->shared_quotas, opening, &taken, err);
    if (!failed) {
        failed = open_in_place(service, opening, taken, &stored, outcome, err);
    }
    cbx_shared_quotas_leave(service->shared_quotas, opening, taken, stored);
    return failed;
}

int cbx_service_open_session(struct cbx_service *service, struct cbx_opening *opening,
                             struct cbx_outcome *outcome, struct cbx_err *err)
{
    bool stored;
    if (opening->id[0] == '\0') {
        cbx_uuid_make(opening->id);
    }
    if (service->shared_quotas != NULL) {
        return open_shared(service, opening, outcome, err);
    }
    size_t opening_now = cbx_quotas_opening(service->quotas, opening->principal);
    int failed = check_place(service, opening->principal, opening_now, err);
    if (!failed) {
        failed = open_in_place(service, opening, false, &stored, outcome, err);
    }
    cbx_quotas_opened(service->quotas, opening->principal);
    return failed;
}

/* The sandbox first: after a crash between the two steps the session can be closed again. */
int cbx_service_close_session(struct cbx_service *service, const char *principal, const char *id,
                              struct cbx_err *err)
{
    int failed = cbx_store_get_session(service->store, principal, id, NULL, NULL, err);
    if (!failed) {
        struct cbx_close_args args = { .session = cbx_str_of(id),
                                       .principal = cbx_str_of(principal) };
        failed = cbx_call_close(service->flow, &args, CBX_STR(""), NULL, err);
        failed = failed == CBX_ENOTFOUND ? 0 : failed; /* closed already, because it was idle */
        if (!failed) {
            failed = cbx_store_remove_session(service->store, id, err);
        }
    }
    if (failed == CBX_ENOTFOUND) {
        return cbx_fail(err, CBX_ENOTFOUND, "Session not found");
    }
    return failed;
}
