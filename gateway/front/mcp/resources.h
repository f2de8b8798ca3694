/* SPDX-License-Identifier: MIT
 * What can be read by a URI: what the server knows about itself (resources.def), sessions and their files,
 * executions and their whole outputs. */
#ifndef CBX_GATEWAY_FRONT_MCP_RESOURCES_H
#define CBX_GATEWAY_FRONT_MCP_RESOURCES_H

#include "gateway/front/mcp/tools/tools.h"

/* The URI of an execution begins with it; its id follows, then the part. */
#define CBX_EXECUTION_URI "sandbox://executions/"

/* What a URI means; owned by the caller (cbx_resource_done). */
struct cbx_resource {
    const char *type;     /* media type; static */
    struct cbx_buf bytes; /* all of it */
    bool is_text;         /* UTF-8 without NUL */
};
void cbx_resource_done(struct cbx_resource *resource);
CBX_DEFINE_AUTO_DONE(resource)

/* Reads one in the name of the caller, from the session's folder or the store; `claims` are the client's (NULL = none). CBX_ENOTFOUND when there is none: the error says which
 * URIs there are; CBX_EINVAL for a path that is malformed; errors of the executor. */
int cbx_resource_read(struct cbx_mcp *mcp, const struct cbx_caller *caller,
                      const struct cbx_claims *claims, struct cbx_str uri, struct cbx_resource *out,
                      struct cbx_err *err);

/* What resources/read has of it (new reference): the bytes from `offset` on, at most `length` (0 = all), a text
 * on the borders of its characters. */
json_t *cbx_resource_contents(struct cbx_str uri, const struct cbx_resource *resource,
                              size_t offset, size_t length);

/* Takes "?offset=N&length=N" off a URI; both are 0 when they are not given. CBX_EINVAL for any other
 * query. */
int cbx_resource_range(struct cbx_str *uri, int64_t *offset, int64_t *length, struct cbx_err *err);

/* The execution that "sandbox://executions/{id}" names; false for any other URI. */
bool cbx_resource_is_execution(struct cbx_str uri, char id[40]);

/* The lists of resources/list and resources/templates/list (new references). */
json_t *cbx_resources_list(void);
json_t *cbx_resources_templates(void);

/* --- mcp_policy.c ----------------------------------------------------------------------------- */

/* All that the images have. */
#define CBX_LIBRARIES_URI "sandbox://libraries"

/* The policy in words, for programs in a language (NULL = all): what is denied and what to do instead, limits,
 * network, libraries (`small`: of the small images). Never the file. */
void cbx_mcp_describe_policy(const struct cbx_policy *policy, const char *language, bool small,
                             struct cbx_buf *out);

/* True when one of its rules asks for approval. */
bool cbx_mcp_policy_asks(const struct cbx_policy *policy);

/* The server's description of itself for models (new reference), with the policy of the caller (NULL = none). Clients show it in full, also those that name
 * tools only. */
json_t *cbx_mcp_instructions(const struct cbx_flow *flow, const struct cbx_policy *policy);

/* Its limits and its network, as one sentence each. */
void cbx_mcp_describe_limits(const struct cbx_policy *policy, struct cbx_buf *out);

#endif
