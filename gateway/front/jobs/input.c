/* SPDX-License-Identifier: MIT
 * Standard input of executions. One call at a time sends bytes to a run, so that they arrive in
 * the order in which they were accepted. */
#include "gateway/front/jobs/input.h"

#include "docker/result.h"
#include "gateway/front/executor_client.h"
#include "gateway/front/jobs/live.h"
#include "policies/base/log.h"
#include "policies/base/text/base64.h"

#include <string.h>

static int fail_large(size_t bytes, struct cbx_err *err)
{
    return cbx_fail(err, CBX_ETOOBIG,
                    "the standard input has %zu bytes, allowed are %d that the program has not "
                    "read; \"input\": \"stream\" and POST /v1/executions/ID/input take more, piece "
                    "by piece",
                    bytes, CBX_INPUT_WAITING_MAX);
}

void cbx_input_init(struct cbx_job *job)
{
    cbx_buf_init(&job->input.bytes, CBX_INPUT_WAITING_MAX);
    cbx_buf_init(&job->input.later, CBX_INPUT_WAITING_MAX);
    cbx_buf_init(&job->input.proof, CBX_PROOF_BYTES_MAX);
}

int cbx_input_give(struct cbx_job *job, const struct cbx_input_wanted *wanted, struct cbx_err *err)
{
    struct cbx_job_input *in = &job->input;
    bool has = wanted->text.p != NULL || wanted->base64.p != NULL || wanted->streams;
    if (wanted->text.p != NULL && wanted->base64.p != NULL) {
        return cbx_fail(err, CBX_EINVAL,
                        "'stdin' and 'stdin_base64' are both given, allowed is one of them");
    }
    if (has && job->interactive) {
        return cbx_fail(err, CBX_EINVAL,
                        "the program has a standard input, so it cannot be 'interactive': its "
                        "questions would have two answers");
    }
    in->has = has;
    in->streams = wanted->streams;
    if (wanted->base64.len / 4 * 3 > CBX_INPUT_WAITING_MAX) {
        return fail_large(wanted->base64.len / 4 * 3, err);
    }
    if (wanted->base64.p != NULL && !cbx_base64_decode(wanted->base64, &in->bytes)) {
        return cbx_fail(err, CBX_EINVAL, "'stdin_base64' is no Base64");
    }
    cbx_buf_add(&in->bytes, wanted->text);
    if (in->bytes.overflow) {
        return fail_large(wanted->text.len, err);
    }
    return 0;
}

void cbx_input_done(struct cbx_job *job)
{
    cbx_buf_done(&job->input.bytes);
    cbx_buf_done(&job->input.later);
    cbx_buf_done(&job->input.proof);
}

/* --- while it is queued or runs --------------------------------------------------------------- */

/* With the lock: returns the job, once no other call sends to its run. NULL if it has ended. */
static struct cbx_job *await_turn(struct cbx_service *service, const struct cbx_input_part *part)
{
    struct cbx_job *job;
    while ((job = cbx_live_find(service, part->principal, part->id)) != NULL && job->input.busy) {
        pthread_cond_wait(&service->queue_changed, &service->lock);
    }
    return job;
}

static int check(const struct cbx_job *job, struct cbx_err *err)
{
    if (job == NULL) {
        return cbx_fail(err, CBX_ESTATE, "the execution is over");
    }
    if (!job->input.streams) {
        return cbx_fail(err, CBX_ESTATE,
                        "the execution takes no more input: it was created without \"input\": "
                        "\"stream\"");
    }
    if (job->input.ended) {
        return cbx_fail(err, CBX_ESTATE, "the input of the execution has ended");
    }
    return 0;
}

/* With the lock: queues the bytes until the run begins. */
static int keep(struct cbx_job_input *in, const struct cbx_input_part *part, struct cbx_err *err)
{
    if (part->bytes.len > CBX_INPUT_WAITING_MAX - in->later.len) {
        return cbx_fail(err, CBX_ETOOBIG,
                        "%zu bytes of standard input, beside %zu that wait because the execution "
                        "has not begun, allowed are %d",
                        part->bytes.len, in->later.len, CBX_INPUT_WAITING_MAX);
    }
    cbx_buf_add(&in->later, part->bytes);
    cbx_buf_reset(&in->proof);
    cbx_buf_add(&in->proof, part->proof);
    in->ended = part->end;
    return 0;
}

static int send_part(struct cbx_service *service, const char *run,
                     const struct cbx_input_part *part, struct cbx_err *err)
{
    const struct cbx_feed_args args = { .run = cbx_str_of(run),
                                        .principal = cbx_str_of(part->principal),
                                        .proof = part->proof,
                                        .end = part->end };
    int failed = cbx_call_feed(service->flow, &args, part->bytes, NULL, err);
    if (failed == CBX_ENOTFOUND) {
        return cbx_fail(err, CBX_ESTATE, "the execution is over");
    }
    return failed;
}

int cbx_input_feed(struct cbx_service *service, const struct cbx_input_part *part,
                   struct cbx_err *err)
{
    char run[CBX_ID_CHARS + 1] = "";
    pthread_mutex_lock(&service->lock);
    struct cbx_job *job = await_turn(service, part);
    int failed = check(job, err);
    bool begun = !failed && job->begun;
    if (!failed && !begun) {
        failed = keep(&job->input, part, err);
    }
    if (begun) {
        job->input.busy = true;
        memcpy(run, job->run, sizeof(run));
    }
    pthread_mutex_unlock(&service->lock);
    if (!begun) {
        return failed;
    }
    failed = send_part(service, run, part, err);
    pthread_mutex_lock(&service->lock);
    job = cbx_live_find(service, part->principal, part->id); /* it may have ended */
    if (job != NULL) {
        job->input.busy = false;
        job->input.ended = part->end && !failed;
        pthread_cond_broadcast(&service->queue_changed);
    }
    pthread_mutex_unlock(&service->lock);
    return failed;
}

bool cbx_input_begin(struct cbx_job *job)
{
    struct cbx_job_input *in = &job->input;
    in->busy = in->streams && (in->later.len > 0 || in->ended);
    return in->busy;
}

void cbx_input_flush(struct cbx_job *job)
{
    struct cbx_service *service = job->service;
    struct cbx_job_input *in = &job->input; /* no other thread changes it while it is busy */
    const struct cbx_input_part part = { .principal = job->principal,
                                         .id = job->id,
                                         .proof = cbx_buf_str(&in->proof),
                                         .bytes = cbx_buf_str(&in->later),
                                         .end = in->ended };
    struct cbx_err err = { 0 };
    int failed = send_part(service, job->run, &part, &err);
    pthread_mutex_lock(&service->lock);
    in->busy = false;
    cbx_buf_reset(&in->later);
    pthread_cond_broadcast(&service->queue_changed);
    pthread_mutex_unlock(&service->lock);
    /* the program must not take a part of it as the complete input */
    if (failed && failed != CBX_ESTATE) {
        bool began;
        cbx_log(CBX_LOG_ERROR, "execution %s: its standard input is lost: %s", job->id, err.text);
        cbx_live_cancel(service, job->principal, job->id, &began, NULL);
    }
}
