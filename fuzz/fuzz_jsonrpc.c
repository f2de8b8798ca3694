/* SPDX-License-Identifier: MIT
 * A line from an MCP client: reading it, answering all that needs no sandbox, and the id, which
 * must come back byte by byte. */
#include "gateway/front/mcp/protocol/mcp_server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct cbx_flow flow; /* without policies and processes: listing and refusing only */
    static struct cbx_service service = { .flow = &flow };
    static struct cbx_mcp mcp;
    if (mcp.service == NULL) {
        cbx_mcp_init(&mcp, &service, 0);
    }
    CBX_AUTO_DONE(rpc_message) message = { 0 };
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, CBX_RPC_ANSWER_MAX);
    struct cbx_err err = { 0 };
    int code =
        cbx_rpc_read((struct cbx_str){ .p = (const char *)data, .len = size }, &message, &err);
    cbx_claims_read_request(message.id, json_object_get(message.params, "_meta"), &message.claims);
    if (code != 0) {
        cbx_rpc_write_error(&line, message.id, code, err.text, NULL);
    } else if (message.kind != CBX_RPC_REQUEST) {
        cbx_mcp_cancelled_id(&message);
        return 0;
    } else if (cbx_mcp_is_slow(&message)) {
        cbx_mcp_answer_busy(&message, 1, &line);
    } else {
        cbx_mcp_answer(&mcp, &message, NULL, &line);
    }
    struct cbx_request_id scan = { 0 };
    cbx_request_id_feed(&scan, cbx_buf_str(&line));
    if (line.len == 0 || memchr(line.p, '\n', line.len) != line.p + line.len - 1 ||
        !cbx_str_is(cbx_request_id_value(&scan), message.id)) {
        abort();
    }
    /* Ids that are JSON are repeated also when our parser does not take them: unpaired surrogates,
     * more digits than 64 bits have. */
    struct cbx_unpaired unpaired;
    cbx_unpaired_replace(line.p, line.len, &unpaired);
    json_error_t problem;
    CBX_AUTO_JSON back =
        json_loadb(line.p, line.len, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &problem);
    if (back == NULL) {
        abort();
    }
    return 0;
}
