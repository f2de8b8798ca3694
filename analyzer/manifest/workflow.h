/* SPDX-License-Identifier: MIT
 * Pieces of code that a build service completes before a shell reads them. */
#ifndef CBX_ANALYZER_MANIFEST_WORKFLOW_H
#define CBX_ANALYZER_MANIFEST_WORKFLOW_H

#include "analyzer/manifest/manifest_internal.h"

/* Expressions in a text: "${{" ... "}}". */
struct cbx_expressions {
    const char *begin, *end;
    const char *stands_for; /* text in the piece in place of an unknown value */
    bool strangers;         /* true: the contexts of workflow.def are text of others */
};

/* Ends a piece, with each expression replaced. An expression with text of others becomes a word
 * of the manifest (CBX_WORD_CODE). CBX_ETOOBIG over the caps. */
int cbx_workflow_end_piece(struct cbx_piece_maker *maker, const char *language,
                           const struct cbx_expressions *expressions, struct cbx_manifest *manifest,
                           struct cbx_err *err);

#endif
