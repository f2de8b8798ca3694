/* SPDX-License-Identifier: MIT
 * The executor's resources: the audit log, the engine, the pool, the slots of runs. */
#include "docker/packages/package_layers.h"
#include "gateway/executor/executor_internal.h"
#include "gateway/executor/run/executor_network.h"
#include "gateway/ipc/metrics.h"
#include "policies/base/log.h"
#include "policies/base/time/clock.h"
#include "policies/base/time/deadline.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

int64_t cbx_executor_lease_ms(const struct cbx_executor *e)
{
    return e->config.lease_ms > 0 ? e->config.lease_ms : CBX_SANDBOX_LEASE_MS;
}

/* --- what the first request opens ------------------------------------------------------------- */

/* True if an earlier executor may have actions without an outcome. A gateway that is not
 * persistent has one only after its executor was killed: then the zygote was forked again too. */
static bool has_predecessor(const struct cbx_executor *e)
{
    return e->config.persistent || e->secrets.first_number > CBX_SEAL_FIRST_NUMBER(1);
}

static int read_outcomes(struct cbx_executor *e, struct cbx_err *err)
{
    if (has_predecessor(e)) {
        return cbx_outcomes_read(e->outcomes, e->config.state_dir, e->name, e->config.persistent,
                                 err);
    }
    return 0;
}

/* Finds the name by which the next executor identifies the actions of this one. */
static int find_name(struct cbx_executor *e, struct cbx_err *err)
{
    uint8_t seed[CBX_INSTANCE_SEED_BYTES];
    memcpy(seed, e->secrets.seed, sizeof(seed));
    int failed = 0;
    if (e->config.persistent) {
        failed = cbx_instance_seed(e->config.state_dir, seed, err);
    }
    if (!failed) {
        cbx_instance_name_of(seed, e->name);
    }
    return failed;
}

/* Call it with the lock held. */
static int open_audit(struct cbx_executor *e, struct cbx_err *err)
{
    CBX_AUTO(audit) audit = NULL;
    int failed = cbx_audit_open(e->config.state_dir, &audit, err);
    if (failed) {
        return failed;
    }
    failed = find_name(e, err);
    if (failed) {
        return failed;
    }
    failed = read_outcomes(e, err);
    if (failed) {
        return failed;
    }
    cbx_audit_set_redactor(audit, e->grants.redactor);
    cbx_audit_set_keeper(audit, e->keeper);
    if (e->config.audit_max_bytes > 0) {
        cbx_audit_set_max_bytes(audit, e->config.audit_max_bytes);
    }
    e->audit = cbx_steal(&audit);
    return 0;
}

int cbx_executor_audit(struct cbx_executor *e, struct cbx_audit **out, struct cbx_err *err)
{
    pthread_mutex_lock(&e->lock);
    int failed = 0;
    if (e->audit == NULL) {
        failed = open_audit(e, err);
    }
    *out = e->audit;
    pthread_mutex_unlock(&e->lock);
    return failed;
}

bool cbx_executor_has(void *context, const char *id)
{
    struct cbx_executor *e = context;
    return cbx_sessions_has(e->sessions, id) || (e->pool != NULL && cbx_pool_has(e->pool, id));
}

struct cbx_str cbx_executor_key(const struct cbx_executor *e)
{
    return (struct cbx_str){ .p = (const char *)e->instance.secret,
                             .len = sizeof(e->instance.secret) };
}

bool cbx_executor_withholds(const struct cbx_executor *e, const char *run)
{
    size_t count = e->withheld_count;
    for (size_t i = 0; i < count && i < CBX_WITHHELD_MAX; i++) {
        if (strcmp(e->withheld[i], run) == 0) {
            return true;
        }
    }
    return false;
}

/* --- adopting sandboxes of an executor before this one ---------------------------------------- */

struct adoption {
    struct cbx_executor *executor;
    const struct cbx_sandbox_config *config;
    const json_t *ids;
    atomic_size_t next, adopted;
};

