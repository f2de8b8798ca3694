/* SPDX-License-Identifier: MIT
 * Files. */
#include "gateway/front/service/service_files.h"

#include "analyzer/lang/lang.h"
#include "gateway/front/executor_client.h"
#include "gateway/front/jobs/job_change.h"
#include "gateway/front/service/accept.h"

bool cbx_service_is_loadable(struct cbx_str path)
{
    static const char *const endings[] = { ".pyc", ".pyo", ".so",   ".pyd",  ".pth",
                                           ".egg", ".whl", ".node", ".wasm", ".jar" };
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        struct cbx_str ending = cbx_str_of(endings[i]);
        if (path.len >= ending.len &&
            strncasecmp(path.p + path.len - ending.len, ending.p, ending.len) == 0) {
            return true;
        }
    }
    return false;
}

/* A file from which a session may load code: later entries are judged with it. */
static int put_code(struct cbx_job *job, const struct cbx_lang *lang, const char *session,
                    struct cbx_outcome *denial, struct cbx_err *err)
{
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    job->kind = CBX_ENTRY_FILE;
    int failed = cbx_job_join(job, cbx_str_of(session), err);
    if (failed) {
        return failed;
    }
    snprintf(job->language, sizeof(job->language), "%s", lang->name);
    failed = cbx_job_accept(job, denial, err);
    if (failed || denial->verdict != CBX_ALLOW) {
        return failed;
    }
    failed = cbx_job_change(job, &outcome, err);
    if (!failed) {
        *denial = outcome;
        outcome = (struct cbx_outcome){ 0 };
    }
    return failed;
}

static int put_data(struct cbx_service *service, const char *principal, const char *session,
                    const char *path, struct cbx_str bytes, const struct cbx_claims *claims,
                    struct cbx_err *err)
{
    struct cbx_put_file_args args = {
        .session = cbx_str_of(session),
        .principal = cbx_str_of(principal),
        .path = cbx_str_of(path),
        .proof = claims->proof,
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)
#define CBX_CLAIM(member, max_bytes, meaning) .member = cbx_str_of(claims->member),
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
    };
    return cbx_call_put_file(service->flow, &args, bytes, NULL, err);
}

int cbx_service_put_file(struct cbx_service *service, const char *principal, const char *session,
                         const char *path, struct cbx_str bytes, const char *origin,
                         const struct cbx_claims *claims, struct cbx_outcome *denial,
                         struct cbx_err *err)
{
    static const struct cbx_claims none;
    claims = claims != NULL ? claims : &none;
    const struct cbx_lang *lang = cbx_lang_of_file(path);
    denial->verdict = CBX_ALLOW;
    if (cbx_service_is_loadable(cbx_str_of(path))) {
        return cbx_fail(err, CBX_EPOLICY,
                        "'%s' is code that cannot be judged; upload its source, or data", path);
    }
    if (lang == NULL) {
        return put_data(service, principal, session, path, bytes, claims, err);
    }
    struct cbx_job *job = cbx_job_new(service, principal);
    job->origin = origin;
    job->claims = *claims;
    cbx_buf_add_cstr(&job->path, path);
    cbx_buf_add(&job->source, bytes);
    int failed = put_code(job, lang, session, denial, err);
    cbx_job_free(job);
    return failed;
}

int cbx_service_get_file(struct cbx_service *service, const struct cbx_caller *caller,
                         const struct cbx_claims *claims, struct cbx_str session,
                         struct cbx_str path, struct cbx_message *answer, struct cbx_err *err)
{
    static const struct cbx_claims none;
    claims = claims != NULL ? claims : &none;
    struct cbx_get_file_args args = {
        .session = session,
        .principal = cbx_str_of(caller->principal),
        .path = path,
        .proof = caller->proof,
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)
#define CBX_CLAIM(member, max_bytes, meaning) .member = cbx_str_of(claims->member),
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
    };
    return cbx_call_get_file(service->flow, &args, CBX_STR(""), answer, err);
}
