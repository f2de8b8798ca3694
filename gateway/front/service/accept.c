/* SPDX-License-Identifier: MIT
 * Acceptance. */
#include "gateway/front/service/accept.h"

#include "gateway/front/dialect.h"
#include "gateway/front/jobs/job_request.h"
#include "gateway/front/jobs/queue.h"
#include "gateway/front/service/decisions.h"
#include "gateway/front/service/dependencies.h"
#include "gateway/front/service/service_sessions.h"
#include "gateway/front/service/shared_quotas.h"
#include "gateway/front/vouch.h"
#include "policies/base/time/clock.h"
#include "policies/packages.h"

static int copy_session(struct cbx_job *job, struct cbx_err *err)
{
    CBX_AUTO_JSON options = NULL;
    CBX_AUTO_MEM char *policy = NULL;
    int failed = cbx_store_get_session(job->service->store, job->principal, job->session, &policy,
                                       &options, err);
    if (failed) {
        return failed;
    }
    const char *language = json_string_value(json_object_get(options, "language"));
    cbx_buf_reset(&job->policy);
    cbx_buf_add_cstr(&job->policy, policy);
    snprintf(job->language, sizeof(job->language), "%s",
             language != NULL ? language : cbx_dialect_default());
    failed = cbx_asked_read(options, &job->asked, err);
    if (failed) {
        return failed;
    }
    return cbx_job_copy_past(job, err);
}

int cbx_job_join(struct cbx_job *job, struct cbx_str session, struct cbx_err *err)
{
    snprintf(job->session, sizeof(job->session), "%.*s", CBX_STR_ARG(session));
    bool cut = strlen(job->session) != session.len; /* at a NUL */
    int failed;
    if (cut) {
        failed = CBX_ENOTFOUND;
    } else {
        failed = copy_session(job, err);
    }
    if (failed == CBX_ENOTFOUND) {
        return cbx_fail(err, CBX_ENOTFOUND, "Session not found");
    }
    return failed;
}

/* Records a denial. */
static int judge(struct cbx_job *job, struct cbx_outcome *denial, struct cbx_err *err)
{
    struct cbx_flow *flow = job->service->flow;
    struct cbx_request request = cbx_job_request(job);
    cbx_judgement_done(&job->judgement);
    int failed = cbx_review_judge(flow, &request, &job->judgement, err);
    if (failed == CBX_ESEAL && job->past.len > 0) { /* sealed by workers with another key */
        cbx_service_drop_past(job->service, job->session);
        failed = cbx_job_copy_past(job, err);
        request = cbx_job_request(job);
        if (!failed) {
            failed = cbx_review_judge(flow, &request, &job->judgement, err);
        }
    }
    bool may_run = !failed && (job->judgement.verdict == CBX_ALLOW ||
                               cbx_judgement_is_approved(&job->judgement, &job->approval));
    denial->verdict = CBX_ALLOW;
    if (!failed && !may_run) {
        failed = cbx_review_submit(flow, &request, &job->judgement, NULL, denial, err);
    }
    return failed;
}

/* Proves the request now: the program may begin after its caller has disconnected, its
 * credential has expired, and the process was replaced. Once, for the first judgement: later
 * ones are of the same source. */
static int vouch(struct cbx_job *job, struct cbx_err *err)
{
    if (job->voucher[0] != '\0') {
        return 0;
    }
    cbx_voucher_run(cbx_str_of(job->session),
                    cbx_json_str(json_object_get(job->judgement.decision, "sha256")),
                    job->voucher_subject);
    return cbx_vouch(job->service->flow, CBX_VOUCHER_RUN, job->principal, &job->claims,
                     job->voucher_subject, job->voucher, err);
}

/* --- cells that install ----------------------------------------------------------------------- */

/* `%pip install NAME` in a one-shot, or in the first cell of a session, takes effect before the
 * program starts. Sets *changed if the job must be judged again, with the packages. In a used
 * sandbox the kernel explains this. */
static int install(struct cbx_job *job, bool *changed, struct cbx_outcome *denial,
                   struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) set;
    cbx_buf_init(&set, CBX_PACKAGE_SET_BYTES_MAX);
    const struct cbx_dependencies d = { .list = job->judgement.installs,
                                        .policy = cbx_buf_str(&job->policy),
                                        .language = job->language,
                                        .origin = cbx_str_of(job->origin),
                                        .principal = job->principal,
                                        .claims = &job->claims,
                                        .installed = cbx_asked_packages(&job->asked),
                                        .progress = job->client.progress,
                                        .gone = job->client.gone,
                                        .context = job->client.context };
    *changed = false;
    bool may = cbx_asked_packages(&job->asked).len == 0 &&
               (job->session[0] == '\0' ||
                (cbx_job_is_alone(job) &&
                 cbx_service_session_is_untouched(job->service, job->principal, job->session)));
    int64_t began = cbx_clock_ms();
    int failed = 0;
    if (may) {
        failed = cbx_service_have_dependencies(job->service, &d, &set, denial, err);
    }
    *changed = !failed && denial->verdict == CBX_ALLOW && set.len > 0;
    if (*changed) {
        cbx_asked_set_packages(&job->asked, cbx_buf_str(&set));
        job->installed_ms = cbx_clock_ms() - began + 1;
    }
    return failed;
}

