/* SPDX-License-Identifier: MIT
 * Files of a session's workspace: GET lists or downloads, PUT uploads, DELETE removes. The rest of
 * the URL's path, percent-decoded, is the path in the workspace. */
#include "gateway/front/executor_client.h"
#include "gateway/front/rest/acceptance.h"
#include "gateway/front/service/results.h"

#include "analyzer/lang.h"
#include "policies/base/hex.h"

/* RFC 3986, 2.1. A NUL or a % that is none of an escape is an error. */
static int decode(struct cbx_str text, struct cbx_buf *out, struct cbx_err *err)
{
    for (size_t i = 0; i < text.len; i++) {
        int high = text.p[i] == '%' && i + 2 < text.len ? cbx_hex_value(text.p[i + 1]) : -1;
        int low = high >= 0 ? cbx_hex_value(text.p[i + 2]) : -1;
        if (text.p[i] == '%' && (low < 0 || (high == 0 && low == 0))) {
            return cbx_fail(err, CBX_EINVAL,
                            "the path has a '%%' that begins no escape, or one that is a NUL");
        }
        if (cbx_buf_add_char(out, text.p[i] == '%' ? (char)(high * 16 + low) : text.p[i]) != 0) {
            return cbx_fail(err, CBX_EINVAL, "the path is too long");
        }
        i += text.p[i] == '%' ? 2 : 0;
    }
    return 0;
}

/* Initialises *out with the path in the workspace, from the rest of the URL's path; false when the
 * answer is made. */
static bool read_path(struct cbx_rest_call *call, struct cbx_buf *out)
{
    struct cbx_err err = { 0 };
    cbx_buf_init(out, CBX_REST_PATH_MAX - 1);
    int failed = decode(call->rest_path, out, &err);
    CBX_AUTO_JSON text = failed ? NULL : json_stringn(out->p, out->len);
    if (!failed && text == NULL) {
        failed = cbx_fail(&err, CBX_EINVAL, "the path is not UTF-8");
    }
    if (failed) {
        cbx_rest_fail(call, 0, &err);
    }
    return !failed;
}

/* True when the call succeeded; else the answer is made. */
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
                                        .principal = CBX_SERVICE_PRINCIPAL,
                                        .path = cbx_buf_str(&path) };
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
    struct cbx_get_file_args args = { .session = cbx_str_of(call->id),
                                      .principal = CBX_SERVICE_PRINCIPAL,
                                      .path = cbx_buf_str(&path) };
    int failed = cbx_call_get_file(call->service->flow, &args, CBX_STR(""), &answer, &err);
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

static void answer_put(struct cbx_rest_call *call, struct cbx_str path)
{
    cbx_rest_answer(call, 201,
                    json_pack("{s:o,s:I}", "path", cbx_json_text(path), "size",
                              (json_int_t)call->request->body.len));
}

/* Files that an interpreter would load and no worker can judge. */
static bool is_loadable(struct cbx_str path)
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

/* A file from which a session may load code: it is judged with all that was accepted before it, and
 * what is accepted behind it is judged with it. */
static void put_code(struct cbx_rest_call *call, struct cbx_job *job, const struct cbx_lang *lang,
                     struct cbx_str path)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    job->kind = CBX_ENTRY_FILE;
    cbx_buf_add(&job->path, path);
    cbx_buf_add(&job->source, call->request->body);
    if (!cbx_rest_find_session(call, job, cbx_str_of(call->id))) {
        return;
    }
    snprintf(job->language, sizeof(job->language), "%s", lang->name);
    if (!cbx_rest_accept(call, job)) {
        return;
    }
    int failed = cbx_job_change(job, &outcome, &err);
    if (!failed && outcome.verdict != CBX_ALLOW) {
        cbx_rest_deny(call, &outcome);
    } else if (succeeded(call, failed, &err)) {
        answer_put(call, path);
    }
}

static void put_data(struct cbx_rest_call *call, struct cbx_str path)
{
    struct cbx_err err = { 0 };
    struct cbx_put_file_args args = { .session = cbx_str_of(call->id),
                                      .principal = CBX_SERVICE_PRINCIPAL,
                                      .path = path };
    int failed = cbx_call_put_file(call->service->flow, &args, call->request->body, NULL, &err);
    if (succeeded(call, failed, &err)) {
        answer_put(call, path);
    }
}

void cbx_rest_put_file(struct cbx_rest_call *call)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) path;
    if (!read_path(call, &path)) {
        return;
    }
    const struct cbx_lang *lang = cbx_lang_of_file(path.p);
    if (is_loadable(cbx_buf_str(&path))) {
        cbx_fail(&err, CBX_EINVAL, "'%s' is code that cannot be judged; upload its source, or data",
                 path.p);
        cbx_rest_fail(call, 403, &err);
    } else if (lang == NULL) {
        put_data(call, cbx_buf_str(&path));
    } else {
        struct cbx_job *job = cbx_job_new(call->service);
        put_code(call, job, lang, cbx_buf_str(&path));
        cbx_job_free(job);
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
                                         .principal = CBX_SERVICE_PRINCIPAL,
                                         .path = cbx_buf_str(&path) };
    int failed = cbx_call_delete_file(call->service->flow, &args, CBX_STR(""), NULL, &err);
    if (succeeded(call, failed, &err)) {
        cbx_rest_answer(call, 200, json_pack("{s:s}", "status", "deleted"));
    }
}
