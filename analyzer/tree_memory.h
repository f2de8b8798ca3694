/* SPDX-License-Identifier: MIT
 * The memory of tree-sitter while one source is analysed. A tree is many thousands of small blocks
 * that all die together: they come out of chunks with a list of free blocks for each size, and are
 * dropped whole. Outside of an analysis tree-sitter's memory is malloc's, as it is in builds with
 * AddressSanitizer, which shall see every block. */
#ifndef CBX_ANALYZER_TREE_MEMORY_H
#define CBX_ANALYZER_TREE_MEMORY_H

#include <tree_sitter/api.h>

/* From begin to end, what tree-sitter allocates in this thread is dropped at the end: parsers,
 * trees and queries that were made in between must not be used afterwards, and need not be deleted
 * one by one. Pairs may nest; the outermost counts. */
void cbx_tree_memory_begin(void);
void cbx_tree_memory_end(void);

/* Deletes them, or leaves them to the end. NULL is nothing. */
void cbx_tree_delete(TSTree *tree);
void cbx_parser_delete(TSParser *parser);

#endif
