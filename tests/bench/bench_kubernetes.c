/* SPDX-License-Identifier: MIT
 * A run over Kubernetes beside the same run over Docker, without either: an API server and an
 * engine in this process, with the same scripted supervisor behind them. So the difference is that
 * of the streams: a WebSocket and its relay, against the attached stream. */
#include "docker/sandbox/sandbox.h"
#include "policies/base/sort.h"
#include "tests/unit/docker/engine/kubernetes/fake_cluster.h"

#include <stdio.h>
#include <time.h>

enum { ROUNDS = 7, RUNS = 300, TIMES = ROUNDS * RUNS, P99 = TIMES * 99 / 100 };

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static _Noreturn void give_up(const struct cbx_err *err)
{
    fprintf(stderr, "%s: %s\n", err->text, err->detail);
    exit(1);
}

static double run_ms(struct cbx_sandbox *sandbox, struct cbx_permit *permit, int number)
{
    struct cbx_result result = { 0 };
    struct cbx_err err = { 0 };
    struct cbx_str source = CBX_STR("print(1)");
    snprintf(permit->decision, sizeof(permit->decision), "d%d", number);
    permit->source_sha256 = cbx_sha256_of(source);
    permit->ledger = *cbx_sandbox_ledger(sandbox);
    double began = now_ms();
    if (cbx_sandbox_run(sandbox, permit, source, NULL, &result, &err) != 0) {
        give_up(&err);
    }
    double took = now_ms() - began;
    if (result.status != CBX_RUN_OK) {
        fprintf(stderr, "run %d has ended with status %d\n", number, (int)result.status);
        exit(1);
    }
    cbx_result_done(&result);
    cbx_sandbox_acknowledge(sandbox, permit->decision);
    return took;
}

/* Runs in one sandbox of the engine at `host`. */
static void measure(const char *host, double times[RUNS])
{
    const struct cbx_sandbox_config config = { .instance = "bench", .secret = "secret" };
    struct cbx_permit permit = { .session = "s1",
                                 .principal = "bench",
                                 .policy = "strict",
                                 .language = "ipython",
                                 .action = CBX_ACTION_RUN };
    struct cbx_engine *engine;
    struct cbx_sandbox *sandbox;
    struct cbx_err err = { 0 };
    cbx_limits_default(&permit.limits);
    permit.limits.isolation = CBX_ISOLATION_CONTAINER;
    if (cbx_engine_new(host, &engine, &err) != 0 ||
        cbx_sandbox_prepare(engine, &config, "python", &permit.limits, NULL, &sandbox, &err) != 0 ||
        cbx_sandbox_claim(sandbox, &permit, &err) != 0) {
        give_up(&err);
    }
    run_ms(sandbox, &permit, RUNS);
    for (int i = 0; i < RUNS; i++) {
        times[i] = run_ms(sandbox, &permit, i);
    }
    cbx_sandbox_free(sandbox);
    cbx_engine_free(engine);
}

int main(void)
{
    static double docker[TIMES], cluster_times[TIMES], scratch[TIMES];
    for (int i = 0; i < ROUNDS; i++) {
        fake_start();
        measure(fake.host, docker + (ptrdiff_t)i * RUNS);
        fake_stop();
        cluster_start();
        measure(cluster.host, cluster_times + (ptrdiff_t)i * RUNS);
        cluster_stop();
    }
    cbx_sort(docker, TIMES, sizeof(docker[0]), compare, scratch);
    cbx_sort(cluster_times, TIMES, sizeof(cluster_times[0]), compare, scratch);
    double ours = cluster_times[TIMES / 2], base = docker[TIMES / 2];
    printf("a run over Kubernetes, engines in the same process: p50 %.3f ms, p99 %.3f ms, over "
           "Docker %.3f ms, %.3f ms, %.3f ms more (budget 2 ms), %.2f times that\n",
           ours, cluster_times[P99], base, docker[P99], ours - base, ours / base);
    return 0;
}
