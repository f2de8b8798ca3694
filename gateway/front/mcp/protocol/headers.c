/* SPDX-License-Identifier: MIT
 * Headers of MCP. */
#include "gateway/front/mcp/protocol/headers.h"

#include "policies/base/text/base64.h"

enum { NAME_MAX_BYTES = 8192 };

static int fail(const char *header, const char *what, struct cbx_err *err)
{
    cbx_fail(err, CBX_EINVAL, "the header %s %s", header, what);
    return CBX_RPC_HEADER_MISMATCH;
}

/* Appends a header's decoded value: itself, or the text encoded in it. False if it is malformed. */
static bool decode(struct cbx_str value, struct cbx_buf *out)
{
    static const struct cbx_str before = { "=?base64?", 9 }, after = { "?=", 2 };
    if (!cbx_str_starts(value, before)) {
        return cbx_buf_add(out, value) == 0;
    }
    if (value.len < before.len + after.len || !cbx_str_ends(value, after)) {
        return false;
    }
    return cbx_base64_decode(cbx_str_sub(value, before.len, value.len - after.len), out);
}

static int check_name(const struct cbx_http_mcp *headers, struct cbx_str name, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) decoded;
    cbx_buf_init(&decoded, NAME_MAX_BYTES);
    if (headers->name.p == NULL) {
        return fail("Mcp-Name", "is missing", err);
    }
    if (!decode(headers->name, &decoded)) {
        return fail("Mcp-Name", "is malformed", err);
    }
    if (!cbx_str_equal(cbx_buf_str(&decoded), name)) {
        return fail("Mcp-Name", "is not the name in the body", err);
    }
    return 0;
}

int cbx_mcp_headers_match(const struct cbx_http_mcp *headers, const struct cbx_rpc_message *request,
                          struct cbx_str version, struct cbx_err *err)
{
    static const struct {
        const char *method, *member;
    } named[] = { { "tools/call", "name" },
                  { "prompts/get", "name" },
                  { "resources/read", "uri" } };
    if (!cbx_str_equal(headers->version, version)) {
        return fail("MCP-Protocol-Version", "is missing, or not the version in the body", err);
    }
    if (!cbx_str_equal(headers->method, request->method)) {
        return fail("Mcp-Method", "is missing, or not the method in the body", err);
    }
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        struct cbx_str name = cbx_json_str(json_object_get(request->params, named[i].member));
        if (cbx_str_is(request->method, named[i].method) && name.p != NULL) {
            return check_name(headers, name, err);
        }
    }
    return 0;
}
