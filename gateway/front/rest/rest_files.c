/* SPDX-License-Identifier: MIT
 * Files of a session's workspace: GET lists or downloads, PUT uploads, DELETE removes. The rest of
 * the URL's path, percent-decoded, is the path in the workspace. */
#include "gateway/front/denial/relaxed.h"
#include "gateway/front/executor_client.h"
#include "gateway/front/jobs/results.h"
#include "gateway/front/rest/rest.h"
#include "gateway/front/service/service_files.h"
#include "gateway/front/uri.h"

/* Initialises *out with the path in the workspace, from the rest of the URL's path; false if the
 * response is made. */
static bool read_path(struct cbx_rest_call *call, struct cbx_buf *out)
{
    struct cbx_err err = { 0 };
    cbx_buf_init(out, CBX_REST_PATH_MAX - 1);
    int failed = cbx_uri_decode(call->rest_path, out, &err);
    if (failed) {
        cbx_rest_fail(call, 0, &err);
    }
    return !failed;
}

/* True if the call succeeded; else the response is made. */
static bool succeeded(struct cbx_rest_call *call, int failed, const struct cbx_err *err)
{
    if (failed) {
        cbx_rest_fail(call, 0, err);
    }
    return !failed;
}

static void list_folder(struct cbx_rest_call *call)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) path;
    CBX_AUTO_DONE(message) answer;
    cbx_message_init(&answer);
    if (!read_path(call, &path)) {
        return;
    }
    struct cbx_list_files_args args = { .session = cbx_str_of(call->id),
                                        .principal = cbx_str_of(cbx_rest_principal(call)),
                                        .path = cbx_buf_str(&path),
                                        .proof = call->claims.proof };
    int failed = cbx_call_list_files(call->service->flow, &args, CBX_STR(""), &answer, &err);
    if (succeeded(call, failed, &err)) {
        cbx_rest_answer(call, 200,
                        json_pack("{s:O,s:O}", "files", json_object_get(answer.header, "files"),
                                  "complete", json_object_get(answer.header, "complete")));
    }
}

static void download(struct cbx_rest_call *call)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) path;
    CBX_AUTO_DONE(message) answer;
    cbx_message_init(&answer);
    if (!read_path(call, &path)) {
        return;
    }
    int failed = cbx_service_get_file(call->service, call->request->caller, &call->claims,
                                      cbx_str_of(call->id), cbx_buf_str(&path), &answer, &err);
    if (succeeded(call, failed, &err)) {
        call->response->status = 200;
        call->response->bytes_len = answer.bytes.len;
        call->response->bytes = cbx_buf_take(&answer.bytes);
        call->response->type = cbx_media_type_served(path.p);
        call->response->attachment = cbx_buf_take(&path);
    }
}

void cbx_rest_get_file(struct cbx_rest_call *call)
{
    bool folder = call->rest_path.len == 0;
    while (call->rest_path.len > 0 && call->rest_path.p[call->rest_path.len - 1] == '/') {
        call->rest_path.len--;
        folder = true;
    }
    if (folder) {
        list_folder(call);
    } else {
        download(call);
    }
}

void cbx_rest_put_file(struct cbx_rest_call *call)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) path;
    CBX_AUTO_DONE(outcome) denial = { 0 };
    if (!read_path(call, &path)) {
        return;
    }
    int failed = cbx_service_put_file(call->service, cbx_rest_principal(call), call->id, path.p,
                                      call->request->body, "rest", &call->claims, &denial, &err);
    if (failed) {
        cbx_rest_fail(call, failed == CBX_EPOLICY ? 403 : 0, &err);
    } else if (denial.verdict != CBX_ALLOW) {
        cbx_rest_deny(call, &denial);
    } else {
        json_t *file = json_pack("{s:o,s:I}", "path", cbx_json_text(cbx_buf_str(&path)), "size",
                                 (json_int_t)call->request->body.len);
        cbx_relaxed_warn(denial.decision, file);
        cbx_rest_answer(call, 201, file);
    }
}

void cbx_rest_delete_file(struct cbx_rest_call *call)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) path;
    if (!read_path(call, &path)) {
        return;
    }
    struct cbx_delete_file_args args = { .session = cbx_str_of(call->id),
                                         .principal = cbx_str_of(cbx_rest_principal(call)),
                                         .path = cbx_buf_str(&path),
                                         .proof = call->claims.proof,
                                         .credential = cbx_str_of(call->claims.credential) };
    int failed = cbx_call_delete_file(call->service->flow, &args, CBX_STR(""), NULL, &err);
    if (succeeded(call, failed, &err)) {
        cbx_rest_answer(call, 200, json_pack("{s:s}", "status", "deleted"));
    }
}
