/* SPDX-License-Identifier: MIT
 * Instances of replicas. */
#include "gateway/executor/holdings.h"

#include "gateway/executor/executor_internal.h"
#include "gateway/executor/sessions/instance_seeds.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/text/printable.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

_Static_assert((int)CBX_SANDBOX_SECRET_BYTES == (int)CBX_INSTANCE_SEED_BYTES, "both are one hash");

void cbx_holdings_init(struct cbx_holdings *holdings)
{
    pthread_mutex_init(&holdings->lock, NULL);
}

bool cbx_executor_takes_over(const struct cbx_executor *e)
{
    return e->config.instances.len > 0;
}

/* --- time ------------------------------------------------------------------------------------- */

/* A machine that was suspended must not believe that no time has passed. */
static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool cbx_executor_is_held(struct cbx_executor *e)
{
    return !cbx_executor_takes_over(e) || now_ms() < atomic_load(&e->holdings.until_ms);
}

static void pause_ms(int64_t ms)
{
    const struct timespec pause = { .tv_nsec = ms * 1000000 };
    nanosleep(&pause, NULL);
}

/* The front calls an executor that replaced a killed one within a second. */
static void await_first_call(struct cbx_executor *e)
{
    enum { WAIT_MS = 10000, STEP_MS = 10 };
    for (int waited = 0; atomic_load(&e->holdings.generation) == 0 && waited < WAIT_MS;
         waited += STEP_MS) {
        pause_ms(STEP_MS);
    }
}

int cbx_executor_check_hold(struct cbx_executor *e, struct cbx_err *err)
{
    enum { RETRY_S = 1 };
    if (cbx_executor_is_held(e)) {
        return 0;
    }
    await_first_call(e);
    if (cbx_executor_is_held(e)) {
        return 0;
    }
    int failed = cbx_fail(err, CBX_EBUSY,
                          "this replica has not reached the shared database for some seconds, so "
                          "another one may take its sessions over; try again later");
    if (err != NULL) {
        err->retry_s = RETRY_S;
    }
    return failed;
}

void cbx_executor_await_hold(struct cbx_executor *e)
{
    enum { STEP_MS = 50 };
    while (!cbx_executor_is_held(e)) {
        pause_ms(STEP_MS);
    }
}

int cbx_executor_await_place(struct cbx_executor *e, struct cbx_err *err)
{
    enum { WAIT_MS = 15000, STEP_MS = 20 };
    for (int waited = 0; cbx_executor_takes_over(e) && !atomic_load(&e->holdings.ready);
         waited += STEP_MS) {
        if (waited >= WAIT_MS) {
            return cbx_fail(err, CBX_EBUSY,
                            "the executor does not know yet which sandboxes this replica has; try "
                            "again later");
        }
        pause_ms(STEP_MS);
    }
    return 0;
}

/* --- instances -------------------------------------------------------------------------------- */

int cbx_executor_own_seed(struct cbx_executor *e, uint8_t out[CBX_SANDBOX_SECRET_BYTES],
                          struct cbx_err *err)
{
    uint64_t generation = atomic_load(&e->holdings.generation);
    if (generation == 0 ||
        !cbx_instance_seeds_find(e->config.instances, cbx_str_of(e->config.replica), generation,
                                 out)) {
        return cbx_fail(err, CBX_EBUSY, "the executor does not know yet the instance that it is");
    }
    return 0;
}

/* One text of `hold`. */
struct entry {
    char replica[CBX_REPLICA_NAME_MAX + 1];
    uint64_t generation, epoch;
};

static int read_entry(struct cbx_str text, struct entry *out, struct cbx_err *err)
{
    char copy[128], end;
    snprintf(copy, sizeof(copy), "%.*s", CBX_STR_ARG(text));
    if (sscanf(copy, "%63[a-z0-9-] %" SCNu64 " %" SCNu64 "%c", out->replica, &out->generation,
               &out->epoch, &end) != 3 ||
        out->generation == 0) {
        return cbx_fail(err, CBX_EPROTO, "'%.*s' is no instance of a replica", CBX_STR_SHOWN(text));
    }
    return 0;
}

