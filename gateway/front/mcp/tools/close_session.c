/* SPDX-License-Identifier: MIT
 * The tool close_session. */
#include "gateway/front/mcp/tools/content.h"
#include "gateway/front/mcp/tools/tools_internal.h"
#include "gateway/front/service/service_sessions.h"

json_t *cbx_tool_close_session(const struct cbx_tool_call *call,
                               const struct cbx_tool_arguments *arguments)
{
    struct cbx_err err = { 0 };
    char id[65];
    snprintf(id, sizeof(id), "%.*s", CBX_STR_ARG(arguments->session));
    int failed = cbx_service_close_session(call->mcp->service,
                                           cbx_mcp_caller(call->peer)->principal, id, &err);
    if (failed == CBX_ENOTFOUND) {
        cbx_fail(&err, CBX_ENOTFOUND,
                 "there is no session '%s': it is closed already, or was never opened", id);
    }
    return failed ? cbx_content_of_error(&err, NULL)
                  : cbx_content_of_text("message", CBX_STR("ok: the session is closed\n"));
}
