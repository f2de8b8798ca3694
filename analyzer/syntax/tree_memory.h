/* SPDX-License-Identifier: MIT
 * The memory of tree-sitter during one analysis. A tree is many thousands of small blocks with the
 * same lifetime: they are allocated from chunks, with a list of free blocks for each size, and
 * freed all at once. Outside of an analysis, and in builds with AddressSanitizer, which then
 * checks every block, tree-sitter uses malloc. */
#ifndef CBX_ANALYZER_SYNTAX_TREE_MEMORY_H
#define CBX_ANALYZER_SYNTAX_TREE_MEMORY_H

#include <tree_sitter/api.h>

/* The end call frees everything that tree-sitter allocated in this thread since the begin call:
 * parsers, trees and queries that were made in between must not be used afterwards, and need not be
 * deleted one by one. Pairs may nest; the outermost counts. */
void cbx_tree_memory_begin(void);
void cbx_tree_memory_end(void);

/* Delete a parser or a tree, or leave that to the end call. NULL is allowed. */
void cbx_tree_delete(TSTree *tree);
void cbx_parser_delete(TSParser *parser);

#endif
