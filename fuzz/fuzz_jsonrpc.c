/* SPDX-License-Identifier: MIT
 * A line from an MCP client: reading it, answering all that needs no sandbox; the answer is one line
 * of JSON with the id, and the line with its unpaired surrogates replaced has none any more. */
#include "gateway/front/mcp/protocol/mcp_server.h"
#include "policies/base/memory.h"

static void replace_unpaired(struct cbx_str line)
{
    CBX_AUTO_MEM char *copy = cbx_str_copy(line);
    struct cbx_unpaired first, again;
    cbx_unpaired_replace(copy, line.len, &first);
    if (cbx_unpaired_replace(copy, line.len, &again)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct cbx_flow flow; /* without policies and processes: listing and refusing only */
    static struct cbx_service service = { .flow = &flow };
    static struct cbx_mcp mcp;
    if (mcp.service == NULL) {
        cbx_mcp_init(&mcp, &service, 0);
    }
    struct cbx_str bytes = { .p = (const char *)data, .len = size };
    replace_unpaired(bytes);
    CBX_AUTO_DONE(rpc_message) message = { 0 };
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, CBX_RPC_ANSWER_MAX);
    struct cbx_err err = { 0 };
    int code = cbx_rpc_read(bytes, &message, &err);
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
    CBX_AUTO_JSON back = NULL;
    CBX_AUTO_JSON id = NULL;
    if (line.len == 0 || memchr(line.p, '\n', line.len) != line.p + line.len - 1 ||
        cbx_json_parse(cbx_buf_str(&line), CBX_RPC_ANSWER_MAX, &back, &err) != 0) {
        abort();
    }
    if (message.id[0] != '\0' &&
        (cbx_json_parse(cbx_str_of(message.id), CBX_RPC_ID_MAX, &id, &err) != 0 ||
         !json_equal(id, json_object_get(back, "id")))) {
        abort();
    }
    return 0;
}
