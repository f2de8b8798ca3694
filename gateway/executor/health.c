/* SPDX-License-Identifier: MIT
 * Health of engine and audit log. */
#include "gateway/executor/health.h"

#include "gateway/executor/audit/audit_reader.h"
#include "gateway/executor/executor_internal.h"
#include "gateway/ipc/master/state.h"
#include "gateway/ipc/metrics.h"
#include "policies/base/log.h"
#include "policies/base/time/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const part_names[] = {
    [CBX_HEALTH_ENGINE] = "engine", [CBX_HEALTH_AUDIT] = "audit log"
};

void cbx_health_init(struct cbx_health *health)
{
    *health = (struct cbx_health){ 0 };
    pthread_mutex_init(&health->lock, NULL);
}

/* Records the outcome of an attempt: `failed` is 0 or a code, with its reason in `err`. A change
 * is logged once. */
static void note_health(struct cbx_health *health, enum cbx_health_part part, int failed,
                        const struct cbx_err *err)
{
    bool ok = failed == 0;
    pthread_mutex_lock(&health->lock);
    bool changed = health->parts[part].known ? health->parts[part].ok != ok : !ok;
    if (changed || !health->parts[part].known) {
        health->parts[part].since_ms = cbx_time_ms();
    }
    health->parts[part].known = true;
    health->parts[part].ok = ok;
    health->parts[part].checked_ms = cbx_clock_ms();
    snprintf(health->parts[part].reason, sizeof(health->parts[part].reason), "%s",
             ok ? "" : err->text);
    pthread_mutex_unlock(&health->lock);
    if (changed && ok) {
        cbx_log(CBX_LOG_INFO, "the %s can be used again", part_names[part]);
    } else if (changed) {
        cbx_log(CBX_LOG_ERROR, "the %s cannot be used: %s", part_names[part],
                cbx_err_full(err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
    }
}

static bool is_recent(struct cbx_health *health, enum cbx_health_part part, int64_t max_age_ms)
{
    pthread_mutex_lock(&health->lock);
    bool recent =
        health->parts[part].known && cbx_clock_ms() - health->parts[part].checked_ms < max_age_ms;
    pthread_mutex_unlock(&health->lock);
    return recent;
}

/* --- probes ----------------------------------------------------------------------------------- */

static void probe_engine(struct cbx_executor *e)
{
    enum { PING_MS = 2000 };
    struct cbx_pool *pool;
    struct cbx_err err = { 0 };
    int failed = cbx_executor_pool(e, &pool, &err); /* sets e->engine permanently */
    if (failed == CBX_ESTATE) {
        return; /* the executor is stopping, which is no statement about the engine */
    }
    if (!failed) {
        failed = cbx_engine_ping(e->engine, PING_MS, &err);
    }
    note_health(&e->health, CBX_HEALTH_ENGINE, failed, &err);
}

/* A full disk, a read-only file system and a removed directory all fail to write a block. */
static int write_block(const char *state_dir, struct cbx_err *err)
{
    static const char block[4096];
    CBX_AUTO_FD fd = open(state_dir, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
        return 0; /* this file system has no unnamed files; the next record shows a failure */
    }
    if (fd < 0 || write(fd, block, sizeof(block)) != (ssize_t)sizeof(block)) {
        return cbx_fail(err, CBX_EAUDIT, "nothing can be written to the state directory: %s",
                        strerror(errno));
    }
    return 0;
}

static void probe_audit(struct cbx_executor *e)
{
    struct cbx_audit *audit;
    struct cbx_err err = { 0 };
    int failed = cbx_executor_audit(e, &audit, &err);
    if (!failed) {
        failed = cbx_audit_check(audit, &err);
    }
    if (!failed) {
        failed = write_block(e->config.state_dir, &err);
    }
    note_health(&e->health, CBX_HEALTH_AUDIT, failed, &err);
}

void cbx_executor_probe(struct cbx_executor *e, int64_t max_age_ms)
{
    if (!is_recent(&e->health, CBX_HEALTH_ENGINE, max_age_ms)) {
        probe_engine(e);
    }
    if (!is_recent(&e->health, CBX_HEALTH_AUDIT, max_age_ms)) {
        probe_audit(e);
    }
}

/* --- the answer ------------------------------------------------------------------------------- */

/* A failed attempt counts as failure until a sandbox is made. */
static bool can_make(struct cbx_health *health, const struct cbx_pool_stats *s)
{
    pthread_mutex_lock(&health->lock);
    if (s->made != health->made) {
        health->made = s->made;
        health->failed_before = s->failed;
    }
    bool failing = s->failed > health->failed_before;
    pthread_mutex_unlock(&health->lock);
    return s->ready > 0 || !failing;
}

static json_t *describe_pool(const struct cbx_pool_stats *stats)
{
    const struct cbx_pool_stats s = *stats;
    return json_pack("{s:i,s:i,s:i,s:i,s:I,s:I,s:I,s:I}", "ready", s.ready, "in_use", s.in_use,
                     "making", s.making, "waiting", s.waiting, "taken", (json_int_t)s.taken,
                     "taken_ready", (json_int_t)s.taken_ready, "made", (json_int_t)s.made, "failed",
                     (json_int_t)s.failed);
}

static json_t *describe_check(struct cbx_health *health, enum cbx_health_part part)
{
    pthread_mutex_lock(&health->lock);
    json_t *check =
        json_pack("{s:s,s:b,s:o,s:I,s:I}", "name", part_names[part], "ok", health->parts[part].ok,
                  "reason", cbx_json_text(cbx_str_of(health->parts[part].reason)), "since_ms",
                  (json_int_t)health->parts[part].since_ms, "age_ms",
                  (json_int_t)(cbx_clock_ms() - health->parts[part].checked_ms));
    pthread_mutex_unlock(&health->lock);
    return check;
}

static void describe_installs(struct cbx_executor *e, json_t *into)
{
    struct cbx_turns_stats s;
    cbx_turns_stats(e->installs, &s);
    json_object_set_new(into, "installs",
                        json_pack("{s:i,s:i,s:i,s:f,s:f}", "running", s.running, "waiting",
                                  s.waiting, "principals", s.principals, "oldest",
                                  (double)s.oldest_ms / 1000, "held", (double)s.held_ms / 1000));
}

static void describe_layers(struct cbx_executor *e, json_t *into)
{
    struct cbx_layers_stats s;
    cbx_layers_stats(e->layers, &s);
    json_object_set_new(into, "layers",
                        json_pack("{s:I,s:I,s:I}", "count", (json_int_t)s.count, "bytes",
                                  (json_int_t)s.bytes, "evicted", (json_int_t)s.evicted));
}

static void describe_process(struct cbx_executor *e, json_t *into)
{
    enum { METRICS_MAX = 1024 * 1024 };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, METRICS_MAX);
    cbx_metrics_write(&text);
    const struct cbx_process_memory memory = cbx_metrics_memory();
    pthread_mutex_lock(&e->lock);
    int unrecorded = e->unrecorded + (int)cbx_outcomes_waiting(e->outcomes);
    pthread_mutex_unlock(&e->lock);
    struct cbx_turns_stats turns;
    cbx_turns_stats(e->turns, &turns);
    json_object_set_new(into, "metrics", cbx_json_text(cbx_buf_str(&text)));
    json_object_set_new(into, "memory",
                        json_pack("{s:I,s:I}", "heap", (json_int_t)memory.heap_bytes, "peak",
                                  (json_int_t)memory.peak_resident_bytes));
    describe_installs(e, into);
    describe_layers(e, into);
    json_object_set_new(into, "runs",
                        json_pack("{s:i,s:i,s:i,s:i}", "unrecorded", unrecorded, "running",
                                  turns.running, "waiting", turns.waiting, "principals",
                                  turns.principals));
}

/* Writes the number of records that the syslog server has not received: the records after the
 * forwarding process's cursor. */
static void describe_forwarding(struct cbx_executor *e, json_t *into)
{
    enum { DIGITS = 20 };
    struct cbx_audit *audit;
    if (!e->config.audit_forwarded || cbx_executor_audit(e, &audit, NULL) != 0) {
        return;
    }
    char text[DIGITS + 1] = "";
    CBX_AUTO_FILE f = cbx_state_read(e->config.state_dir, CBX_AUDIT_CURSOR);
    bool read = f != NULL && fread(text, 1, DIGITS, f) == DIGITS;
    uint64_t sent = read ? strtoull(text, NULL, 10) : 0, last = cbx_audit_last_seq(audit);
    json_object_set_new(into, "forwarding",
                        json_pack("{s:I}", "behind", (json_int_t)(last > sent ? last - sent : 0)));
}

/* Writes whether heads of the audit log are kept, and the number of records after the last kept
 * head. */
static void describe_heads(struct cbx_executor *e, json_t *into)
{
    struct cbx_audit_keeper_state state = { .failures = 1 }; /* failure to open the place */
    if (e->config.audit_heads == NULL) {
        return;
    }
    if (e->keeper != NULL) {
        cbx_audit_keeper_state(e->keeper, &state);
    }
    const char *reason = e->keeper != NULL ? state.reason : e->keeper_problem;
    json_object_set_new(into, "heads",
                        json_pack("{s:b,s:o,s:I,s:I}", "ok", reason[0] == '\0', "reason",
                                  cbx_json_text(cbx_str_of(reason)), "behind",
                                  (json_int_t)(state.offered - state.kept), "failures",
                                  (json_int_t)state.failures));
}

void cbx_executor_health(struct cbx_executor *e, json_t *into)
{
    enum { MAX_AGE_MS = 1000 };
    cbx_executor_probe(e, MAX_AGE_MS);
    json_t *checks = json_array();
    for (unsigned part = 0; part < CBX_HEALTH_PARTS; part++) {
        json_array_append_new(checks, describe_check(&e->health, part));
    }
    const json_t *engine = json_array_get(checks, CBX_HEALTH_ENGINE),
                 *audit = json_array_get(checks, CBX_HEALTH_AUDIT);
    bool engine_ok = json_is_true(json_object_get(engine, "ok"));
    json_object_set(into, "engine_ok", json_object_get(engine, "ok"));
    json_object_set(into, "audit_ok", json_object_get(audit, "ok"));
    json_object_set(into, "audit", json_object_get(audit, "reason"));
    json_object_set(into, "engine", json_object_get(engine, "reason"));
    if (engine_ok) {
        json_object_set_new(into, "engine",
                            cbx_json_text(cbx_str_of(cbx_engine_version(e->engine))));
        struct cbx_pool_stats stats = { 0 };
        cbx_pool_stats(e->pool, &stats);
        json_object_set_new(into, "pool", describe_pool(&stats));
        json_object_set_new(into, "pool_ok", json_boolean(can_make(&e->health, &stats)));
    }
    json_object_set_new(into, "api", json_string(engine_ok ? cbx_engine_api(e->engine) : ""));
    json_object_set_new(into, "sessions", json_integer(cbx_sessions_count(e->sessions)));
    json_object_set_new(into, "checks", checks);
    json_t *refusals = json_object();
    for (unsigned i = 0; i < CBX_REFUSALS; i++) {
        json_object_set_new(refusals, cbx_refusal_row((enum cbx_refusal)i)->name,
                            json_integer((json_int_t)e->refusals[i]));
    }
    json_object_set_new(into, "refusals", refusals);
    describe_forwarding(e, into);
    describe_heads(e, into);
    describe_process(e, into);
}
