/* SPDX-License-Identifier: MIT
 * Two threads: signs of life, which must not wait for anything else; and all other work. */
#include "gateway/front/jobs/takeover.h"

#include "gateway/front/executor_client.h"
#include "gateway/front/jobs/recovery.h"
#include "gateway/front/store/store_takeover.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/time/deadline.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    BEAT_MS = 1000,
    HOLD_MS = 5000, /* less than CBX_REPLICA_DEAD_MS, by as much as clocks may differ */
    STEADY_MS = CBX_REPLICA_DEAD_MS + 2000, /* see `steady_ms` */
    AWAIT_MS = 20000,
};

struct cbx_takeover {
    struct cbx_service *service;
    const struct cbx_replicas *replicas;
    uint64_t generation;
    pthread_t beating, working;
    bool beats, works;
    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t changed;
    bool ends;
    unsigned number;
    int64_t until_ms; /* no other replica takes this one over before */
    /* Since when each sign of life was stored, 0 = the last one was not: after the database was
     * away all replicas look dead, until each has stored one. */
    int64_t steady_ms;
    json_t *held;  /* texts for the executor */
    json_t *moved; /* names of replicas that lost something */
    json_t *dead;  /* NULL = none */
};

/* A machine that was suspended must not believe that no time has passed. */
static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The master starts a front that was killed again; sockets of clients are closed, and what they
 * named is looked for where it is now. */
_Noreturn static void begin_anew(const char *why)
{
    cbx_log(CBX_LOG_WARNING, "%s; the front begins anew", why);
    raise(SIGKILL);
    abort();
}

/* --- the executor ----------------------------------------------------------------------------- */

/* After a failure the next gateway asks for these instances again. */
static void forget(struct cbx_takeover *t, const json_t *empty)
{
    size_t i;
    const json_t *text;
    json_array_foreach(empty, i, text)
    {
        cbx_store_forget_instance(t->service->store, json_string_value(text), NULL);
    }
}

static int hold(struct cbx_takeover *t, struct cbx_err *err)
{
    char generation[24], lasts[16];
    pthread_mutex_lock(&t->lock);
    int64_t left_ms = t->until_ms - now_ms();
    CBX_AUTO_JSON held = json_incref(t->held);
    pthread_mutex_unlock(&t->lock);
    snprintf(generation, sizeof(generation), "%" PRIu64, t->generation);
    snprintf(lasts, sizeof(lasts), "%d", left_ms > 0 ? (int)left_ms : 0);
    const struct cbx_hold_args args = { .generation = cbx_str_of(generation),
                                        .lasts_ms = cbx_str_of(lasts),
                                        .instances = held };
    CBX_AUTO_DONE(message) answer;
    cbx_message_init(&answer);
    int failed = cbx_call_hold(t->service->flow, &args, CBX_STR(""), &answer, err);
    if (!failed) {
        forget(t, json_object_get(answer.header, "empty"));
    }
    return failed;
}

static const char *text_of(const json_t *row, const char *column)
{
    const char *text = json_string_value(json_object_get(row, column));
    return text != NULL ? text : "";
}

/* Has the executor record one takeover by this replica. */
static int note_taken(struct cbx_takeover *t, const json_t *row, struct cbx_err *err)
{
    const char *from = text_of(row, "replica"), *epoch = text_of(row, "epoch");
    CBX_AUTO_JSON runs = NULL;
    int failed = cbx_store_list_taken(t->service->store, from, epoch, &runs, err);
    if (failed) {
        return failed;
    }
    const struct cbx_taken_over_args args = { .replica = cbx_str_of(from),
                                              .epoch = cbx_str_of(epoch),
                                              .sessions = cbx_str_of(text_of(row, "sessions")),
                                              .runs = runs };
    failed = cbx_call_taken_over(t->service->flow, &args, CBX_STR(""), NULL, err);
    if (failed) {
        return failed;
    }
    return cbx_store_set_noted(t->service->store, from, epoch, err);
}

