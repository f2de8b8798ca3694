/* SPDX-License-Identifier: MIT
 * Approval by elicitation: a client is asked to accept a run whose policy asks. In the stateless
 * era by a result with a sealed requestState, with which it repeats the call; in the handshake
 * era by a request while the call waits. Only "accept" approves, and the approval is for the
 * judged program (service/approvals.h); any other answer, a missing and an unreadable one run
 * nothing. */
#ifndef CBX_GATEWAY_FRONT_MCP_TOOLS_MCP_APPROVAL_H
#define CBX_GATEWAY_FRONT_MCP_TOOLS_MCP_APPROVAL_H

#include "gateway/front/jobs/jobs.h"
#include "gateway/front/mcp/protocol/jsonrpc.h"
#include "gateway/front/mcp/tools/tools.h"

/* Sentences on how to get an approval. */
#define CBX_APPROVAL_UNASKED                                                                       \
    "This code needs approval, and this client cannot be asked for it: it does not offer MCP "     \
    "elicitation. Change the code, or ask the operator of this gateway."
#define CBX_APPROVAL_OF_ANOTHER                                                                    \
    "This code needs the approval of another person: the policy has four-eyes. A client of MCP "   \
    "cannot give it. Change the code, or have it sent over REST, where a principal with the "      \
    "right approve accepts it."
#define CBX_APPROVAL_CHANGED                                                                       \
    "The session changed each time before the question was answered. Send the code again when "    \
    "nothing else uses the session."

enum cbx_mcp_answer {
    CBX_ANSWER_NONE = 0,
    CBX_ANSWER_ACCEPT,
    CBX_ANSWER_DECLINE,
    CBX_ANSWER_CANCEL
};

/* State from the previous round of a call. Owned by the caller; zeroed memory is none. */
struct cbx_mcp_retry {
    json_t *state; /* state as sealed; NULL = none, or expired */
    int64_t expires_ms;
    enum cbx_mcp_answer answer;
};
void cbx_mcp_retry_done(struct cbx_mcp_retry *retry);
CBX_DEFINE_AUTO_DONE(mcp_retry)

/* True if the capabilities of a client (NULL = none) include elicitation with forms. */
bool cbx_mcp_can_elicit(const json_t *capabilities);

/* True if a request of the handshake era may cause a question to the client of this session. */
bool cbx_mcp_may_ask(const struct cbx_mcp *mcp, const struct cbx_rpc_message *request,
                     struct cbx_str session);

/* Reads requestState and inputResponses of a call of the stateless era. CBX_EINVAL for a state
 * that this server did not make for this principal, and for a malformed answer. An expired state
 * is ignored: the client is asked again. */
int cbx_mcp_retry_read(struct cbx_mcp *mcp, const char *principal, const json_t *params,
                       struct cbx_mcp_retry *out, struct cbx_err *err);

/* Uses the answer of an earlier round. NULL: continue, with *approval filled if the client
 * accepted this call; else the result (new reference) with the reason why nothing runs.
 * `session`, of 65 bytes, receives the session that was opened for the call before its client
 * was asked, or an empty text. */
json_t *cbx_mcp_take_retry(const struct cbx_tool_call *call, struct cbx_approval *approval,
                           char *session);

/* Makes the result "input_required" for a job whose policy asks (new reference). */
json_t *cbx_mcp_ask_by_result(const struct cbx_tool_call *call, const struct cbx_job *job,
                              const struct cbx_outcome *asking);

/* Asks and waits, for CBX_APPROVAL_MS at most. NULL if the client accepted, with job->approval
 * filled; else the result with the reason why nothing runs (new reference). */
json_t *cbx_mcp_ask_by_request(const struct cbx_tool_call *call, struct cbx_job *job,
                               const struct cbx_outcome *asking);

#endif
