/* SPDX-License-Identifier: MIT
 * A cell in the light of the cells before it: what they bound, this one can use. */
#ifndef CBX_ANALYZER_CONTEXT_H
#define CBX_ANALYZER_CONTEXT_H

#include "analyzer/lang.h"
#include "analyzer/notebook.h"

/* Adds to `parsed->facts` the facts that the cell has when it is read behind `context`, at their
 * places in the cell. The cell was read by itself already; this only ever adds. Nothing when the
 * arena is exhausted, which the arena remembers. */
void cbx_context_facts(const struct cbx_parsed *parsed, const struct cbx_lang *lang,
                       struct cbx_str context, const struct cbx_notebook *notebook);

#endif
