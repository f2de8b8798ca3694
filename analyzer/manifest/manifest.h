/* SPDX-License-Identifier: MIT
 * Files that name what a project installs and runs. A reader splits such a file: packages by name,
 * and pieces of code, each with its place in the file. Pure and strict: a file that a reader does
 * not understand is an error, never half a result. */
#ifndef CBX_ANALYZER_MANIFEST_MANIFEST_H
#define CBX_ANALYZER_MANIFEST_MANIFEST_H

#include "analyzer/decide.h"
#include "analyzer/packages/spec.h"
#include "policies/base/arena.h"
#include "policies/base/buf.h"
#include "policies/base/err.h"

enum {
    CBX_MANIFEST_MAX_BYTES = 8 * 1024 * 1024,
    CBX_MANIFEST_WORDS_MAX = 100000,
    CBX_MANIFEST_PIECES_MAX = 10000,
};

/* A run of bytes of a piece that are bytes of the file: from `piece` and `file` on, up to the
 * next run. */
struct cbx_manifest_run {
    uint32_t piece, file;
};

/* A piece of code in the file. */
struct cbx_manifest_piece {
    const char *language;
    bool completed; /* true if a service completes the code before it runs (CBX_BUILD_COMPLETED) */
    struct cbx_str text;
    struct cbx_str folder;               /* in a file that builds an image: its working folder */
    const struct cbx_manifest_run *runs; /* runs by place; the first is at 0 */
    size_t run_count;
    /* The same code without the marks of a template, judged if this code cannot be read; NULL:
     * none. */
    const struct cbx_manifest_piece *instead;
};

enum cbx_word_role {
    CBX_WORD_PACKAGE = 0, /* a package, as a word of its manager's install */
    CBX_WORD_LOCKED, /* the same in a lock file: the project did not choose most of them itself */
    CBX_WORD_INDEX,  /* the URL of an index or a registry */
    CBX_WORD_FILE,   /* the URL from which a locked package is downloaded */
    CBX_WORD_CODE,   /* unknown text of others with which a piece of code is completed */
};

struct cbx_manifest_word {
    enum cbx_word_role role;
    enum cbx_spec_kind kind;
    struct cbx_str text;
    uint32_t start, end; /* in the file */
};

/* The reason why a piece of code is not judged. */
enum cbx_skipped_piece {
    CBX_SKIPPED_FOREIGN, /* its language has no analyzer */
    CBX_SKIPPED_FRAGMENT /* it is an unreadable example */
};
struct cbx_manifest_skip {
    enum cbx_skipped_piece why;
    struct cbx_str language; /* name of the language; of a fragment too */
};

/* How the pieces of code are used. */
enum cbx_manifest_code {
    CBX_MANIFEST_BUILD = 0, /* they run where the project is built */
    CBX_MANIFEST_PAGE,      /* a browser runs them: judged as programs */
    /* an agent runs them: judged as programs; unreadable code is a warning */
    CBX_MANIFEST_SKILL,
    CBX_MANIFEST_DOCUMENT, /* they are examples: unreadable code is a fragment */
};

struct cbx_manifest {
    struct cbx_str text; /* the file */
    enum cbx_manifest_code code;
    /* true if the code builds an image, one piece after the other: CBX_BUILD_IMAGE */
    bool image;
    bool requirements; /* true if its lines are requirements: packages/install.h reads them */
    struct cbx_manifest_word *words;
    struct cbx_manifest_piece *pieces;
    struct cbx_manifest_skip *skips;
    size_t word_count, word_size, piece_count, piece_size, skip_count, skip_size;
};

/* Reads a file: UTF-8, line ends normalised. CBX_EINVAL, with line and column, if it is
 * malformed or has a part that the reader does not understand; CBX_ETOOBIG over the caps. *out
 * borrows from `text` and the arena. */
struct cbx_manifest_reader {
    const char *name;
    int (*read)(struct cbx_str text, struct cbx_arena *arena, struct cbx_manifest *out,
                struct cbx_err *err);
};

/* Returns the reader of the files of this path, by manifest.def; NULL if there is none. */
const struct cbx_manifest_reader *cbx_manifest_reader_of(struct cbx_str path);

/* Returns the reader of this name; NULL if there is none. */
const struct cbx_manifest_reader *cbx_manifest_reader_find(const char *name);

/* Judges the packages of a manifest like an install of them in shell code; files and paths of
 * the project are allowed as sources. The places of findings are in its text. CBX_ETOOBIG if the
 * arena is exhausted. */
int cbx_manifest_judge(const struct cbx_policy *policy, const struct cbx_manifest *manifest,
                       int64_t now, struct cbx_arena *arena, struct cbx_decision *out,
                       struct cbx_err *err);

/* Converts a span of a piece to a span of the file. */
void cbx_manifest_map(const struct cbx_manifest *manifest, const struct cbx_manifest_piece *piece,
                      struct cbx_span *span);

#endif
