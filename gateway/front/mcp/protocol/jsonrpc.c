/* SPDX-License-Identifier: MIT
 * JSON-RPC 2.0 as MCP uses it. */
#include "gateway/front/mcp/protocol/jsonrpc.h"

#include "policies/base/auto.h"
#include "policies/base/memory.h"

#include <stdlib.h>

void cbx_rpc_message_done(struct cbx_rpc_message *message)
{
    json_decref(message->json);
    *message = (struct cbx_rpc_message){ 0 };
}

static int refuse(struct cbx_err *err, const char *what)
{
    cbx_fail(err, CBX_EINVAL, "%s", what);
    return CBX_RPC_INVALID_REQUEST;
}

static int read_id(struct cbx_rpc_message *out, struct cbx_err *err)
{
    const json_t *id = json_object_get(out->json, "id");
    if (id == NULL) {
        return 0;
    }
    if (!json_is_string(id) && !json_is_integer(id)) {
        return refuse(err, "the id must be a string or an integer");
    }
    size_t bytes = json_dumpb(id, out->id, CBX_RPC_ID_MAX, JSON_ENCODE_ANY);
    if (bytes > CBX_RPC_ID_MAX) {
        out->id[0] = '\0';
        cbx_fail(err, CBX_EINVAL, "the id has %zu bytes, allowed are 1..%d", bytes, CBX_RPC_ID_MAX);
        return CBX_RPC_INVALID_REQUEST;
    }
    out->id[bytes] = '\0';
    return 0;
}

static int check_shape(const json_t *json, struct cbx_err *err)
{
    if (json_is_array(json)) {
        return refuse(err, "batches are not accepted, send one message per line");
    }
    if (!json_is_object(json)) {
        return refuse(err, "a message is a JSON object");
    }
    return 0;
}

static int read_call(struct cbx_rpc_message *out, struct cbx_err *err)
{
    const json_t *params = json_object_get(out->json, "params");
    if (params != NULL && !json_is_object(params)) {
        cbx_fail(err, CBX_EINVAL, "params must be an object");
        return out->id[0] != '\0' ? CBX_RPC_INVALID_PARAMS : CBX_RPC_INVALID_REQUEST;
    }
    out->params = params;
    out->method = cbx_json_str(json_object_get(out->json, "method"));
    out->kind = out->id[0] != '\0' ? CBX_RPC_REQUEST : CBX_RPC_NOTIFICATION;
    return 0;
}

static int read_kind(struct cbx_rpc_message *out, struct cbx_err *err)
{
    const json_t *method = json_object_get(out->json, "method");
    bool answers =
        json_object_get(out->json, "result") != NULL || json_object_get(out->json, "error") != NULL;
    if (!cbx_str_is(cbx_json_str(json_object_get(out->json, "jsonrpc")), "2.0")) {
        return refuse(err, "jsonrpc must be \"2.0\"");
    }
    if (answers && method == NULL) {
        out->kind = CBX_RPC_RESPONSE;
        return 0;
    }
    if (answers || !json_is_string(method) || json_string_length(method) == 0) {
        return refuse(err,
                      "a request has a method, which is a string, and neither result nor error");
    }
    return read_call(out, err);
}

/* Parses a copy of the line with unpaired surrogates replaced; returns `failed` if it has none. */
static int parse_replaced(struct cbx_str line, int failed, struct cbx_rpc_message *out,
                          struct cbx_err *err)
{
    CBX_AUTO_MEM char *copy = cbx_str_copy(line);
    if (cbx_unpaired_replace(copy, line.len, &out->unpaired)) {
        return cbx_json_parse((struct cbx_str){ .p = copy, .len = line.len }, CBX_RPC_LINE_MAX,
                              &out->json, err);
    }
    return failed;
}

static int parse(struct cbx_str line, struct cbx_rpc_message *out, struct cbx_err *err)
{
    struct cbx_err why = { 0 };
    if (line.len > CBX_RPC_LINE_MAX) {
        return cbx_rpc_refuse_long(line.len, err);
    }
    int failed = cbx_json_parse(line, CBX_RPC_LINE_MAX, &out->json, &why);
    failed = failed == CBX_EINVAL ? parse_replaced(line, failed, out, &why) : failed;
    if (failed) {
        *err = why;
        return failed == CBX_ETOOBIG ? CBX_RPC_INVALID_REQUEST : CBX_RPC_PARSE_ERROR;
    }
    return 0;
}

int cbx_rpc_read(struct cbx_str line, struct cbx_rpc_message *out, struct cbx_err *err)
{
    *out = (struct cbx_rpc_message){ 0 };
    int failed = parse(line, out, err);
    if (failed) {
        return failed;
    }
    failed = check_shape(out->json, err);
    if (failed) {
        return failed;
    }
    failed = read_id(out, err);
    if (failed) {
        return failed;
    }
    return read_kind(out, err);
}

int cbx_rpc_refuse_long(uint64_t bytes, struct cbx_err *err)
{
    cbx_fail(err, CBX_ETOOBIG, "the message has %llu bytes, allowed are %d",
             (unsigned long long)bytes, CBX_RPC_LINE_MAX);
    return CBX_RPC_INVALID_REQUEST;
}

/* --- answers ---------------------------------------------------------------------------------- */

static int write_line(struct cbx_buf *buf, const char *id, const char *member, const json_t *value)
{
    size_t began = buf->len;
    cbx_buf_add_cstr(buf, "{\"jsonrpc\":\"2.0\",");
    if (id[0] != '\0') {
        cbx_buf_add_cstr(buf, "\"id\":");
        cbx_buf_add_cstr(buf, id);
        cbx_buf_add_char(buf, ',');
    }
    cbx_buf_printf(buf, "\"%s\":", member);
    int failed = cbx_json_write_as_is(buf, value); /* the status first */
    cbx_buf_add_cstr(buf, "}\n");
    if (failed || buf->overflow) {
        buf->len = began;
        buf->p[began] = '\0';
        buf->overflow = false;
        return CBX_ETOOBIG;
    }
    return 0;
}

int cbx_rpc_write_result(struct cbx_buf *buf, const char *id, const json_t *result)
{
    return write_line(buf, id, "result", result);
}

int cbx_rpc_write_error(struct cbx_buf *buf, const char *id, int code, const char *text,
                        const json_t *data)
{
    CBX_AUTO_JSON error = json_object();
    json_object_set_new(error, "code", json_integer(code));
    json_object_set_new(error, "message", cbx_json_text(cbx_str_of(text)));
    if (data != NULL) {
        json_object_set_new(error, "data", json_deep_copy(data));
    }
    return write_line(buf, id, "error", error);
}
