/* SPDX-License-Identifier: MIT
 * The stdio transport: one message per line in, one per line out, nothing else on the output. Each
 * tools/call has a thread; everything else is answered in order. */
#ifndef CBX_GATEWAY_FRONT_MCP_PROTOCOL_STDIO_H
#define CBX_GATEWAY_FRONT_MCP_PROTOCOL_STDIO_H

#include "gateway/front/mcp/protocol/mcp.h"

enum {
    CBX_STDIO_CALLS_MAX = 64,  /* tools/call at the same time; one more is answered as busy */
    CBX_STDIO_FINISH_MS = 500, /* after the end of the input, before what still runs is cancelled:
                                   clients kill after two seconds */
    CBX_STDIO_CANCEL_MS = 100, /* after that, until the calls are left alone */
};

/* Serves until the input ends, or nobody can read the output any more, and the last call is over; a call that nobody can
 * read the answer of is cancelled. A line over CBX_RPC_LINE_MAX is not kept:
 * it is answered with an error at its end, under its id if it has one. True when all
 * calls are over; else the process must end now, because threads still use `mcp`. */
bool cbx_stdio_serve(int in, int out, struct cbx_mcp *mcp);

#endif
