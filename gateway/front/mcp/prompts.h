/* SPDX-License-Identifier: MIT
 * Prompts: texts that a user selects in a client. */
#ifndef CBX_GATEWAY_FRONT_MCP_PROMPTS_H
#define CBX_GATEWAY_FRONT_MCP_PROMPTS_H

#include "policies/base/text/json.h"

/* Returns the list of prompts/list (new reference). */
json_t *cbx_prompts_list(void);

/* Makes a GetPromptResult (new reference) for the params of prompts/get. CBX_EINVAL for an
 * unknown prompt, and for arguments that are missing or no strings. */
int cbx_prompt_get(const json_t *params, json_t **out, struct cbx_err *err);

#endif
