/* SPDX-License-Identifier: MIT
 * A line from an MCP client: reading it, answering all that needs no sandbox, and the id, which
 * must come back byte by byte. */
#include "gateway/front/mcp/server.h"

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
    CBX_AUTO_DONE(rpc_message) back = { 0 };
    if (line.len == 0 || memchr(line.p, '\n', line.len) != line.p + line.len - 1 ||
        cbx_rpc_read(cbx_buf_str(&line), &back, &err) != 0 || back.kind != CBX_RPC_RESPONSE ||
        strcmp(back.id, message.id) != 0) {
        abort();
    }
    return 0;
}
