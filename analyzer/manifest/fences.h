/* SPDX-License-Identifier: MIT
 * Fenced blocks of Markdown, by the rules of CommonMark: backticks and tildes, up to three blanks
 * before them, in lists and block quotes, with a closing fence that is at least as long. A fence
 * in a comment of HTML counts too: a program that reads the document sees it. */
#ifndef CBX_ANALYZER_MANIFEST_FENCES_H
#define CBX_ANALYZER_MANIFEST_FENCES_H

#include "analyzer/parse.h"
#include "policies/base/arena.h"
#include "policies/base/str.h"

enum { CBX_FENCE_CONTAINERS_MAX = 64 }; /* deeper lists and quotes are text */

/* Called with each line of the document. `content` is the line without the containers, and in a
 * block without the blanks that stand before the fence too; it ends before the line feed. */
struct cbx_fence_sink {
    /* A block begins; `info` is the text behind its fence. */
    int (*begin)(void *context, struct cbx_str info, struct cbx_range content);
    /* A line of the block. */
    int (*line)(void *context, struct cbx_range content);
    /* The block ends, by a fence, the end of its container or the end of the document. */
    int (*end)(void *context);
    /* A line outside of blocks. */
    int (*text)(void *context, struct cbx_range content);
    void *context;
};

/* Reads a document from `from` on. Linear. Returns the first result of a function of the sink
 * that is not 0. */
int cbx_fences_read(struct cbx_str document, uint32_t from, const struct cbx_fence_sink *sink);

#endif
