/* SPDX-License-Identifier: MIT
 * The executor process: its start, its housekeeping, its end. */
#include "gateway/executor/executor.h"

#include "gateway/executor/acceptors.h"
#include "gateway/executor/executor_confine.h"
#include "gateway/executor/executor_internal.h"
#include "gateway/executor/health.h"
#include "gateway/executor/packages/executor_packages.h"
#include "gateway/identity/identity.h"
#include "gateway/ipc/jail/jail.h"
#include "policies/base/log.h"
#include "policies/base/time/clock.h"
#include "policies/base/time/deadline.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Renews leases, closes expired sessions, removes containers that are in no table. */
static void maintain(struct cbx_executor *e, int64_t now, int64_t *renewed, int64_t *reaped)
{
    pthread_mutex_lock(&e->lock);
    struct cbx_pool *pool = e->pool;
    pthread_mutex_unlock(&e->lock);
    if (pool == NULL) {
        return;
    }
    bool held = cbx_executor_is_held(e);
    if (held) {
        cbx_sessions_expire(e->sessions, now, e->config.idle_ms);
    }
    if (now - *renewed >= cbx_executor_lease_ms(e) / 4) {
        *renewed = now;
        cbx_sessions_renew_leases(e->sessions);
        cbx_pool_renew_leases(pool);
        cbx_instance_touch(&e->instance);
    }
    enum { PROBE_MS = 5000 };
    cbx_executor_probe(e, PROBE_MS);
    if (held && now - *reaped >= cbx_executor_lease_ms(e) / 2) {
        enum { COMMIT_S = 1200 }; /* an image commit in progress is younger */
        *reaped = now;
        /* a sandbox in creation is in no table yet: only old ones are removed */
        size_t removed;
        struct cbx_reap reap = { .instance = e->instance.name,
                                 .age_s = cbx_executor_lease_ms(e) / 1000,
                                 .keeps = cbx_executor_has,
                                 .context = e };
        cbx_sandbox_reap(e->engine, &reap, &removed, NULL);
        if (cbx_executor_takes_over(e)) {
            cbx_executor_reap_held(e);
        } else {
            cbx_instance_reap(e->config.state_dir, e->engine);
        }
        cbx_packages_reap(e->engine, e->instance.name, COMMIT_S, &removed, NULL);
    }
}

/* Opens connections of idle sessions that broke again, before their leases end. */
static void *keep_connections(void *context)
{
    enum { PERIOD_MS = 5000 };
    struct cbx_executor *e = context;
    for (;;) {
        nanosleep(&(struct timespec){ .tv_sec = PERIOD_MS / 1000 }, NULL);
        if (cbx_executor_is_held(e)) {
            cbx_sessions_reattach(e->sessions);
        }
    }
    return NULL;
}

static void *housekeep(void *context)
{
    struct cbx_executor *e = context;
    int64_t period_ms = e->config.idle_ms < 4000 ? e->config.idle_ms / 4 + 10 : 1000;
    int64_t renewed = 0, reaped = cbx_clock_ms();
    if (e->config.persistent) {
        struct cbx_pool *pool;
        struct cbx_err err;
        cbx_executor_pool(e, &pool, &err); /* adopts sandboxes before the first request */
        struct cbx_audit *audit;           /* records the outcomes of actions that have none */
        cbx_executor_audit(e, &audit, &err);
    }
    for (;;) {
        struct timespec period = { .tv_sec = period_ms / 1000,
                                   .tv_nsec = (period_ms % 1000) * 1000000 };
        nanosleep(&period, NULL);
        cbx_executor_tend_outcomes(e);
        maintain(e, cbx_clock_ms(), &renewed, &reaped);
    }
    return NULL;
}