/* The cells after the first one run in the sandbox with its packages. */
static int keep_packages(struct cbx_job *job, struct cbx_err *err)
{
    CBX_AUTO_JSON options = NULL;
    int failed = cbx_store_get_session(job->service->store, job->principal, job->session, NULL,
                                       &options, err);
    if (!failed) {
        cbx_asked_write(&job->asked, options);
        failed = cbx_store_set_options(job->service->store, job->session, options, err);
    }
    return failed;
}

/* Another entry was accepted meanwhile, so this cell is not the first one: it runs with the
 * session's packages. */
static int renew_past(struct cbx_job *job, bool *installed, struct cbx_err *err)
{
    CBX_AUTO_JSON options = NULL;
    int failed = 0;
    if (job->session[0] != '\0') {
        failed = cbx_store_get_session(job->service->store, job->principal, job->session, NULL,
                                       &options, err);
        cbx_asked_set_packages(&job->asked, cbx_json_str(json_object_get(options, "packages")));
        *installed = false;
    }
    if (failed) {
        return failed;
    }
    return cbx_job_copy_past(job, err);
}

/* Judges; a first cell that installs packages is judged again with them. */
static int judge_all(struct cbx_job *job, bool is_first, struct cbx_outcome *denial,
                     bool *installed, struct cbx_err *err)
{
    bool changed = false;
    int failed = judge(job, denial, err);
    if (!failed && denial->verdict == CBX_ALLOW) {
        failed = vouch(job, err);
    }
    if (!failed && denial->verdict == CBX_ALLOW && is_first && job->judgement.installs != NULL) {
        failed = install(job, &changed, denial, err);
    }
    *installed = *installed || changed;
    if (changed) {
        return judge(job, denial, err);
    }
    return failed;
}

static bool is_approved(const struct cbx_job *job)
{
    return job->kind != CBX_ENTRY_RESET && job->judgement.verdict == CBX_ASK &&
           cbx_judgement_is_approved(&job->judgement, &job->approval);
}

/* Accepts the job, unless its session has changed (*accepted). Only the run of an approval uses
 * it up. */
static int enqueue(struct cbx_job *job, bool *accepted, struct cbx_err *err)
{
    struct cbx_decisions *decisions = job->service->decisions;
    bool approved = is_approved(job);
    int failed = 0;
    if (approved) {
        failed = cbx_decisions_use(decisions, job->principal, &job->approval, cbx_clock_ms(), err);
    }
    if (failed) {
        return failed;
    }
    *accepted = cbx_job_enqueue_judged(job);
    if (!*accepted && approved) {
        cbx_decisions_give_back(decisions, job->principal, &job->approval);
    }
    return 0;
}

/* Only its caller's request carries out a reset. */
static struct cbx_str use_voucher(const struct cbx_job *job)
{
    return job->kind == CBX_ENTRY_RESET ? job->claims.proof : cbx_str_of(job->voucher);
}

static int check_cpu(struct cbx_job *job, struct cbx_err *err)
{
    struct cbx_service *service = job->service;
    if (service->shared_quotas != NULL) {
        return cbx_shared_quotas_check_cpu(service->shared_quotas, job, err);
    }
    return cbx_quotas_run(service->quotas, job->principal, cbx_clock_ms(), err);
}

int cbx_job_accept(struct cbx_job *job, struct cbx_outcome *denial, struct cbx_err *err)
{
    enum { TRIES = 20 };
    bool installed = false;
    denial->verdict = CBX_ALLOW;
    int refused = 0;
    if (job->kind == CBX_ENTRY_CELL) {
        refused = check_cpu(job, err);
    }
    if (refused) {
        return refused;
    }
    for (int i = 0; i < TRIES; i++) {
        int failed = 0;
        if (job->kind != CBX_ENTRY_RESET) {
            failed = judge_all(job, i == 0, denial, &installed, err);
        }
        if (failed || denial->verdict != CBX_ALLOW) {
            return failed;
        }
        bool accepted = false;
        failed = enqueue(job, &accepted, err);
        if (failed) {
            return failed;
        }
        if (accepted) {
            job->claims.proof = use_voucher(job);
            job->claims.voucher_subject = cbx_str_of(job->voucher_subject);
            if (installed && job->session[0] != '\0') {
                return keep_packages(job, err);
            }
            return 0;
        }
        failed = renew_past(job, &installed, err);
        if (failed) {
            return failed;
        }
    }
    return cbx_fail(err, CBX_EBUSY,
                    "the session takes too many cells at the same time; try again later");
}
