/* SPDX-License-Identifier: MIT
 * The strings of a JSON text with their places. jansson reads and checks the text but keeps no
 * places. */
#ifndef CBX_ANALYZER_MANIFEST_DOCUMENTS_JSON_TEXT_H
#define CBX_ANALYZER_MANIFEST_DOCUMENTS_JSON_TEXT_H

#include "analyzer/manifest/manifest_internal.h"

/* A string in the file, with its quotes: [start, end). */
struct cbx_json_place {
    uint32_t start, end;
};

/* Returns the string that begins at `at`, a quotation mark. */
struct cbx_json_place cbx_json_text_at(struct cbx_str file, uint32_t at);

/* Appends the content of a string to a piece, escapes decoded; a carriage return becomes a line
 * feed. */
void cbx_json_text_take(struct cbx_piece_maker *maker, struct cbx_json_place string);

/* Returns the content of a string, in the arena; {NULL, 0} if it is exhausted. */
struct cbx_str cbx_json_text_read(struct cbx_arena *arena, struct cbx_str file,
                                  struct cbx_json_place string);

#endif
