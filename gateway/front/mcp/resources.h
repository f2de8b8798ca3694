/* SPDX-License-Identifier: MIT
 * Objects that can be read by a URI: descriptions of the server (resources.def), sessions and
 * their files, executions and their complete outputs. */
#ifndef CBX_GATEWAY_FRONT_MCP_RESOURCES_H
#define CBX_GATEWAY_FRONT_MCP_RESOURCES_H

#include "gateway/front/mcp/tools/tools.h"

/* Prefix of the URI of an execution; its id follows, then the part. */
#define CBX_EXECUTION_URI "sandbox://executions/"

/* The object of a URI; owned by the caller (cbx_resource_done). */
struct cbx_resource {
    const char *type;     /* media type; static */
    struct cbx_buf bytes; /* complete contents */
    bool is_text;         /* UTF-8 without NUL */
};
void cbx_resource_done(struct cbx_resource *resource);
CBX_DEFINE_AUTO_DONE(resource)

/* Reads an object for the caller, from the session's folder or the store; `claims` are the
 * client's (NULL = none). CBX_ENOTFOUND if it does not exist, with the existing URIs; CBX_EINVAL
 * for a malformed path; errors of the executor. */
int cbx_resource_read(struct cbx_mcp *mcp, const struct cbx_caller *caller,
                      const struct cbx_claims *claims, struct cbx_str uri, struct cbx_resource *out,
                      struct cbx_err *err);

/* Makes the result of resources/read (new reference): the bytes from `offset` on, at most
 * `length` (0 = all), a text split only between characters. */
json_t *cbx_resource_contents(struct cbx_str uri, const struct cbx_resource *resource,
                              size_t offset, size_t length);

/* Removes "?offset=N&length=N" from a URI; both are 0 if not given. CBX_EINVAL for any other
 * query. */
int cbx_resource_range(struct cbx_str *uri, int64_t *offset, int64_t *length, struct cbx_err *err);

/* Reads the execution of "sandbox://executions/{id}"; false for any other URI. */
bool cbx_resource_is_execution(struct cbx_str uri, char id[40]);

/* The lists of resources/list and resources/templates/list (new references). */
json_t *cbx_resources_list(void);
json_t *cbx_resources_templates(void);

/* --- mcp_policy.c ----------------------------------------------------------------------------- */

/* The complete contents of the images. */
#define CBX_LIBRARIES_URI "sandbox://libraries"

/* Describes the policy in words, for programs in a language (NULL = all): denied actions and
 * alternatives, limits, network, libraries (`small`: of the small images). Never the file. */
void cbx_mcp_describe_policy(const struct cbx_policy *policy, const char *language, bool small,
                             struct cbx_buf *out);

/* True if one of its rules asks for approval. */
bool cbx_mcp_policy_asks(const struct cbx_policy *policy);

/* Returns the server's description of itself for models (new reference), with the policy of the
 * caller (NULL = none). Clients show it in full, also clients that otherwise show only the
 * tools' names. */
json_t *cbx_mcp_instructions(const struct cbx_flow *flow, const struct cbx_policy *policy);

/* Describes its limits and its network, one sentence each. */
void cbx_mcp_describe_limits(const struct cbx_policy *policy, struct cbx_buf *out);

#endif
