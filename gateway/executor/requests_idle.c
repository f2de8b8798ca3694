/* SPDX-License-Identifier: MIT
 * Calls of executor.def in a session that no run is in: IDLE rows. */
#include "gateway/executor/executor_internal.h"
#include "gateway/executor/requests_internal.h"

int cbx_serve_reset(struct cbx_executor_request *r, struct cbx_sandbox *sandbox,
                    const struct cbx_reset_args *args, struct cbx_str bytes, struct cbx_err *err)
{
    (void)bytes;
    struct cbx_sha256 ledger;
    if (!cbx_sha256_from_hex(args->ledger, &ledger)) {
        return cbx_fail(err, CBX_EINVAL, "the ledger is no SHA-256 in hexadecimal digits");
    }
    r->ledger = *cbx_sandbox_ledger(sandbox);
    json_t *body = json_pack("{s:s,s:s,s:s}", "session", args->session.p, "principal",
                             args->principal.p, "ledger", args->ledger.p);
    cbx_claim_write("credential", args->credential, body);
    int failed = cbx_executor_record(r->executor, "reset", body, err);
    if (failed) {
        return failed;
    }
    failed = cbx_sandbox_reset(sandbox, &ledger, err);
    if (failed) {
        return failed;
    }
    cbx_sandbox_warm(sandbox);
    return cbx_executor_answer_done(r, err);
}

/* The file is data: code is never loaded from it. A file that code may be loaded from comes with
 * a decision (submit). */
static int record_upload(struct cbx_executor *e, const struct cbx_put_file_args *args,
                         struct cbx_str bytes, struct cbx_err *err)
{
    char hex[CBX_SHA256_HEX + 1];
    struct cbx_sha256 hash = cbx_sha256_of(bytes);
    cbx_sha256_hex(&hash, hex);
    json_t *body = json_pack("{s:s,s:s,s:s,s:s,s:I}", "session", args->session.p, "principal",
                             args->principal.p, "path", args->path.p, "sha256", hex, "size",
                             (json_int_t)bytes.len);
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)
#define CBX_CLAIM(member, max_bytes, meaning) cbx_claim_write(#member, args->member, body);
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
    return cbx_executor_record(e, "upload", body, err);
}

static int record_reading(struct cbx_executor *e, const struct cbx_get_file_args *args,
                          struct cbx_err *err)
{
    json_t *body = json_pack("{s:s,s:s,s:s}", "session", args->session.p, "principal",
                             args->principal.p, "path", args->path.p);
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)
#define CBX_CLAIM(member, max_bytes, meaning) cbx_claim_write(#member, args->member, body);
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
    return cbx_executor_record(e, "download", body, err);
}

int cbx_serve_put_file(struct cbx_executor_request *r, struct cbx_sandbox *sandbox,
                       const struct cbx_put_file_args *args, struct cbx_str bytes,
                       struct cbx_err *err)
{
    int failed = record_upload(r->executor, args, bytes, err);
    if (failed) {
        return failed;
    }
    failed = cbx_sandbox_put(sandbox, args->path, bytes, err);
    if (failed) {
        return failed;
    }
    return cbx_executor_answer_done(r, err);
}

int cbx_serve_get_file(struct cbx_executor_request *r, struct cbx_sandbox *sandbox,
                       const struct cbx_get_file_args *args, struct cbx_str bytes,
                       struct cbx_err *err)
{
    (void)bytes;
    CBX_AUTO_DONE(buf) content;
    cbx_buf_init(&content, CBX_WIRE_BYTES_MAX);
    int failed = record_reading(r->executor, args, err);
    if (failed) {
        return failed;
    }
    failed = cbx_sandbox_get(sandbox, args->path, &content, err);
    CBX_AUTO_DONE(buf) clean;
    cbx_buf_init(&clean, CBX_WIRE_BYTES_MAX);
    if (!failed && r->executor->grants.redactor != NULL) {
        cbx_redact_text(r->executor->grants.redactor, cbx_buf_str(&content), &clean);
        if (clean.overflow) {
            failed = cbx_fail(err, CBX_ETOOBIG, "the file is too large");
        }
    }
    struct cbx_str bytes_out =
        cbx_buf_str(r->executor->grants.redactor != NULL ? &clean : &content);
    if (failed) {
        return failed;
    }
    return cbx_executor_answer(r, cbx_reply_json(CBX_REPLY_DONE), bytes_out, err);
}

int cbx_serve_list_files(struct cbx_executor_request *r, struct cbx_sandbox *sandbox,
                         const struct cbx_list_files_args *args, struct cbx_str bytes,
                         struct cbx_err *err)
{
    (void)bytes;
    json_t *list;
    bool complete;
    int failed = cbx_sandbox_list(sandbox, args->path, &list, &complete, err);
    if (failed) {
        return failed;
    }
    json_t *header = cbx_reply_json(CBX_REPLY_DONE);
    if (r->executor->grants.redactor != NULL) {
        json_t *clean = cbx_redact_json(r->executor->grants.redactor, list);
        json_decref(list);
        list = clean;
    }
    json_object_set_new(header, "files", list);
    json_object_set_new(header, "complete", json_boolean(complete));
    return cbx_executor_answer(r, header, CBX_STR(""), err);
}

int cbx_serve_delete_file(struct cbx_executor_request *r, struct cbx_sandbox *sandbox,
                          const struct cbx_delete_file_args *args, struct cbx_str bytes,
                          struct cbx_err *err)
{
    (void)bytes;
    json_t *body = json_pack("{s:s,s:s,s:s}", "session", args->session.p, "principal",
                             args->principal.p, "path", args->path.p);
    cbx_claim_write("credential", args->credential, body);
    int failed = cbx_executor_record(r->executor, "deletion", body, err);
    if (failed) {
        return failed;
    }
    failed = cbx_sandbox_delete(sandbox, args->path, err);
    if (failed) {
        return failed;
    }
    return cbx_executor_answer_done(r, err);
}
