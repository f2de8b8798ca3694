/* SPDX-License-Identifier: MIT
 * A cell as a part of a program: with the code inside its notebook lines (%time f()), and behind
 * the cells that ran before it. What any of them binds, all of them can use. */
#ifndef CBX_ANALYZER_CONTEXT_H
#define CBX_ANALYZER_CONTEXT_H

#include "analyzer/lang.h"
#include "analyzer/notebook.h"

/* Adds to `parsed->facts` the facts that the cell has as a part of that program, at their places in
 * the cell. The cell and the code inside its lines were each read by themselves already; this only
 * ever adds, so nothing that is read along can hide what a cell does. `context` is what
 * cbx_context_add made, or empty. Nothing when the arena is exhausted, which the arena remembers.
 */
void cbx_context_facts(const struct cbx_parsed *parsed, const struct cbx_lang *lang,
                       struct cbx_str context, const struct cbx_notebook *notebook);

#endif
