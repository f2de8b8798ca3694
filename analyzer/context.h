/* SPDX-License-Identifier: MIT
 * The past of a session, for judging its next cell: the cells before it, as the client sent
 * them. */
#ifndef CBX_ANALYZER_CONTEXT_H
#define CBX_ANALYZER_CONTEXT_H

#include "policies/base/buf.h"

/* Every judgement reads the whole past again: of 1 MiB that takes about 0.1 s. */
enum { CBX_CONTEXT_MAX_BYTES = 1024 * 1024 };

/* Adds a cell, as the client sent it, to the context. Nothing is ever removed: CBX_ETOOBIG when the
 * cell does not fit, and the context is incomplete from then on, so that every later cell is denied.
 * `context` must be initialised with at least twice CBX_CONTEXT_MAX_BYTES. */
int cbx_context_add(struct cbx_buf *context, struct cbx_str cell);

/* True when no cell is missing and the context ends with a whole cell. */
bool cbx_context_is_complete(struct cbx_str context);

/* Removes the first cell from the context; *cell borrows from it. False at the end, and when the
 * rest is not a whole cell. */
bool cbx_context_next(struct cbx_str *context, struct cbx_str *cell);

/* The number of whole cells. */
size_t cbx_context_count(struct cbx_str context);

#endif
