/* SPDX-License-Identifier: MIT
 * JSON, TOML and YAML as one tree whose nodes know their places in the file, for readers that are
 * tables of paths. Strict: a text that its format does not allow is an error. */
#ifndef CBX_ANALYZER_MANIFEST_DOCUMENTS_DOC_H
#define CBX_ANALYZER_MANIFEST_DOCUMENTS_DOC_H

#include "analyzer/manifest/manifest_internal.h"

enum cbx_doc_kind {
    CBX_DOC_OTHER = 0, /* a number, a truth value, a date, null */
    CBX_DOC_TEXT,
    CBX_DOC_MAP,
    CBX_DOC_LIST,
};

/* The notation of a text in the file: how its bytes there are decoded. */
enum cbx_doc_style {
    CBX_DOC_VERBATIM = 0, /* as they are; lines may be indented, and their ends folded */
    CBX_DOC_ESCAPED,      /* with backslashes */
    CBX_DOC_QUOTED,       /* with '' for ' */
};

struct cbx_doc_node {
    enum cbx_doc_kind kind;
    enum cbx_doc_style style;
    struct cbx_str text; /* value of a text, decoded, and of OTHER, as it is written */
    struct cbx_str key;  /* key of an entry of a map, decoded */
    uint32_t start, end; /* place in the file; of a text without its quotes */
    uint32_t key_start, key_end;
    struct cbx_doc_node *first, *last, *next; /* children; the next sibling */
};

struct cbx_doc {
    struct cbx_str file;
    struct cbx_doc_node *root;
};

enum {
    CBX_DOC_DEPTH_MAX = 64,
    CBX_DOC_NODES_MAX = 2000000,
    CBX_DOC_ALIASES_MAX = 1000, /* YAML: aliases share nodes, which are read again each time */
};

/* Read a file: UTF-8, line ends normalised. CBX_EINVAL with line and column, CBX_ETOOBIG over
 * the caps. *out lives in the arena and borrows the file. YAML: several documents are read as
 * one if each is a table. */
int cbx_doc_read_json(struct cbx_str file, struct cbx_arena *arena, struct cbx_doc *out,
                      struct cbx_err *err);
/* The same for JSON with comments and with commas behind the last item (JSONC). */
int cbx_doc_read_jsonc(struct cbx_str file, struct cbx_arena *arena, struct cbx_doc *out,
                       struct cbx_err *err);
int cbx_doc_read_toml(struct cbx_str file, struct cbx_arena *arena, struct cbx_doc *out,
                      struct cbx_err *err);
int cbx_doc_read_yaml(struct cbx_str file, struct cbx_arena *arena, struct cbx_doc *out,
                      struct cbx_err *err);

/* Returns the entry of a map; NULL if it is missing, or `map` is NULL or no map. */
const struct cbx_doc_node *cbx_doc_get(const struct cbx_doc_node *map, const char *key);

/* Returns the text of an entry; empty if it is missing or no text. */
struct cbx_str cbx_doc_text(const struct cbx_doc_node *map, const char *key);

/* Returns the word for a kind: "a text", "a table". */
const char *cbx_doc_kind_name(enum cbx_doc_kind kind);

/* Calls `take` for each node at a path: names separated by dots, "*" for each key, "[]" behind a
 * name for each item of its list ("package[].source", "jobs.*.steps[]"); at most 8 names. A node
 * on the way that is neither absent nor of the kind that the path needs is an error with its
 * place. Returns the first result of `take` that is not 0. */
int cbx_doc_each(const struct cbx_doc *doc, const char *path,
                 int (*take)(void *context, const struct cbx_doc_node *node), void *context,
                 struct cbx_err *err);

/* Fails with the place of a node. */
int cbx_doc_fail(const struct cbx_doc *doc, const struct cbx_doc_node *node, const char *what,
                 struct cbx_err *err);

/* Appends a text to a piece, each byte at the place of the bytes that encode it in the file. */
void cbx_doc_take(struct cbx_piece_maker *maker, const struct cbx_doc_node *text);

/* --- for the readers of formats --------------------------------------------------------------- */

/* A tree that is being built. */
struct cbx_doc_maker {
    struct cbx_str file;
    struct cbx_arena *arena;
    struct cbx_err *err;
    size_t nodes;
};

/* Adds a new child, the last one; `parent` NULL: a root. NULL, with the error set, over the
 * caps. */
struct cbx_doc_node *cbx_doc_add(struct cbx_doc_maker *maker, struct cbx_doc_node *parent,
                                 enum cbx_doc_kind kind, uint32_t start, uint32_t end);

#endif
