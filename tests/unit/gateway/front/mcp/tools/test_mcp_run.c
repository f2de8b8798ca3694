/* SPDX-License-Identifier: MIT
 * The progress reports of a call while it runs. */
#include "gateway/front/mcp/protocol/mcp_server.h"
#include "gateway/front/service/service_packages.h"
#include "tests/unit/gateway/front/rest/rig.h"

static struct cbx_mcp mcp;

static int set_up(void **state)
{
    int failed = rig_setup(state);
    struct rig *rig = *state;
    cbx_mcp_init(&mcp, &rig->service, 0);
    return failed;
}

static int tear_down(void **state)
{
    cbx_mcp_done(&mcp);
    return rig_teardown(state);
}

static void take_line(void *context, struct cbx_str line)
{
    cbx_buf_add(context, line);
}

/* Makes a call with a token for progress. Returns its result or error; *lines gets the earlier
 * messages. */
static json_t *call(const char *arguments, struct cbx_buf *lines)
{
    CBX_AUTO_DONE(rpc_message) message = { 0 };
    CBX_AUTO_DONE(buf) line;
    CBX_AUTO_DONE(buf) out;
    struct cbx_err err = { 0 };
    json_t *answer = NULL;
    cbx_buf_init(&line, 4096);
    cbx_buf_init(&out, CBX_RPC_ANSWER_MAX);
    cbx_buf_printf(&line,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                   "\"execute_code\",\"arguments\":%s,\"_meta\":{\"progressToken\":\"t\","
                   "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                   "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
                   arguments);
    assert_int_equal(cbx_rpc_read(cbx_buf_str(&line), &message, &err), 0);
    const struct cbx_mcp_peer peer = { .notify = take_line, .context = lines };
    cbx_mcp_answer(&mcp, &message, &peer, &out);
    assert_int_equal(cbx_json_parse(cbx_buf_str(&out), CBX_RPC_ANSWER_MAX, &answer, &err), 0);
    return answer;
}

static void a_cell_that_installs_reports_progress_as_libraries_do(void **state)
{
    (void)state;
    static const char *const calls[] = {
        "{\"code\":\"1\",\"libraries\":[\"b\"]}",
        "{\"code\":\"INSTALL\"}",
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        CBX_AUTO_DONE(buf) lines;
        cbx_buf_init(&lines, 65536);
        cbx_service_forget_packages(mcp.service);
        CBX_AUTO_JSON answer = call(calls[i], &lines);
        const json_t *content =
            json_object_get(json_object_get(answer, "result"), "structuredContent");
        CBX_AUTO_MEM char *text = json_dumps(answer, 0);
        assert_string_equal(text_at(content, "status"), "ok");
        assert_contains(text, "hello");
        assert_contains(lines.p, "notifications/progress");
        assert_contains(lines.p, "\"message\":\"collecting b\"");
        assert_contains(lines.p, "\"progressToken\":\"t\"");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_cell_that_installs_reports_progress_as_libraries_do,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
