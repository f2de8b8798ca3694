/* SPDX-License-Identifier: MIT
 * The end of a job. */
#include "gateway/front/jobs/job_outcome.h"

#include "gateway/front/jobs/live.h"
#include "gateway/front/jobs/results.h"
#include "gateway/front/service/decisions.h"
#include "gateway/front/service/service_packages.h"
#include "gateway/front/service/shared_quotas.h"
#include "policies/base/log.h"
#include "policies/base/time/clock.h"

#include <time.h>

void cbx_job_answer(struct cbx_job *job, const json_t *execution, const struct cbx_err *err)
{
    if (job->client.done != NULL) {
        job->client.done(job->client.context, execution, err);
    }
}

/* Counts the processor time, and stores results, or as much of them as fits. */
static int store_results(struct cbx_job *job, const char *status, const char *now, json_t *results,
                         struct cbx_err *err)
{
    enum { SHORT_BYTES = 8 * 1024 };
    const char *reason;
    struct cbx_store *store = job->service->store;
    if (job->service->shared_quotas != NULL) {
        int uncounted = cbx_shared_quotas_charge(job->service->shared_quotas, job, err);
        if (uncounted) {
            return uncounted;
        }
    }
    size_t max = cbx_store_result_max(store, &reason);
    cbx_results_shorten(results, max, reason);
    int failed = cbx_store_set_execution(store, job->id, status, now, results, err);
    if (failed == CBX_ETOOBIG || failed == CBX_EBUSY) {
        cbx_results_shorten(results, SHORT_BYTES, err->text);
        failed = cbx_store_set_execution(store, job->id, status, now, results, err);
    }
    return failed;
}

void cbx_job_store_error(struct cbx_job *job, const char *now, const struct cbx_err *err)
{
    CBX_AUTO_JSON results = json_pack("{s:[],s:[],s:s}", "output", "files", "error", err->text);
    cbx_store_set_execution(job->service->store, job->id, "error", now, results, NULL);
}

/* Stores results, or the reason why the store does not take them. CBX_EIO if a database that others
 * share cannot be reached; CBX_ESTATE if another replica has the job and stores its result. */
static int store_or_explain(struct cbx_job *job, const char *status, const char *now,
                            json_t *results, struct cbx_err *err)
{
    int failed = store_results(job, status, now, results, err);
    bool unreachable = failed == CBX_EIO && cbx_store_is_shared(job->service->store);
    if (!failed || unreachable || failed == CBX_ESTATE) {
        return failed;
    }
    cbx_job_store_error(job, now, err);
    return 0;
}

/* Stores results again while a database that others share cannot be reached: the sandbox keeps
 * them, and the next gateway finds them there when this one ends before. */
static int store_again(struct cbx_job *job, const char *status, const char *now, json_t *results)
{
    const struct timespec pause = { .tv_sec = 1 };
    struct cbx_err err;
    int failed = CBX_EIO;
    while (failed == CBX_EIO && !cbx_service_says_stop(job->service)) {
        nanosleep(&pause, NULL);
        failed = store_or_explain(job, status, now, results, &err);
    }
    return failed;
}

/* The results of a run: its output and files, and what the gateway adds. New reference. */
static json_t *make_results(struct cbx_job *job, struct cbx_collected *collected,
                            struct cbx_outcome *outcome, const struct cbx_err *err)
{
    cbx_collected_finish(collected);
    outcome->result.output_truncated |= collected->omitted > 0;
    outcome->result.files_truncated |= collected->incomplete;
    json_t *results = cbx_results(collected->items, outcome, job->service->flow, err);
    cbx_package_report(job->language, cbx_asked_packages(&job->asked), job->installed_ms, results);
    cbx_results_approved(results, outcome, &job->approval);
    return results;
}

static const char *status_of(const struct cbx_outcome *outcome, int failed, bool cancelled)
{
    if (!failed && outcome->ran && outcome->result.status == CBX_RUN_OK) {
        return "completed";
    }
    return cancelled ? "cancelled" : "error";
}

/* The execution as /v1 returns it. New reference. */
static json_t *describe(const struct cbx_job *job, const char *status, const char *now,
                        json_t *results)
{
    CBX_AUTO_JSON execution = json_pack("{s:s,s:s,s:s,s:s,s:s,s:O}", "request_id", job->id,
                                        "session_id", job->session, "language", job->language,
                                        "status", status, "completed_at", now, "results", results);
    return cbx_execution_json(execution);
}

void cbx_job_finish(struct cbx_job *job, struct cbx_collected *collected,
                    struct cbx_outcome *outcome, int failed, struct cbx_err *err)
{
    char now[32];
    const char *status = status_of(outcome, failed, cbx_live_end(job));
    cbx_service_now(now);
    job->cpu_ms = outcome->result.cpu_ms;
    if (job->service->shared_quotas == NULL) {
        cbx_quotas_charge(job->service->quotas, job->principal, job->cpu_ms, cbx_clock_ms());
    }
    CBX_AUTO_JSON results = make_results(job, collected, outcome, err);
    cbx_decisions_end(job->service->decisions, outcome->id, results);
    struct cbx_err store_err;
    int unstored = store_or_explain(job, status, now, results, &store_err);
    CBX_AUTO_JSON execution = describe(job, status, now, results);
    /* a client with the response finds the same in the store */
    cbx_job_answer(job, execution, err);
    if (unstored == CBX_EIO) {
        cbx_log(CBX_LOG_WARNING, "execution %s: its results wait in the sandbox: %s", job->id,
                store_err.text);
        unstored = store_again(job, status, now, results);
    }
    if (!unstored) { /* else the next gateway or another replica stores them */
        cbx_outcome_acknowledge(job->service->flow, outcome);
    }
}
