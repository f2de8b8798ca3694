/* SPDX-License-Identifier: MIT
 * A client's claims, for the audit log. */
#include "gateway/front/claims.h"

#define META_CLIENT "io.modelcontextprotocol/clientInfo"
#define META_TRACE  "traceparent"

/* Copies at most size - 1 bytes, whole characters, up to a NUL. */
static void copy_text(struct cbx_str text, char *out, size_t size)
{
    struct cbx_str cut = cbx_str_cut(text, size - 1);
    snprintf(out, size, "%.*s", CBX_STR_ARG(cut));
}
#define COPY_TEXT(text, member) copy_text(text, member, sizeof(member))

void cbx_claims_read_client(const json_t *client_info, struct cbx_claims *claims)
{
    COPY_TEXT(cbx_json_str(json_object_get(client_info, "name")), claims->claimed_client);
    COPY_TEXT(cbx_json_str(json_object_get(client_info, "version")),
              claims->claimed_client_version);
}

/* --- W3C Trace Context ------------------------------------------------------------------------ */

static bool is_hex(struct cbx_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i];
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) {
            return false;
        }
    }
    return true;
}

static bool is_zero(struct cbx_str text)
{
    size_t i = 0;
    while (i < text.len && text.p[i] == '0') {
        i++;
    }
    return i == text.len;
}

/* VERSION-TRACE-PARENT-FLAGS of 2, 32, 16 and 2 lower-case digits. Version 00 has no more
 * fields; a later one may have more, after another dash. */
static bool is_traceparent(struct cbx_str text)
{
    enum { BYTES = 55 };
    if (text.len < BYTES || text.p[2] != '-' || text.p[35] != '-' || text.p[52] != '-') {
        return false;
    }
    struct cbx_str version = cbx_str_sub(text, 0, 2), trace = cbx_str_sub(text, 3, 35),
                   parent = cbx_str_sub(text, 36, 52), flags = cbx_str_sub(text, 53, BYTES);
    bool ends = text.len == BYTES || (text.p[BYTES] == '-' && !cbx_str_is(version, "00"));
    return ends && is_hex(version) && !cbx_str_is(version, "ff") && is_hex(trace) &&
           !is_zero(trace) && is_hex(parent) && !is_zero(parent) && is_hex(flags);
}

/* --- requests --------------------------------------------------------------------------------- */

static struct cbx_str find_tool_use(const json_t *meta)
{
    static const char *const members[] = {
#define CBX_TOOL_USE(member, client) member,
#include "gateway/front/claims.def"
#undef CBX_TOOL_USE
    };
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        struct cbx_str text = cbx_json_str(json_object_get(meta, members[i]));
        if (text.len > 0) {
            return text;
        }
    }
    return CBX_STR("");
}

void cbx_claims_read_request(const char *id, const json_t *meta, struct cbx_claims *claims)
{
    const json_t *client = json_object_get(meta, META_CLIENT);
    struct cbx_str trace = cbx_json_str(json_object_get(meta, META_TRACE));
    if (client != NULL) {
        cbx_claims_read_client(client, claims);
    }
    COPY_TEXT(cbx_str_of(id), claims->claimed_request);
    if (is_traceparent(trace)) {
        COPY_TEXT(trace, claims->claimed_trace);
    }
    COPY_TEXT(find_tool_use(meta), claims->claimed_tool_use);
}

void cbx_claims_read_http(const struct cbx_http_request *request, struct cbx_claims *claims)
{
    COPY_TEXT(cbx_str_of(request->address != NULL ? request->address : ""), claims->address);
    COPY_TEXT(cbx_str_of(request->id != NULL ? request->id : ""), claims->request_id);
    if (is_traceparent(request->trace)) {
        COPY_TEXT(request->trace, claims->claimed_trace);
    }
}

void cbx_claims_prove(const struct cbx_caller *caller, struct cbx_claims *claims)
{
    COPY_TEXT(cbx_str_of(caller->credential), claims->credential);
    claims->proof = caller->proof;
}

void cbx_claims_write(const struct cbx_claims *claims, json_t *into)
{
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)
#define CBX_CLAIM(member, max_bytes, meaning)                                                      \
    cbx_claim_write(#member, cbx_str_of(claims->member), into);
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
}

void cbx_claims_read(const json_t *from, struct cbx_claims *claims)
{
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)
#define CBX_CLAIM(member, max_bytes, meaning)                                                      \
    COPY_TEXT(cbx_json_str(json_object_get(from, #member)), claims->member);
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
}

void cbx_claims_lend(const struct cbx_claims *claims, struct cbx_subject *subject)
{
    if (claims == NULL) {
        return;
    }
    subject->proof = claims->proof;
    subject->voucher_subject = claims->voucher_subject;
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)
#define CBX_CLAIM(member, max_bytes, meaning) subject->member = cbx_str_of(claims->member);
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
}
