/* SPDX-License-Identifier: MIT
 * What is kept of a session's past for its next cell: the cells before it, as they were sent. */
#ifndef CBX_ANALYZER_CONTEXT_H
#define CBX_ANALYZER_CONTEXT_H

#include "policies/base/buf.h"

/* As much as costs a few milliseconds to read again. */
enum { CBX_CONTEXT_MAX_BYTES = 64 * 1024 };

/* Adds a cell, as it was sent, to the context of what comes after. Over the cap the oldest cells
 * go, whole. `context` was initialised with at least twice CBX_CONTEXT_MAX_BYTES. */
void cbx_context_add(struct cbx_buf *context, struct cbx_str cell);

/* Takes the first cell off the context, which it borrows from; false at the end, and before what is
 * no whole cell. */
bool cbx_context_next(struct cbx_str *context, struct cbx_str *cell);

/* How many whole cells there are. */
size_t cbx_context_count(struct cbx_str context);

#endif
