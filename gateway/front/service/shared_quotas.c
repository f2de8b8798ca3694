/* SPDX-License-Identifier: MIT
 * Quotas over all replicas: limits, texts, and the thread that keeps the counts true. */
#include "gateway/front/service/shared_quotas.h"

#include "gateway/front/store/store_use.h"
#include "gateway/identity/identity.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"
#include "policies/base/time/deadline.h"

#include <stdlib.h>
#include <string.h>

enum {
    STEP_MS = 1000,
    SWEEP_STEPS = 10,  /* at most the Retry-After of a refused session */
    STEADY_MS = 10000, /* until then the others have stored that they live */
    RETRY_SESSION_S = 10,
    RETRY_RUN_S = 1,
    MS_PER_S = 1000,
};

struct cbx_shared_quotas {
    struct cbx_service *service;
    pthread_t keeper;
    bool keeps;
    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t changed;
    bool ends;
    json_t *openings; /* {ID: true} of sessions that this process is opening */
};

/* --- limits ----------------------------------------------------------------------------------- */

/* A principal that has made no request to this replica has a row here, but none in cbx_quotas. */
static int find_row(const struct cbx_shared_quotas *shared, const char *principal,
                    const char *credential, const struct cbx_principal **out, struct cbx_err *err)
{
    struct cbx_caller caller;
    cbx_identity_caller(shared->service->flow->identity, cbx_str_of(principal),
                        cbx_str_of(credential), &caller);
    if (caller.row == NULL) {
        return cbx_fail(err, CBX_EFORBIDDEN, "principal '%s' may not use this gateway any more",
                        principal);
    }
    *out = caller.row;
    return 0;
}

static int find_row_of_job(const struct cbx_shared_quotas *shared, const struct cbx_job *job,
                           const struct cbx_principal **out, struct cbx_err *err)
{
    return find_row(shared, job->principal, job->claims.credential, out, err);
}

/* --- sessions --------------------------------------------------------------------------------- */

static void set_opening(struct cbx_shared_quotas *shared, const char *id, bool opens)
{
    pthread_mutex_lock(&shared->lock);
    if (opens) {
        json_object_set_new(shared->openings, id, json_true());
    } else {
        json_object_del(shared->openings, id);
    }
    pthread_mutex_unlock(&shared->lock);
}

/* Sessions that ended by themselves have rows until they are looked for. */
static int take_place(struct cbx_shared_quotas *shared, const struct cbx_opening *opening,
                      int64_t limit, struct cbx_err *err)
{
    struct cbx_service *service = shared->service;
    size_t open, removed;
    int failed = cbx_store_take_place(service->store, opening->principal, opening->id, limit, err);
    if (failed != CBX_EQUOTA) {
        return failed;
    }
    int unknown = cbx_service_remove_closed(service, opening->principal, &open, &removed, err);
    if (unknown) {
        return unknown;
    }
    if (removed > 0) {
        failed = cbx_store_take_place(service->store, opening->principal, opening->id, limit, err);
    }
    return failed;
}

int cbx_shared_quotas_enter(struct cbx_shared_quotas *shared, const struct cbx_opening *opening,
                            bool *taken, struct cbx_err *err)
{
    const struct cbx_principal *row;
    const char *credential = opening->claims != NULL ? opening->claims->credential : "";
    *taken = false;
    int failed = find_row(shared, opening->principal, credential, &row, err);
    if (failed || row->sessions == 0) {
        return failed;
    }
    set_opening(shared, opening->id, true); /* before: the keeper removes places without it */
    failed = take_place(shared, opening, row->sessions, err);
    *taken = !failed;
    if (failed == CBX_EQUOTA) {
        cbx_fail(err, CBX_EQUOTA,
                 "'%s' may have %lld sessions at the same time, on all replicas together; close "
                 "one",
                 opening->principal, (long long)row->sessions);
        err->retry_s = RETRY_SESSION_S;
    }
    return failed;
}

void cbx_shared_quotas_leave(struct cbx_shared_quotas *shared, const struct cbx_opening *opening,
                             bool taken, bool stored)
{
    if (taken && !stored) { /* when this fails, the keeper does it */
        cbx_store_drop_place(shared->service->store, opening->id, NULL);
    }
    set_opening(shared, opening->id, false);
}

/* --- processor time --------------------------------------------------------------------------- */

int cbx_shared_quotas_check_cpu(struct cbx_shared_quotas *shared, const struct cbx_job *job,
                                struct cbx_err *err)
{
    const struct cbx_principal *row;
    int64_t left_ms = 0;
    int failed = find_row_of_job(shared, job, &row, err);
    if (failed || row->cpu_s_per_hour == 0) {
        return failed;
    }
    failed = cbx_store_get_cpu(shared->service->store, job->principal,
                               row->cpu_s_per_hour * MS_PER_S, &left_ms, err);
    if (failed) {
        return failed;
    }
    return cbx_quotas_check_cpu(job->principal, row, (double)left_ms, err);
}

int cbx_shared_quotas_charge(struct cbx_shared_quotas *shared, const struct cbx_job *job,
                             struct cbx_err *err)
{
    const struct cbx_principal *row;
    bool counts =
        job->cpu_ms > 0 && find_row_of_job(shared, job, &row, NULL) == 0 && row->cpu_s_per_hour > 0;
    if (!counts) {
        return 0;
    }
    return cbx_store_charge_cpu(shared->service->store, job->id, job->cpu_ms,
                                row->cpu_s_per_hour * MS_PER_S, err);
}

/* --- runs ------------------------------------------------------------------------------------- */

