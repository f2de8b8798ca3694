/* SPDX-License-Identifier: MIT
 * A pool against a scripted engine. Include it once. */
#ifndef CBX_TESTS_UNIT_DOCKER_POOL_RIG_H
#define CBX_TESTS_UNIT_DOCKER_POOL_RIG_H

#include "docker/pool/pool_internal.h"
#include "docker/sandbox/container.h"
#include "tests/unit/docker/fake_engine.h"

static struct cbx_engine *engine;
static struct cbx_pool *pool;
static const struct cbx_sandbox_config config = { .instance = "unit", .secret = "secret" };
static const struct cbx_limits limits = { .wall_ms = 20000,
                                          .cpu_milli = 1000,
                                          .memory_bytes = 256 << 20,
                                          .pids = 64,
                                          .disk_bytes = 16 << 20,
                                          .output_bytes = 64 * 1024,
                                          .files_bytes = 1 << 20,
                                          .source_bytes = 1 << 20,
                                          .isolation = CBX_ISOLATION_CONTAINER };

static inline int begin_test(void **state)
{
    (void)state;
    struct cbx_err err;
    fake_start();
    assert_int_equal(cbx_engine_new(fake.host, &engine, &err), 0);
    return 0;
}

/* The executor never frees its pool: its threads may use the pool until the process ends. */
static inline void free_pool(void)
{
    if (pool != NULL) {
        cbx_pool_stop(pool);
        pthread_mutex_destroy(&pool->lock);
        pthread_cond_destroy(&pool->work);
        pthread_cond_destroy(&pool->served);
        free(pool);
        pool = NULL;
    }
}

static inline int end_test(void **state)
{
    (void)state;
    free_pool();
    cbx_engine_free(engine);
    fake_stop();
    return 0;
}

static inline void make_pool(const struct cbx_pool_config *pool_config)
{
    pool = cbx_pool_new(engine, &config, pool_config);
}

static inline struct cbx_permit permit_for(const char *session)
{
    struct cbx_permit p = { .decision = "d1",
                            .principal = "ann",
                            .policy = "strict",
                            .language = "python",
                            .action = CBX_ACTION_OPEN,
                            .limits = limits };
    snprintf(p.session, sizeof(p.session), "%s", session);
    return p;
}

static inline int take(const char *session, struct cbx_sandbox **out, struct cbx_err *err)
{
    struct cbx_permit p = permit_for(session);
    return cbx_pool_take(pool, &p, NULL, NULL, out, err);
}

static inline struct cbx_pool_stats stats(void)
{
    struct cbx_pool_stats s = { 0 };
    cbx_pool_stats(pool, &s);
    return s;
}

/* Waits until a figure of the pool has this value; only the pool's threads change it. */
#define AWAIT_STATS(member, value)                                                                 \
    do {                                                                                           \
        for (int tries_ = 0; stats().member != (value); tries_++) {                                \
            if (tries_ > FAKE_WAIT_MS) {                                                           \
                fail_msg(#member " is %d", (int)stats().member);                                   \
            }                                                                                      \
            usleep(1000);                                                                          \
        }                                                                                          \
    } while (0)

static inline int index_of(const struct cbx_sandbox *sandbox)
{
    int found = -1;
    pthread_mutex_lock(&fake.lock);
    for (int i = 0; i < fake.count && found < 0; i++) {
        if (strcmp(fake.containers[i].id, cbx_sandbox_id(sandbox)) == 0) {
            found = i;
        }
    }
    pthread_mutex_unlock(&fake.lock);
    return found;
}

/* A thread that takes a sandbox. */
struct taker {
    const char *session;
    const struct cbx_sink *sink;
    struct cbx_sandbox *sandbox;
    int failed;
    struct cbx_err err;
    pthread_t thread;
};

static inline void *take_in_thread(void *context)
{
    struct taker *t = context;
    struct cbx_permit p = permit_for(t->session);
    t->failed = cbx_pool_take(pool, &p, NULL, t->sink, &t->sandbox, &t->err);
    return NULL;
}

static inline void start_taking(struct taker *t)
{
    pthread_create(&t->thread, NULL, take_in_thread, t);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

#endif