/* True if it is in the table of sessions then. */
static bool adopt_one(struct cbx_executor *e, const struct cbx_sandbox_config *config,
                      const char *id)
{
    struct cbx_sandbox *sandbox = NULL;
    struct cbx_err err = { 0 };
    int failed = cbx_sandbox_adopt(e->engine, config, id, &sandbox, &err);
    if (failed) {
        if (failed != CBX_ENOTFOUND) { /* that sandbox was prewarmed and unused */
            cbx_log(CBX_LOG_WARNING, "container %.12s of an executor that has ended is removed: %s",
                    id, cbx_err_full(&err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
        }
        return false;
    }
    const struct cbx_policy *policy = cbx_policies_find(cbx_policy_history_last(&e->policies),
                                                        cbx_str_of(cbx_sandbox_policy(sandbox)));
    /* the executor of its instance stored the digest with its own key */
    const struct cbx_str key = { .p = (const char *)config->secret, .len = sizeof(config->secret) };
    if (!cbx_grants_match(&e->grants, policy, key, sandbox)) {
        cbx_log(CBX_LOG_WARNING,
                "the sandbox of session '%s' is removed: its program got other values of variables "
                "than this gateway has, which could not be redacted from its output",
                cbx_sandbox_session(sandbox));
        size_t at = atomic_fetch_add(&e->withheld_count, 1);
        if (at < CBX_WITHHELD_MAX) {
            snprintf(e->withheld[at], sizeof(e->withheld[at]), "%s", cbx_sandbox_run_id(sandbox));
        }
        cbx_sandbox_end(sandbox);
        cbx_sandbox_detach(sandbox);
        return false;
    }
    cbx_executor_grant_network(e, policy, sandbox);
    if (!cbx_sessions_adopt(e->sessions, sandbox)) {
        cbx_sandbox_detach(sandbox);
        return false;
    }
    cbx_pool_count(e->pool);
    return true;
}

static void *adopt_some(void *context)
{
    struct adoption *a = context;
    for (size_t i; (i = atomic_fetch_add(&a->next, 1)) < json_array_size(a->ids);) {
        const char *id = json_string_value(json_array_get(a->ids, i));
        if (adopt_one(a->executor, a->config, id)) {
            atomic_fetch_add(&a->adopted, 1);
        }
    }
    return NULL;
}

/* Adopts several at a time: while one does not reply, the leases of the others would expire. */
static void adopt_all(struct adoption *adoption)
{
    enum { HELPERS = 8 };
    pthread_t helpers[HELPERS];
    size_t count = 0;
    while (count < HELPERS && count + 1 < json_array_size(adoption->ids) &&
           pthread_create(&helpers[count], NULL, adopt_some, adoption) == 0) {
        count++;
    }
    adopt_some(adoption);
    for (size_t i = 0; i < count; i++) {
        pthread_join(helpers[i], NULL);
    }
}

int cbx_executor_adopt(struct cbx_executor *e, const struct cbx_sandbox_config *config,
                       size_t *adopted, struct cbx_err *err)
{
    char label[128];
    size_t removed;
    CBX_AUTO_JSON ids = NULL;
    snprintf(label, sizeof(label), "codebox.instance=%s", config->instance);
    int failed = cbx_engine_container_running(e->engine, label, &ids, err);
    if (failed) {
        return failed;
    }
    struct adoption adoption = { .executor = e, .config = config, .ids = ids };
    adopt_all(&adoption);
    struct cbx_reap reap = { .instance = config->instance,
                             .keeps = cbx_executor_has,
                             .context = e };
    cbx_sandbox_reap(e->engine, &reap, &removed, NULL);
    cbx_packages_reap(e->engine, config->instance, 0, &removed, NULL);
    *adopted = atomic_load(&adoption.adopted);
    return 0;
}

/* The executor of a gateway whose master was killed may not have ended yet. */
static int make_instance(struct cbx_executor *e, const uint8_t seed[CBX_INSTANCE_SEED_BYTES],
                         struct cbx_err *err)
{
    enum { WAIT_MS = 20000, STEP_MS = 50 };
    struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
    int failed = CBX_EBUSY;
    for (int waited = 0; failed == CBX_EBUSY && waited < WAIT_MS; waited += STEP_MS) {
        if (waited > 0) {
            nanosleep(&step, NULL);
        }
        failed = cbx_instance_make(e->config.state_dir, seed, &e->instance, err);
    }
    return failed;
}

/* The seed of the containers' instance. */
static int find_seed(struct cbx_executor *e, uint8_t out[CBX_INSTANCE_SEED_BYTES],
                     struct cbx_err *err)
{
    if (cbx_executor_takes_over(e)) {
        return cbx_executor_own_seed(e, out, err);
    }
    if (e->config.persistent) {
        return cbx_instance_seed(e->config.state_dir, out, err);
    }
    memcpy(out, e->secrets.seed, CBX_INSTANCE_SEED_BYTES);
    return 0;
}

static bool may_remove(void *context)
{
    return cbx_executor_is_held(context);
}

/* Call it with the lock held. */
static int open_engine(struct cbx_executor *e, struct cbx_err *err)
{
    uint8_t seed[CBX_INSTANCE_SEED_BYTES] = { 0 };
    int failed = cbx_engine_new(e->config.docker_host, &e->engine, err);
    if (!failed && cbx_executor_takes_over(e)) {
        cbx_engine_use_bridges(e->engine);
        cbx_engine_guard_removals(e->engine, may_remove, e);
    }
    if (!failed) {
        failed = find_seed(e, seed, err);
    }
    if (!failed && e->instance.name[0] == '\0') {
        failed = make_instance(e, seed, err);
    }
    explicit_bzero(seed, sizeof(seed));
    if (failed) {
        cbx_engine_free(cbx_steal(&e->engine));
        return failed;
    }
    struct cbx_sandbox_config config = { .instance = e->instance.name,
                                         .runtime = e->config.runtime,
                                         .gvisor_runtime = e->config.gvisor_runtime,
                                         .lease_ms = (uint32_t)cbx_executor_lease_ms(e),
                                         .apparmor = e->config.apparmor,
                                         .image_prefix = e->config.image_prefix,
                                         .variant = e->config.variant };
    memcpy(config.secret, e->instance.secret, sizeof(config.secret));
    e->pool = cbx_pool_new(e->engine, &config, &e->config.pool);
    struct cbx_err why = { 0 };
    size_t adopted;
    if (cbx_executor_adopt(e, &config, &adopted, &why) != 0) {
        cbx_log(CBX_LOG_WARNING, "the sandboxes of an executor that has ended are not adopted: %s",
                cbx_err_full(&why, (char[CBX_ERR_FULL_BYTES]){ 0 }));
    }
    /* actions of an executor that was still ending */
    if (e->audit != NULL && read_outcomes(e, err) != 0) {
        cbx_log(CBX_LOG_ERROR, "outcomes of the executor before this one: %s", err->text);
    }
    if (!cbx_executor_takes_over(e)) { /* else another replica may have what an instance had */
        cbx_instance_reap(e->config.state_dir, e->engine);
    }
    for (int i = 0; i < e->config.profile_count; i++) {
        cbx_pool_prewarm(e->pool, e->config.profiles[i].kernel, &e->config.profiles[i].limits);
    }
    return 0;
}

int cbx_executor_pool(struct cbx_executor *e, struct cbx_pool **out, struct cbx_err *err)
{
    int failed = cbx_executor_await_place(e, err);
    if (failed) {
        return failed;
    }
    return cbx_executor_open_pool(e, out, err);
}

int cbx_executor_open_pool(struct cbx_executor *e, struct cbx_pool **out, struct cbx_err *err)
{
    pthread_mutex_lock(&e->lock);
    int failed = 0;
    if (e->stopping) {
        failed = cbx_fail(err, CBX_ESTATE, "the gateway is stopping");
    } else if (e->pool == NULL) {
        failed = open_engine(e, err);
    }
    *out = e->pool;
    pthread_mutex_unlock(&e->lock);
    return failed;
}

/* Sandboxes exist only after the pool was created. */
void cbx_executor_discard(void *executor, struct cbx_sandbox *sandbox)
{
    struct cbx_executor *e = executor;
    if (sandbox != NULL) {
        cbx_executor_record_late(e, sandbox);
        cbx_pool_discard(e->pool, sandbox);
    }
}

/* At the end sessions are detached, and their runs continue for the next executor. */
static bool has_run(void *context, const char *decision)
{
    struct cbx_executor *e = context;
    char slot[CBX_NAME_MAX + 1];
    bool found = cbx_sessions_find_run(e->sessions, decision, NULL, slot, NULL, NULL) == 0;
    return found || cbx_executor_is_stopping(e);
}

void cbx_executor_tend_outcomes(struct cbx_executor *e)
{
    pthread_mutex_lock(&e->lock);
    struct cbx_audit *audit = e->audit;
    bool adopted = e->pool != NULL;
    pthread_mutex_unlock(&e->lock);
    if (audit == NULL) {
        return;
    }
    cbx_outcomes_retry(e->outcomes, audit);
    bool complete = !cbx_executor_takes_over(e) || atomic_load(&e->holdings.ready);
    if (adopted && complete && cbx_executor_is_held(e)) {
        cbx_outcomes_sweep(e->outcomes, audit, has_run, e);
    }
    if (e->config.persistent && cbx_outcomes_is_due(e->outcomes)) {
        cbx_outcomes_save(e->outcomes, audit, e->config.state_dir);
    }
}

void cbx_executor_leave_outcomes(struct cbx_executor *e)
{
    if (e->audit == NULL) {
        return;
    }
    cbx_outcomes_retry(e->outcomes, e->audit);
    if (e->config.persistent) {
        cbx_outcomes_save(e->outcomes, e->audit, e->config.state_dir);
    }
}

void cbx_executor_count_unrecorded(struct cbx_executor *e, int change)
{
    pthread_mutex_lock(&e->lock);
    e->unrecorded += change;
    pthread_mutex_unlock(&e->lock);
}
