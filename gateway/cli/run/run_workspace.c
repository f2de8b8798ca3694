/* SPDX-License-Identifier: MIT
 * The workspace of a program with files. */
#include "gateway/cli/run/run_workspace.h"

#include "analyzer/lang/lang.h"
#include "gateway/front/executor_client.h"
#include "gateway/front/service/service.h"
#include "gateway/front/service/service_files.h"
#include "gateway/ipc/wire/ipc_wire.h"

void cbx_run_workspace_init(struct cbx_run_workspace *workspace, struct cbx_flow *flow,
                            const struct cbx_uploads *uploads, struct cbx_request *request)
{
    *workspace = (struct cbx_run_workspace){ .flow = flow,
                                             .uploads = uploads,
                                             .principal = request->subject.principal };
    cbx_buf_init(&workspace->past, CBX_WIRE_BYTES_MAX);
    if (uploads->count > 0) {
        cbx_uuid_make(workspace->session);
        request->subject.session = cbx_str_of(workspace->session);
    }
}

/* Copies the parts of the program's request that hold for its session and its files too. */
static struct cbx_request request_for(const struct cbx_request *program, enum cbx_action action)
{
    struct cbx_request request = { .policy = program->policy };
    request.subject = (struct cbx_subject){ .action = action,
                                            .language = program->subject.language,
                                            .principal = program->subject.principal,
                                            .session = program->subject.session,
                                            .origin = program->subject.origin };
    return request;
}

static int open_session(struct cbx_run_workspace *workspace, const struct cbx_request *program,
                        struct cbx_outcome *denial, struct cbx_err *err)
{
    struct cbx_request request = request_for(program, CBX_ACTION_OPEN);
    struct cbx_asked asked = *cbx_subject_asked(&program->subject); /* borrowed */
    asked.arguments = NULL;
    request.subject.asked = &asked;
    int failed = cbx_review(workspace->flow, &request, NULL, denial, err);
    if (failed || denial->verdict != CBX_ALLOW) {
        return failed;
    }
    workspace->open = true;
    cbx_outcome_acknowledge(workspace->flow, denial);
    return 0;
}

static int put_data(struct cbx_run_workspace *workspace, const struct cbx_request *program,
                    const struct cbx_upload *upload, struct cbx_err *err)
{
    const struct cbx_put_file_args args = { .session = program->subject.session,
                                            .principal = program->subject.principal,
                                            .path = cbx_str_of(upload->path) };
    return cbx_call_put_file(workspace->flow, &args, cbx_buf_str(&upload->bytes), NULL, err);
}

/* Judges a file of code after the files before it. A denial is recorded; an allowed file is
 * written if `writes`. */
static int put_code(struct cbx_run_workspace *workspace, const struct cbx_request *program,
                    const struct cbx_upload *upload, const char *language, bool writes,
                    struct cbx_outcome *denial, struct cbx_err *err)
{
    CBX_AUTO_DONE(judgement) judgement = { 0 };
    struct cbx_request request = request_for(program, CBX_ACTION_FILE);
    request.subject.language = cbx_str_of(language);
    request.subject.path = cbx_str_of(upload->path);
    request.subject.past = cbx_buf_str(&workspace->past);
    request.source = cbx_buf_str(&upload->bytes);
    int failed = cbx_review_judge(workspace->flow, &request, &judgement, err);
    if (failed) {
        return failed;
    }
    if (writes || judgement.verdict != CBX_ALLOW) {
        failed = cbx_review_submit(workspace->flow, &request, &judgement, NULL, denial, err);
    }
    if (failed) {
        return failed;
    }
    if (denial->verdict != CBX_ALLOW) {
        workspace->denied = upload;
        return 0;
    }
    cbx_outcome_acknowledge(workspace->flow, denial);
    cbx_buf_reset(&workspace->past);
    cbx_buf_add(&workspace->past, cbx_buf_str(&judgement.past));
    return 0;
}

static int put(struct cbx_run_workspace *workspace, const struct cbx_request *program,
               const struct cbx_upload *upload, bool writes, struct cbx_outcome *denial,
               struct cbx_err *err)
{
    const struct cbx_lang *lang = cbx_lang_of_file(upload->path);
    if (cbx_service_is_loadable(cbx_str_of(upload->path))) {
        return cbx_fail(err, CBX_EPOLICY,
                        "it is code that cannot be judged; give its source, or data");
    }
    if (lang != NULL) {
        return put_code(workspace, program, upload, lang->name, writes, denial, err);
    }
    if (writes) {
        return put_data(workspace, program, upload, err);
    }
    return 0;
}

/* Handles the files in their order, up to the first denied one. */
static int put_all(struct cbx_run_workspace *workspace, struct cbx_request *program, bool writes,
                   struct cbx_outcome *denial, struct cbx_err *err)
{
    cbx_buf_reset(&workspace->past);
    for (size_t i = 0; i < workspace->uploads->count; i++) {
        const struct cbx_upload *upload = &workspace->uploads->items[i];
        cbx_outcome_done(denial);
        *denial = (struct cbx_outcome){ .verdict = CBX_ALLOW };
        int failed = put(workspace, program, upload, writes, denial, err);
        if (failed) {
            return cbx_wrap(err, "%s", upload->shown);
        }
        if (denial->verdict != CBX_ALLOW) {
            return 0;
        }
    }
    program->subject.past = cbx_buf_str(&workspace->past);
    return 0;
}

int cbx_run_workspace_judge(struct cbx_run_workspace *workspace, struct cbx_request *request,
                            struct cbx_outcome *denial, struct cbx_err *err)
{
    denial->verdict = CBX_ALLOW;
    return put_all(workspace, request, false, denial, err);
}

int cbx_run_workspace_fill(struct cbx_run_workspace *workspace, struct cbx_request *request,
                           struct cbx_outcome *denial, struct cbx_err *err)
{
    int failed = open_session(workspace, request, denial, err);
    if (failed || denial->verdict != CBX_ALLOW) {
        return failed;
    }
    return put_all(workspace, request, true, denial, err);
}

void cbx_run_workspace_done(struct cbx_run_workspace *workspace)
{
    if (workspace->open) {
        const struct cbx_close_args args = { .session = cbx_str_of(workspace->session),
                                             .principal = workspace->principal };
        cbx_call_close(workspace->flow, &args, CBX_STR(""), NULL, NULL);
    }
    cbx_buf_done(&workspace->past);
}
