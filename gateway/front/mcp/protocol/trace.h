/* SPDX-License-Identifier: MIT
 * Tracebacks for models: frames of libraries use context and cannot be changed by the model.
 * Pure. */
#ifndef CBX_GATEWAY_FRONT_MCP_PROTOCOL_TRACE_H
#define CBX_GATEWAY_FRONT_MCP_PROTOCOL_TRACE_H

#include "policies/base/buf.h"

/* Appends a traceback of CPython (module traceback) or a stack of V8; each row of frames of
 * libraries, including the runtime's, becomes one line with their number. All other text is
 * unchanged, and text of neither form stays whole. Linear in the text, which may be hostile: a
 * program can print text that looks like a frame, and loses no line of another kind by it. */
void cbx_trace_fold(struct cbx_str text, struct cbx_buf *out);

#endif