/* The reverse: another replica has taken these runs of this one. */
static int note_given_up(struct cbx_takeover *t, const json_t *row, struct cbx_err *err)
{
    const char *epoch = text_of(row, "epoch");
    CBX_AUTO_JSON runs = NULL;
    int failed = cbx_store_list_taken(t->service->store, t->replicas->own_name, epoch, &runs, err);
    if (failed) {
        return failed;
    }
    const struct cbx_given_up_args args = { .replica = cbx_str_of(text_of(row, "replica")),
                                            .epoch = cbx_str_of(epoch),
                                            .runs = runs };
    failed = cbx_call_given_up(t->service->flow, &args, CBX_STR(""), NULL, err);
    if (failed) {
        return failed;
    }
    return cbx_store_set_released(t->service->store, epoch, err);
}

typedef int list_fn(struct cbx_store *store, json_t **out, struct cbx_err *err);
typedef int note_fn(struct cbx_takeover *t, const json_t *row, struct cbx_err *err);

static int note_all(struct cbx_takeover *t, list_fn *list, note_fn *note, struct cbx_err *err)
{
    CBX_AUTO_JSON rows = NULL;
    size_t i;
    const json_t *row;
    int failed = list(t->service->store, &rows, err);
    json_array_foreach(rows, i, row)
    {
        if (!failed) {
            failed = note(t, row, err);
        }
    }
    return failed;
}

/* --- signs of life ---------------------------------------------------------------------------- */

/* Replaces a list; takes the reference. */
static void set_list(struct cbx_takeover *t, json_t **list, json_t *now)
{
    pthread_mutex_lock(&t->lock);
    json_t *before = *list;
    *list = now;
    pthread_mutex_unlock(&t->lock);
    json_decref(before);
}

static bool names(const json_t *list, const char *name)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(list, i, entry)
    {
        if (cbx_str_is(cbx_json_str(entry), name)) {
            return true;
        }
    }
    return false;
}

/* Looks for replicas of the configuration without a sign of life. */
static void look(struct cbx_takeover *t)
{
    CBX_AUTO_JSON dead = NULL;
    CBX_AUTO_JSON moved = NULL;
    json_t *known = NULL;
    size_t i;
    const json_t *row;
    if (cbx_store_list_moved(t->service->store, &moved, NULL) == 0) {
        set_list(t, &t->moved, cbx_steal(&moved));
    }
    if (now_ms() - t->steady_ms < STEADY_MS ||
        cbx_store_list_dead(t->service->store, &dead, NULL) != 0) {
        return;
    }
    json_array_foreach(dead, i, row)
    {
        struct cbx_str name = cbx_json_str(json_object_get(row, "name"));
        if (known == NULL && cbx_replicas_find(t->replicas, name) != NULL) {
            known = json_incref((json_t *)(uintptr_t)row);
        }
    }
    set_list(t, &t->dead, known);
    if (known != NULL) {
        pthread_cond_broadcast(&t->changed);
    }
}

static void beat_once(struct cbx_takeover *t)
{
    int64_t began_ms = now_ms();
    int failed = cbx_store_beat(t->service->store, t->generation, NULL);
    if (failed == CBX_ESTATE) {
        begin_anew("another replica has taken over what this one had");
    }
    if (failed) {
        t->steady_ms = 0;
        return;
    }
    pthread_mutex_lock(&t->lock);
    t->until_ms = began_ms + HOLD_MS;
    pthread_mutex_unlock(&t->lock);
    t->steady_ms = t->steady_ms != 0 ? t->steady_ms : began_ms;
    look(t);
}

/* Waits for the time; true if the threads end. */
static bool await(struct cbx_takeover *t, int64_t ms)
{
    int64_t until = cbx_clock_ms() + ms;
    pthread_mutex_lock(&t->lock);
    while (!t->ends && cbx_cond_wait_until(&t->changed, &t->lock, until)) {
    }
    bool ends = t->ends;
    pthread_mutex_unlock(&t->lock);
    return ends;
}

static void *beat(void *context)
{
    struct cbx_takeover *t = context;
    do {
        beat_once(t);
    } while (!await(t, BEAT_MS));
    return NULL;
}

/* --- takeover --------------------------------------------------------------------------------- */

