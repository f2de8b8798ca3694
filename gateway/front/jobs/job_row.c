/* SPDX-License-Identifier: MIT
 * A job as a row of the store. */
#include "gateway/front/jobs/job_row.h"

#include "gateway/front/service/shared_quotas.h"

static json_t *describe_request(const struct cbx_job *job)
{
    json_t *request = json_object();
    json_object_set_new(request, "policy", cbx_json_text(cbx_buf_str(&job->policy)));
    json_object_set_new(request, "interactive", json_boolean(job->interactive));
    json_object_set_new(request, "input", json_boolean(job->input.has));
    if (job->approval.client[0] != '\0') {
        json_object_set_new(request, "approved_client", json_string(job->approval.client));
        json_object_set_new(request, "approved_version", json_string(job->approval.client_version));
    }
    if (job->approval.approver[0] != '\0') {
        json_object_set_new(request, "approved_principal", json_string(job->approval.approver));
    }
    cbx_asked_write(&job->asked, request);
    json_object_set_new(request, "origin", json_string(job->origin));
    if (job->voucher[0] != '\0') {
        json_object_set_new(request, "voucher", json_string(job->voucher));
        json_object_set_new(request, "voucher_subject", json_string(job->voucher_subject));
    }
    cbx_claims_write(&job->claims, request);
    return request;
}

/* The job as a row of the store; `now` and `request` are borrowed. */
static struct cbx_stored_execution row_of(const struct cbx_job *job, const char *now,
                                          const json_t *request)
{
    return (struct cbx_stored_execution){ .principal = job->principal,
                                          .id = job->id,
                                          .session = job->session,
                                          .created_at = now,
                                          .decision = job->decision,
                                          .language = job->language,
                                          .code = job->source.p,
                                          .request = request,
                                          .kind = job->kind,
                                          .name = job->path.p,
                                          .turn = job->turn };
}

int cbx_job_store(struct cbx_job *job, struct cbx_err *err)
{
    char now[32];
    cbx_service_now(now);
    CBX_AUTO_JSON request = describe_request(job);
    struct cbx_stored_execution stored = row_of(job, now, request);
    struct cbx_shared_quotas *shared = job->service->shared_quotas;
    if (shared != NULL && job->kind == CBX_ENTRY_CELL) {
        return cbx_shared_quotas_add_execution(shared, job, &stored, err);
    }
    return cbx_store_add_execution(job->service->store, &stored, err);
}