int cbx_shared_quotas_add_execution(struct cbx_shared_quotas *shared, const struct cbx_job *job,
                                    const struct cbx_stored_execution *row, struct cbx_err *err)
{
    const struct cbx_principal *principal;
    struct cbx_store *store = shared->service->store;
    int failed = find_row_of_job(shared, job, &principal, err);
    if (failed) {
        return failed;
    }
    if (principal->runs_waiting == 0) {
        return cbx_store_add_execution(store, row, err);
    }
    failed = cbx_store_add_waiting(store, row, principal->runs_waiting, err);
    if (failed == CBX_EQUOTA) {
        cbx_fail(err, CBX_EQUOTA,
                 "%lld executions of '%s' wait on all replicas together, which is as many as may; "
                 "cancel some, or try again later",
                 (long long)principal->runs_waiting, job->principal);
        err->retry_s = RETRY_RUN_S;
    }
    return failed;
}

int cbx_shared_quotas_runs(struct cbx_shared_quotas *shared, const struct cbx_job *job,
                           int64_t *most, struct cbx_err *err)
{
    const struct cbx_principal *row;
    int failed = find_row_of_job(shared, job, &row, err);
    if (!failed) {
        *most = row->runs;
    }
    return failed;
}

/* --- the thread ------------------------------------------------------------------------------- */

/* False if the database was not reached: the shares stay as they were. */
static bool note_present(struct cbx_shared_quotas *shared, struct cbx_err *err)
{
    size_t replicas = 1;
    if (cbx_store_note_present(shared->service->store, &replicas, err) != 0) {
        return false;
    }
    cbx_quotas_share(shared->service->quotas, replicas);
    return true;
}

static bool is_opening(struct cbx_shared_quotas *shared, const char *id)
{
    pthread_mutex_lock(&shared->lock);
    bool opens = json_object_get(shared->openings, id) != NULL;
    pthread_mutex_unlock(&shared->lock);
    return opens;
}

/* Removes places that were taken by a statement whose reply was lost. */
static void drop_stray_places(struct cbx_shared_quotas *shared)
{
    struct cbx_store *store = shared->service->store;
    CBX_AUTO_JSON places = NULL;
    size_t i;
    const json_t *id;
    if (cbx_store_list_places(store, &places, NULL) != 0) {
        return;
    }
    json_array_foreach(places, i, id)
    {
        if (!is_opening(shared, json_string_value(id))) {
            cbx_store_drop_place(store, json_string_value(id), NULL);
        }
    }
}

/* Other replicas cannot ask the executor here which sessions have ended by themselves. */
static void drop_closed(struct cbx_shared_quotas *shared)
{
    size_t stored = 0, open, removed;
    if (cbx_store_count_sessions(shared->service->store, NULL, &stored, NULL) == 0 && stored > 0) {
        cbx_service_remove_closed(shared->service, NULL, &open, &removed, NULL);
    }
}

static void sweep(struct cbx_shared_quotas *shared, bool steady)
{
    drop_stray_places(shared);
    drop_closed(shared);
    cbx_store_forget_cpu(shared->service->store, NULL);
    if (steady) {
        cbx_store_mark_gone(shared->service->store, NULL);
    }
}

/* Waits until the next step; true if the thread ends. */
static bool await(struct cbx_shared_quotas *shared)
{
    int64_t until = cbx_clock_ms() + STEP_MS;
    pthread_mutex_lock(&shared->lock);
    while (!shared->ends && cbx_cond_wait_until(&shared->changed, &shared->lock, until)) {
    }
    bool ends = shared->ends;
    pthread_mutex_unlock(&shared->lock);
    return ends;
}

static void *keep(void *context)
{
    struct cbx_shared_quotas *shared = context;
    /* since when this replica was present without a gap; 0 = the last step failed */
    int64_t steady_ms = cbx_clock_ms();
    for (int step = 1; !await(shared); step++) {
        if (!note_present(shared, NULL)) {
            steady_ms = 0;
            continue;
        }
        if (steady_ms == 0) {
            steady_ms = cbx_clock_ms();
        }
        if (step % SWEEP_STEPS == 0) {
            sweep(shared, cbx_clock_ms() - steady_ms >= STEADY_MS);
        }
    }
    return NULL;
}

int cbx_shared_quotas_begin(struct cbx_service *service, struct cbx_err *err)
{
    struct cbx_shared_quotas *shared = cbx_new(sizeof(*shared));
    shared->service = service;
    shared->openings = json_object();
    pthread_mutex_init(&shared->lock, NULL);
    cbx_cond_init(&shared->changed);
    int failed = cbx_store_share_use(service->store, err);
    if (!failed && !note_present(shared, err)) {
        failed = err->code;
    }
    if (failed) {
        cbx_shared_quotas_free(shared);
        return failed;
    }
    service->shared_quotas = shared;
    return 0;
}

bool cbx_shared_quotas_start(struct cbx_shared_quotas *shared)
{
    shared->keeps = pthread_create(&shared->keeper, NULL, keep, shared) == 0;
    return shared->keeps;
}

void cbx_shared_quotas_stop(struct cbx_shared_quotas *shared)
{
    if (shared == NULL) {
        return;
    }
    pthread_mutex_lock(&shared->lock);
    shared->ends = true;
    pthread_cond_broadcast(&shared->changed);
    pthread_mutex_unlock(&shared->lock);
    if (shared->keeps) {
        pthread_join(shared->keeper, NULL);
    }
    shared->keeps = false;
}

void cbx_shared_quotas_free(struct cbx_shared_quotas *shared)
{
    if (shared == NULL) {
        return;
    }
    cbx_shared_quotas_stop(shared);
    json_decref(shared->openings);
    pthread_mutex_destroy(&shared->lock);
    pthread_cond_destroy(&shared->changed);
    free(shared);
}
