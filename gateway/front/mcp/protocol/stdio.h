/* SPDX-License-Identifier: MIT
 * The stdio transport: one message per line in, one per line out, no other output. Each
 * tools/call has a thread; all other messages are handled in order. */
#ifndef CBX_GATEWAY_FRONT_MCP_PROTOCOL_STDIO_H
#define CBX_GATEWAY_FRONT_MCP_PROTOCOL_STDIO_H

#include "gateway/front/mcp/protocol/mcp.h"

enum {
    CBX_STDIO_CALLS_MAX = 64, /* concurrent tools/call; one more gets the response busy */
    /* from the end of the input until running calls are cancelled: clients kill after two
     * seconds */
    CBX_STDIO_FINISH_MS = 500,
    CBX_STDIO_CANCEL_MS = 100, /* after that, until the calls are abandoned */
};

/* Serves until the input ends, or the output is closed, and the last call has ended; a call
 * whose response nobody can read is cancelled. A line over CBX_RPC_LINE_MAX is dropped: it gets
 * an error without an id at its end. True if all calls have ended; else the process
 * must end now, because threads still use `mcp`. */
bool cbx_stdio_serve(int in, int out, struct cbx_mcp *mcp);

#endif