static void count(struct cbx_takeover *t)
{
    pthread_mutex_lock(&t->lock);
    t->number++;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

/* Repeats a step that the next gateway of this name would do otherwise. */
static int insist(struct cbx_takeover *t, int (*step)(struct cbx_takeover *t, struct cbx_err *err))
{
    struct cbx_err err = { 0 };
    int failed = step(t, &err);
    for (bool logged = false; failed && !await(t, BEAT_MS); logged = true) {
        if (!logged) {
            cbx_log(CBX_LOG_ERROR, "takeover: %s; trying again", err.text);
        }
        failed = step(t, &err);
    }
    return failed;
}

static int renew_held(struct cbx_takeover *t, struct cbx_err *err)
{
    json_t *held = NULL;
    int failed = cbx_store_list_held(t->service->store, &held, err);
    if (failed) {
        return failed;
    }
    set_list(t, &t->held, held);
    return hold(t, err);
}

static int note_missing(struct cbx_takeover *t, struct cbx_err *err)
{
    return note_all(t, cbx_store_list_unnoted, note_taken, err);
}

/* After the transaction: the rows are this replica's. */
static void use_rows(struct cbx_takeover *t, const json_t *rows)
{
    struct cbx_service *service = t->service;
    if (insist(t, renew_held) != 0 || insist(t, note_missing) != 0) {
        return; /* the gateway ends */
    }
    int64_t last = cbx_store_last_turn(service->store);
    pthread_mutex_lock(&service->lock);
    service->turns = service->turns > last ? service->turns : last;
    pthread_mutex_unlock(&service->lock);
    cbx_service_recover_rows(service, rows);
}

static void take_over(struct cbx_takeover *t, const json_t *dead)
{
    const char *name = text_of(dead, "name");
    CBX_AUTO_JSON rows = NULL;
    struct cbx_err err = { 0 };
    count(t);
    int failed = cbx_store_take_over(t->service->store, name,
                                     strtoull(text_of(dead, "generation"), NULL, 10), &rows, &err);
    if (failed && failed != CBX_ESTATE) {
        begin_anew("whether a dead replica was taken over is not known");
    }
    if (!failed) {
        cbx_log(CBX_LOG_WARNING,
                "replica '%s' has given no sign of life for %d s; this replica takes over its "
                "sessions, and %zu executions that have not ended",
                name, CBX_REPLICA_DEAD_MS / 1000, json_array_size(rows));
        use_rows(t, rows);
    }
    count(t);
}

static void *work(void *context)
{
    struct cbx_takeover *t = context;
    struct cbx_err err;
    do {
        pthread_mutex_lock(&t->lock);
        CBX_AUTO_JSON dead = cbx_steal(&t->dead);
        pthread_mutex_unlock(&t->lock);
        if (dead != NULL && !cbx_service_says_stop(t->service)) {
            take_over(t, dead);
        }
        if (hold(t, &err) != 0) {
            cbx_log(CBX_LOG_DEBUG, "the executor does not hold what this replica has: %s",
                    err.text);
        }
    } while (!await(t, BEAT_MS / 2));
    return NULL;
}

/* --- life ------------------------------------------------------------------------------------- */

static int begin(struct cbx_takeover *t, struct cbx_err *err)
{
    struct cbx_store *store = t->service->store;
    struct cbx_err why = { 0 };
    t->until_ms = now_ms() + HOLD_MS;
    int failed = cbx_store_claim(store, &t->generation, err);
    if (!failed) {
        failed = cbx_store_list_held(store, &t->held, err);
    }
    if (!failed) {
        failed = cbx_store_list_moved(store, &t->moved, err);
    }
    if (!failed) { /* before the executor holds anything: it would presume that these runs are lost */
        failed = note_all(t, cbx_store_list_unreleased, note_given_up, err);
    }
    if (!failed) {
        failed = note_all(t, cbx_store_list_unnoted, note_taken, err);
    }
    if (failed) {
        return failed;
    }
    if (hold(t, &why) != 0) {
        cbx_log(CBX_LOG_WARNING, "the executor has not adopted what this replica has: %s",
                why.text);
    }
    return 0;
}

int cbx_takeover_begin(struct cbx_service *service, const struct cbx_replicas *replicas,
                       struct cbx_takeover **out, struct cbx_err *err)
{
    struct cbx_takeover *t = cbx_new(sizeof(*t));
    t->service = service;
    t->replicas = replicas;
    pthread_mutex_init(&t->lock, NULL);
    cbx_cond_init(&t->changed);
    int failed = begin(t, err);
    if (failed) {
        cbx_takeover_free(t);
        return failed;
    }
    *out = t;
    return 0;
}

bool cbx_takeover_start(struct cbx_takeover *t)
{
    t->beats = pthread_create(&t->beating, NULL, beat, t) == 0;
    t->works = t->beats && pthread_create(&t->working, NULL, work, t) == 0;
    return t->works;
}

void cbx_takeover_stop(struct cbx_takeover *t)
{
    if (t != NULL) {
        pthread_mutex_lock(&t->lock);
        t->ends = true;
        pthread_cond_broadcast(&t->changed);
        pthread_mutex_unlock(&t->lock);
    }
}

void cbx_takeover_join(struct cbx_takeover *t)
{
    if (t == NULL) {
        return;
    }
    cbx_takeover_stop(t);
    if (t->beats) {
        pthread_join(t->beating, NULL);
    }
    if (t->works) {
        pthread_join(t->working, NULL);
    }
    t->beats = t->works = false;
}

void cbx_takeover_free(struct cbx_takeover *t)
{
    if (t == NULL) {
        return;
    }
    cbx_takeover_join(t);
    json_decref(t->held);
    json_decref(t->moved);
    json_decref(t->dead);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
    free(t);
}

/* --- requests --------------------------------------------------------------------------------- */

void cbx_takeover_await(struct cbx_takeover *t)
{
    int64_t until = cbx_clock_ms() + AWAIT_MS;
    if (t == NULL) {
        return;
    }
    pthread_mutex_lock(&t->lock);
    while (t->number % 2 == 1 && !t->ends && cbx_cond_wait_until(&t->changed, &t->lock, until)) {
    }
    pthread_mutex_unlock(&t->lock);
}

unsigned cbx_takeover_number(struct cbx_takeover *t)
{
    if (t == NULL) {
        return 0;
    }
    pthread_mutex_lock(&t->lock);
    unsigned number = t->number;
    pthread_mutex_unlock(&t->lock);
    return number;
}

static bool has_lost(struct cbx_takeover *t, const char *name)
{
    pthread_mutex_lock(&t->lock);
    bool lost = names(t->moved, name);
    pthread_mutex_unlock(&t->lock);
    return lost;
}

const struct cbx_replica *cbx_takeover_owner(struct cbx_takeover *t,
                                             const struct cbx_replicas *replicas, struct cbx_str id,
                                             bool *ours)
{
    char copy[CBX_SHA256_HEX + 1], holder[CBX_REPLICA_NAME_MAX + 1];
    const struct cbx_replica *owner = cbx_replicas_owner(replicas, id);
    bool own = owner == NULL && cbx_tag_of(id) == replicas->own_tag;
    *ours = *ours || own;
    if (t == NULL || (owner == NULL && !own) || id.len >= sizeof(copy)) {
        return owner;
    }
    cbx_takeover_await(t);
    if (!has_lost(t, own ? replicas->own_name : owner->name)) {
        return owner;
    }
    snprintf(copy, sizeof(copy), "%.*s", CBX_STR_ARG(id));
    if (cbx_store_find_holder(t->service->store, copy, holder, NULL) != 0) {
        return owner;
    }
    *ours = strcmp(holder, replicas->own_name) == 0;
    if (*ours) {
        return NULL;
    }
    return cbx_replicas_find(replicas, cbx_str_of(holder));
}

bool cbx_takeover_find_key(struct cbx_takeover *t, const char *principal, struct cbx_str key,
                           char id[40])
{
    struct cbx_stored_key stored;
    if (t == NULL || key.len == 0) {
        return false;
    }
    pthread_mutex_lock(&t->lock);
    bool any = json_array_size(t->moved) > 0;
    pthread_mutex_unlock(&t->lock);
    CBX_AUTO_MEM char *copy = cbx_str_copy(key);
    if (!any || cbx_store_find_key(t->service->store, principal, copy, &stored, NULL) != 0) {
        return false;
    }
    snprintf(id, 40, "%s", stored.id);
    return true;
}