static bool is_known(struct cbx_executor *e, const struct entry *entry)
{
    bool own = strcmp(entry->replica, e->config.replica) == 0 &&
               entry->generation == atomic_load(&e->holdings.generation);
    size_t count = atomic_load(&e->holdings.count);
    for (size_t i = 0; i < count && !own; i++) {
        const struct cbx_held *held = e->holdings.items[i];
        own = strcmp(held->replica, entry->replica) == 0 && held->generation == entry->generation;
    }
    return own;
}

/* Only names of the configuration have a seed. */
static int make_held(struct cbx_executor *e, const struct entry *entry, struct cbx_held **out,
                     struct cbx_err *err)
{
    uint8_t seed[CBX_INSTANCE_SEED_BYTES];
    if (!cbx_instance_seeds_find(e->config.instances, cbx_str_of(entry->replica), entry->generation,
                                 seed)) {
        return cbx_fail(err, CBX_EINVAL, "the configuration has no replica '%s'", entry->replica);
    }
    struct cbx_held *held = cbx_new(sizeof(*held));
    memcpy(held->replica, entry->replica, sizeof(held->replica));
    held->generation = entry->generation;
    held->config = *cbx_pool_sandboxes(e->pool);
    held->config.epoch = entry->epoch;
    cbx_instance_identify(seed, held->name, held->config.secret);
    held->config.instance = held->name;
    explicit_bzero(seed, sizeof(seed));
    *out = held;
    return 0;
}

/* An instance whose containers could not be listed is not held: the next call tries again. */
static int adopt_one(struct cbx_executor *e, const struct entry *entry, size_t *adopted,
                     struct cbx_err *err)
{
    struct cbx_held *held = NULL;
    size_t count = atomic_load(&e->holdings.count);
    if (count >= CBX_HELD_MAX) {
        return cbx_fail(err, CBX_EBUSY, "this replica has %d instances of others", CBX_HELD_MAX);
    }
    int failed = make_held(e, entry, &held, err);
    if (!failed) {
        failed = cbx_executor_adopt(e, &held->config, adopted, err);
    }
    if (failed) {
        free(held);
        return failed;
    }
    e->holdings.items[count] = held;
    atomic_store(&e->holdings.count, count + 1);
    return 0;
}

static int adopt_new(struct cbx_executor *e, const json_t *instances, json_t *empty,
                     struct cbx_err *err)
{
    size_t i;
    json_t *text;
    json_array_foreach((json_t *)(uintptr_t)instances, i, text)
    {
        struct entry entry;
        size_t adopted = 1;
        int failed = read_entry(cbx_json_str(text), &entry, err);
        if (!failed && !is_known(e, &entry)) {
            failed = adopt_one(e, &entry, &adopted, err);
        }
        if (failed) {
            return failed;
        }
        if (adopted == 0) {
            json_array_append(empty, text);
        }
    }
    return 0;
}

void cbx_executor_reap_held(struct cbx_executor *e)
{
    size_t count = atomic_load(&e->holdings.count), removed;
    for (size_t i = 0; i < count; i++) {
        struct cbx_reap reap = { .instance = e->holdings.items[i]->name,
                                 .age_s = cbx_executor_lease_ms(e) / 1000,
                                 .keeps = cbx_executor_has,
                                 .context = e };
        cbx_sandbox_reap(e->engine, &reap, &removed, NULL);
    }
}

/* --- hold ------------------------------------------------------------------------------------- */

/* Another replica has all of this executor's sandboxes. What its tables say is of no use any more:
 * the next executor begins with a new instance. */
_Noreturn static void lose_place(struct cbx_executor *e)
{
    cbx_log(CBX_LOG_WARNING,
            "another replica has taken over what this one had; this executor ends, and the next "
            "one begins anew");
    pthread_mutex_lock(&e->lock);
    e->stopping = true;
    pthread_mutex_unlock(&e->lock);
    if (e->audit != NULL) { /* outcomes of results that the front has stored */
        cbx_audit_flush(e->audit);
    }
    _exit(0);
}

static int take_place(struct cbx_executor *e, uint64_t generation, struct cbx_err *err)
{
    uint64_t before = atomic_load(&e->holdings.generation);
    struct cbx_pool *pool;
    if (generation == 0) {
        return cbx_fail(err, CBX_EPROTO, "an instance without a generation");
    }
    if (before != 0 && before != generation) {
        lose_place(e);
    }
    atomic_store(&e->holdings.generation, generation);
    return cbx_executor_open_pool(e, &pool, err);
}

