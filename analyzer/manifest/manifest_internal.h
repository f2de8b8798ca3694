/* SPDX-License-Identifier: MIT
 * Declarations for the readers only. */
#ifndef CBX_ANALYZER_MANIFEST_MANIFEST_INTERNAL_H
#define CBX_ANALYZER_MANIFEST_MANIFEST_INTERNAL_H

#include "analyzer/manifest/manifest.h"

/* A piece that is being made from parts of the file. */
struct cbx_piece_maker {
    struct cbx_arena *arena;
    struct cbx_str file;
    struct cbx_buf text;
    struct cbx_manifest_run *runs;
    size_t count, size;
};

void cbx_piece_maker_init(struct cbx_piece_maker *maker, struct cbx_arena *arena,
                          struct cbx_str file);
void cbx_piece_maker_done(struct cbx_piece_maker *maker);
CBX_DEFINE_AUTO_DONE(piece_maker)

/* Appends bytes of the file, [start, end). */
void cbx_piece_maker_take(struct cbx_piece_maker *maker, uint32_t start, uint32_t end);

/* Appends text that stands for the bytes at `place`. */
void cbx_piece_maker_put(struct cbx_piece_maker *maker, struct cbx_str text, uint32_t place);

/* Returns the place in the file of an appended byte; the file's beginning if there is none. */
uint32_t cbx_piece_maker_place(const struct cbx_piece_maker *maker, uint32_t byte);

/* Adds the piece to the manifest. CBX_ETOOBIG over the caps. */
int cbx_piece_maker_end(struct cbx_piece_maker *maker, const char *language,
                        struct cbx_manifest *manifest, struct cbx_err *err);

/* Adds a word; its text is borrowed. CBX_ETOOBIG over the cap. */
int cbx_manifest_add_word(struct cbx_manifest *manifest, struct cbx_arena *arena,
                          const struct cbx_manifest_word *word, struct cbx_err *err);

/* Notes code that is not judged. CBX_ETOOBIG over the cap. */
int cbx_manifest_add_skip(struct cbx_manifest *manifest, struct cbx_arena *arena,
                          enum cbx_skipped_piece why, struct cbx_str language, struct cbx_err *err);

/* Fails with the line and the column of a place in the file. */
int cbx_manifest_fail(struct cbx_str file, uint32_t place, const char *what, struct cbx_err *err);

#endif
