/* SPDX-License-Identifier: MIT
 * The product's definition, in a file of its own so that a test program can link another. */
#include "gateway/front/mcp/protocol/mcp_contents.h"

const struct cbx_mcp_contents *cbx_mcp_contents_of(struct cbx_mcp_sessions *sessions)
{
    (void)sessions;
    return NULL;
}