/* The time begins before sandboxes are adopted, which may remove containers. */
int cbx_executor_hold(struct cbx_executor *e, const struct cbx_hold_args *args, json_t *empty,
                      struct cbx_err *err)
{
    enum { LASTS_MAX_MS = 60000 };
    int64_t lasts_ms = strtoll(args->lasts_ms.p, NULL, 10), begun_ms = now_ms();
    if (!cbx_executor_takes_over(e) || lasts_ms < 0 || lasts_ms > LASTS_MAX_MS) {
        return cbx_fail(err, CBX_EPROTO, "this executor holds no instances of replicas");
    }
    pthread_mutex_lock(&e->holdings.lock);
    uint64_t generation = strtoull(args->generation.p, NULL, 10);
    uint64_t before = atomic_load(&e->holdings.generation);
    if (before == 0 || before == generation) {
        atomic_store(&e->holdings.until_ms, begun_ms + lasts_ms);
    }
    int failed = take_place(e, generation, err);
    if (!failed) {
        failed = adopt_new(e, args->instances, empty, err);
    }
    atomic_store(&e->holdings.ready, !failed || atomic_load(&e->holdings.ready));
    pthread_mutex_unlock(&e->holdings.lock);
    return failed;
}

/* --- records ---------------------------------------------------------------------------------- */

/* A record has a limited length: more decisions are in further ones. */
enum { DECISIONS_MAX = 8000 };

static json_t *slice(const json_t *runs, size_t from)
{
    json_t *part = json_array();
    for (size_t i = from; i < json_array_size(runs) && i < from + DECISIONS_MAX; i++) {
        json_array_append(part, json_array_get(runs, i));
    }
    return part;
}

struct note {
    const char *type;
    struct cbx_str replica, epoch;
    const json_t *runs;
    int64_t sessions; /* -1 = the record has no such member */
};

static int record(struct cbx_executor *e, const struct note *note, struct cbx_err *err)
{
    struct cbx_audit *audit;
    int failed = cbx_executor_audit(e, &audit, err);
    if (!failed && !cbx_replica_is_name(note->replica)) {
        failed = cbx_fail(err, CBX_EINVAL, "no name of a replica");
    }
    for (size_t from = 0; !failed && (from == 0 || from < json_array_size(note->runs));
         from += DECISIONS_MAX) {
        uint64_t seq = 0;
        CBX_AUTO_JSON body = json_object();
        json_object_set_new(body, "replica", cbx_json_text(note->replica));
        json_object_set_new(body, "epoch", json_integer(strtoll(note->epoch.p, NULL, 10)));
        if (note->sessions >= 0) {
            json_object_set_new(body, "sessions", json_integer(note->sessions));
        }
        json_object_set_new(body, "runs", json_integer((json_int_t)json_array_size(note->runs)));
        json_object_set_new(body, CBX_OUTCOMES_DECISIONS, slice(note->runs, from));
        failed = cbx_audit_append(audit, note->type, body, &seq, err);
        if (!failed && note->sessions >= 0) {
            cbx_outcomes_take_over(e->outcomes, body, seq);
        } else if (!failed) {
            cbx_outcomes_release(e->outcomes, body);
        }
    }
    return failed;
}

int cbx_executor_note_taken(struct cbx_executor *e, const struct cbx_taken_over_args *args,
                            struct cbx_err *err)
{
    const struct note note = { .type = CBX_OUTCOMES_TAKEOVER,
                               .replica = args->replica,
                               .epoch = args->epoch,
                               .runs = args->runs,
                               .sessions = strtoll(args->sessions.p, NULL, 10) };
    return record(e, &note, err);
}

int cbx_executor_note_given_up(struct cbx_executor *e, const struct cbx_given_up_args *args,
                               struct cbx_err *err)
{
    const struct note note = { .type = CBX_OUTCOMES_RELEASED,
                               .replica = args->replica,
                               .epoch = args->epoch,
                               .runs = args->runs,
                               .sessions = -1 };
    return record(e, &note, err);
}
