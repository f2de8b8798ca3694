/* SPDX-License-Identifier: MIT
 * Tracebacks for models: frames of libraries cost them context and are nothing that they can change. Pure. */
#ifndef CBX_GATEWAY_FRONT_MCP_PROTOCOL_TRACE_H
#define CBX_GATEWAY_FRONT_MCP_PROTOCOL_TRACE_H

#include "policies/base/buf.h"

/* Appends a traceback of CPython (module traceback) or a stack of V8 with each row of frames of libraries, the runtime's own included, as one line
 * that counts them. Everything else stays byte for byte, and what looks like neither stays whole. Linear in the text, which may be hostile: a
 * program can print what looks like a frame, and loses no line of another kind by it. */
void cbx_trace_fold(struct cbx_str text, struct cbx_buf *out);

#endif
