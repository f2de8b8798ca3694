/* SPDX-License-Identifier: MIT
 * The past of a session, for judging its next cell: the cells before it, as the client sent
 * them. */
#ifndef CBX_ANALYZER_CONTEXT_H
#define CBX_ANALYZER_CONTEXT_H

#include "policies/base/buf.h"

/* Chosen so that reading the context again takes a few milliseconds. */
enum { CBX_CONTEXT_MAX_BYTES = 64 * 1024 };

/* Adds a cell, as the client sent it, to the context. Over the cap, whole cells are removed, the
 * oldest first. `context` must be initialised with at least twice CBX_CONTEXT_MAX_BYTES. */
void cbx_context_add(struct cbx_buf *context, struct cbx_str cell);

/* Removes the first cell from the context; *cell borrows from it. False at the end, and when the
 * rest is not a whole cell. */
bool cbx_context_next(struct cbx_str *context, struct cbx_str *cell);

/* The number of whole cells. */
size_t cbx_context_count(struct cbx_str context);

#endif