/* Removes old files of the audit log, at the start and every hour. */
static void *prune_audit(void *context)
{
    struct cbx_executor *e = context;
    for (;;) {
        struct cbx_audit *audit;
        struct cbx_err err = { 0 };
        struct cbx_audit_pruned pruned = { 0 };
        struct cbx_audit_prune wanted = { .before_ms = cbx_time_ms() - e->config.audit_keep_ms,
                                          .principal = CBX_STR("gateway"),
                                          .reason = CBX_STR("serve --audit-keep") };
        if (cbx_executor_audit(e, &audit, &err) != 0 ||
            cbx_audit_prune(audit, &wanted, &pruned, &err) != 0) {
            cbx_log(CBX_LOG_ERROR, "old files of the audit log are not removed: %s", err.text);
        } else if (pruned.files > 0) {
            cbx_log(CBX_LOG_INFO, "%zu old files of the audit log are removed", pruned.files);
        }
        nanosleep(&(struct timespec){ .tv_sec = 3600 }, NULL);
    }
    return NULL;
}

static void flush_audit(struct cbx_executor *e)
{
    if (e->audit != NULL) {
        cbx_audit_flush(e->audit);
    }
}

/* Keeps the head of this executor's last record; a place that does not respond does not delay
 * its end. */
static void keep_last_head(struct cbx_executor *e)
{
    enum { WAIT_MS = 2000 };
    flush_audit(e);
    cbx_executor_leave_outcomes(e);
    flush_audit(e);
    if (e->keeper != NULL) {
        cbx_audit_keeper_flush(e->keeper, WAIT_MS);
    }
}

/* Opens the place of kept heads, which `serve` checked before it forked. If it is missing now,
 * runs continue, and the health reports it. */
static void open_keeper(struct cbx_executor *e)
{
    uint8_t seed[CBX_INSTANCE_SEED_BYTES];
    char name[33];
    struct cbx_err err = { 0 };
    if (e->config.audit_heads == NULL) {
        return;
    }
    int failed = cbx_instance_seed(e->config.state_dir, seed, &err);
    if (!failed) {
        cbx_instance_name_of(seed, name);
        failed =
            cbx_audit_keeper_new(e->config.audit_heads, name, CBX_AUDIT_KEEP_MS, &e->keeper, &err);
    }
    if (failed) {
        snprintf(e->keeper_problem, sizeof(e->keeper_problem), "%s", err.text);
        cbx_log(CBX_LOG_ERROR, "no heads of the audit log are kept until the next start: %s",
                cbx_err_full(&err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
    }
}

/* Waits briefly until the outcomes of the ended runs are recorded. */
static void await_runs(struct cbx_executor *e)
{
    enum { WAIT_MS = 3000, STEP_MS = 5 };
    struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
    int running = 1;
    for (int waited = 0; running > 0 && waited < WAIT_MS; waited += STEP_MS) {
        pthread_mutex_lock(&e->lock);
        running = e->unrecorded;
        pthread_mutex_unlock(&e->lock);
        if (running > 0) {
            flush_audit(e); /* an outcome would otherwise wait for the next decision */
            nanosleep(&step, NULL);
        }
    }
}

/* Waits until the installers have ended: each detects within a fraction of a second that the
 * executor ends, and removes its container. */
static void await_installs(struct cbx_executor *e)
{
    enum { WAIT_MS = 5000, STEP_MS = 20 };
    struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
    struct cbx_turns_stats stats;
    cbx_turns_stats(e->installs, &stats);
    for (int waited = 0; stats.running + stats.waiting > 0 && waited < WAIT_MS; waited += STEP_MS) {
        nanosleep(&step, NULL);
        cbx_turns_stats(e->installs, &stats);
    }
}

static int stop_pipe[2] = { -1, -1 };

/* Releases the master, and the client that waits for it: all records are written and every
 * sandbox is being ended, or an engine that does not respond delays this. stderr belongs to that
 * client, so it is replaced by a descriptor that cannot be written. */
static void release_master(int control)
{
    dup2(stop_pipe[0], STDERR_FILENO);
    shutdown(control, SHUT_RDWR);
}

/* Limits the time of an executor's end; `context` is the executor's control socket. */
static void *limit_end(void *context)
{
    enum { RELEASE_S = 1, END_S = 20 };
    const int *control = context;
    nanosleep(&(struct timespec){ .tv_sec = RELEASE_S }, NULL);
    release_master(*control);
    nanosleep(&(struct timespec){ .tv_sec = END_S - RELEASE_S }, NULL);
    /* the next gateway on the state directory removes remaining containers (instance.h) */
    _exit(0);
}

/* Removes the sandboxes that no later executor may adopt; the others exist until their leases
 * end. */
static void end(struct cbx_executor *e, int control)
{
    enum { LOCK_MS = 2000 };
    if (!cbx_mutex_lock_ms(&e->lock, LOCK_MS)) {
        /* a thread waits for the engine or for the previous executor: no sandbox exists yet */
        _exit(0);
    }
    e->stopping = true;
    struct cbx_pool *pool = e->pool;
    pthread_mutex_unlock(&e->lock);
    pthread_t limit;
    if (!e->config.persistent) {
        pthread_create(&limit, NULL, limit_end, &control);
    }
    /* Ends the sandboxes in which programs still run: a program that ignores SIGINT would keep a
     * client waiting until it kills the gateway. */
    cbx_sessions_close_all(e->sessions, e->config.persistent);
    if (pool != NULL) {
        cbx_pool_end(pool);
    }
    await_installs(e);
    if (!e->config.persistent) {
        await_runs(e);
    }
    keep_last_head(e);
    if (!e->config.persistent) {
        release_master(control);
    }
    if (pool != NULL) {
        cbx_pool_stop(pool);
    }
    keep_last_head(e);
    if (!e->config.persistent) {
        cbx_instance_done(&e->instance, true);
    } /* else the process's exit releases the lock, after the last thread that may still send */
    _exit(0); /* nothing is freed: threads may still read the tables */
}

static void on_stop(int number)
{
    (void)number;
    (void)!write(stop_pipe[1], "s", 1);
}

static void note_control_closed(void *context)
{
    (void)context;
    on_stop(0);
}

static void serve_connection(void *context, int fd)
{
    cbx_executor_serve(context, fd);
}

static bool read_secrets(int fd, struct cbx_executor_secrets *out)
{
    bool whole = read(fd, out, sizeof(*out)) == (ssize_t)sizeof(*out);
    close(fd);
    return whole;
}

/* Waits for the first call, unless sandboxes must be adopted or prewarmed before. False if the
 * executor must end. The confinement grants the state directory, so it must exist then, and
 * `codebox mcp` creates none before its first call. */
static bool await_work(int control, const struct cbx_executor_config *config)
{
    struct pollfd ready[] = { { .fd = control, .events = POLLIN },
                              { .fd = stop_pipe[0], .events = POLLIN } };
    int n = 1;
    while (!config->persistent && (n = poll(ready, 2, -1)) < 0 && errno == EINTR) {
    }
    return n > 0 && ready[1].revents == 0;
}

/* The redactor of this process's log. */
static const struct cbx_redactor *log_redactor;

static void clean_line(char *line, size_t size)
{
    CBX_AUTO_DONE(buf) clean;
    cbx_buf_init(&clean, 2 * size);
    cbx_redact_text(log_redactor, cbx_str_of(line), &clean);
    snprintf(line, size, "%s", clean.overflow ? "" : clean.p);
}

/* Starts the executor's own fetches of issuers' keys. The front reports the state of fetches. */
static int start_keys(const struct cbx_executor_config *config, int channel, struct cbx_err *err)
{
    if (config->identity == NULL) {
        return 0;
    }
    struct cbx_issuer_keys *keys = cbx_identity_issuer_keys(config->identity);
    cbx_issuer_keys_silence(keys);
    return cbx_issuer_keys_start(keys, channel, err);
}

/* A compromised front may open any number of connections. Each waiting run has a thread: the
 * remaining threads are for calls that do not wait. */
enum { THREADS_MAX = 2048, WAITING_MAX = 1536, OWN_WAITING_MAX = 1024 };

/* Logs why the executor cannot start, and ends it; the master starts another one. */
_Noreturn static void give_up(const struct cbx_err *err)
{
    cbx_log(CBX_LOG_ERROR, "executor: %s", cbx_err_full(err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
    _exit(1);
}

/* Makes the parts that need no secret, no file and no thread. */
static void init(struct cbx_executor *e, const struct cbx_executor_config *config)
{
    const struct cbx_turns_config turns = { .what = "programs",
                                            .running = config->max_runs,
                                            .waiting = WAITING_MAX,
                                            .own_waiting = OWN_WAITING_MAX };
    const struct cbx_layers_config layers = { .state_dir = config->state_dir,
                                              .all_bytes = config->layers_bytes,
                                              .layer_bytes = config->layer_bytes,
                                              .free_bytes = config->layers_free_bytes };
    e->config = *config;
    pthread_mutex_init(&e->lock, NULL);
    pthread_mutex_init(&e->anchors.lock, NULL);
    cbx_holdings_init(&e->holdings);
    e->turns = cbx_turns_new(&turns);
    e->installs = cbx_executor_install_turns(config->max_installs);
    e->layers = cbx_layers_new(&layers);
    cbx_health_init(&e->health);
    cbx_policy_history_init(&e->policies, config->policies);
}

/* Starts the threads; false if one cannot be started. */
static bool start_threads(struct cbx_executor *e, const struct cbx_executor_channels *channels)
{
    static struct cbx_reload_listener reloads;
    reloads = (struct cbx_reload_listener){ .fd = channels->reload,
                                            .apply = cbx_executor_reload,
                                            .context = e };
    const struct cbx_acceptors_config acceptors = { .control = channels->control,
                                                    .max = THREADS_MAX,
                                                    .serve = serve_connection,
                                                    .ended = note_control_closed,
                                                    .context = e };
    bool prunes = e->config.persistent && e->config.audit_keep_ms > 0;
    pthread_t thread;
    return pthread_create(&thread, NULL, housekeep, e) == 0 &&
           pthread_create(&thread, NULL, keep_connections, e) == 0 &&
           (channels->reload < 0 || cbx_reload_listen(&reloads)) &&
           cbx_acceptors_start(&acceptors) &&
           (!prunes || pthread_create(&thread, NULL, prune_audit, e) == 0);
}

_Noreturn void cbx_executor_main(const struct cbx_executor_channels *channels,
                                 const struct cbx_executor_config *config)
{
    static struct cbx_executor e;
    struct cbx_err err = { 0 };
    init(&e, config);
    cbx_jail_common();
    prctl(PR_SET_NAME, "cbx-executor");
    if (!read_secrets(channels->secrets, &e.secrets) || pipe2(stop_pipe, O_CLOEXEC) < 0) {
        _exit(1);
    }
    struct sigaction stop = { .sa_handler = on_stop };
    sigaction(SIGTERM, &stop, NULL);
    if (cbx_grants_init(&e.grants, config->variables_fd, &err) != 0) {
        give_up(&err);
    }
    log_redactor = e.grants.redactor;
    cbx_log_set_filter(log_redactor != NULL ? clean_line : NULL);
    if (!await_work(channels->control, config)) {
        _exit(0);
    }
    open_keeper(&e);
    if (cbx_executor_confine(config->state_dir, config->docker_host, &err) != 0 ||
        start_keys(config, channels->keys, &err) != 0) {
        give_up(&err);
    }
    e.outcomes = cbx_outcomes_new();
    e.sessions = cbx_sessions_new(config->max_sessions, cbx_executor_discard, &e);
    if (!start_threads(&e, channels)) {
        _exit(1);
    }
    char reason;
    while (read(stop_pipe[0], &reason, 1) < 0 && errno == EINTR) {
    }
    end(&e, channels->control);
    _exit(0);
}
