/* SPDX-License-Identifier: MIT
 * Packages of lock files, for the readers of lock files: a name, a version, and the source of the
 * package. */
#ifndef CBX_ANALYZER_MANIFEST_LOCKS_LOCKED_H
#define CBX_ANALYZER_MANIFEST_LOCKS_LOCKED_H

#include "analyzer/manifest/documents/doc.h"

enum { CBX_LOCKED_INDEXES_MAX = 64 };

/* A lock file that is being read. */
struct cbx_locking {
    const struct cbx_doc *doc; /* root of the document; NULL: a format that doc.h does not have */
    struct cbx_arena *arena;
    struct cbx_manifest *out;
    struct cbx_err *err;
    enum cbx_spec_kind kind;
    struct cbx_str indexes[CBX_LOCKED_INDEXES_MAX]; /* packages that were added: each counts once */
    size_t index_count;
};

/* A text with its place. */
struct cbx_locked_text {
    struct cbx_str text;
    uint32_t start, end;
};

/* Returns the place of a node: of its text, or of its key. */
struct cbx_locked_text cbx_locked_value(const struct cbx_doc_node *node);
struct cbx_locked_text cbx_locked_key(const struct cbx_doc_node *node);

/* Adds a package from the index. CBX_ETOOBIG over the caps. */
int cbx_locked_add(struct cbx_locking *l, struct cbx_locked_text name, struct cbx_str version);

/* Adds a package from an address: "git+https://...", a URL of an archive. */
int cbx_locked_add_direct(struct cbx_locking *l, struct cbx_locked_text name,
                          struct cbx_str address);

/* Adds an index. */
int cbx_locked_add_index(struct cbx_locking *l, struct cbx_locked_text index);

/* Adds the URL of a package's file, unless it is on the host of `index`, which may be empty. */
int cbx_locked_add_file(struct cbx_locking *l, struct cbx_locked_text url, struct cbx_str index);

/* Adds a package of npm that has been resolved to `resolved`: a URL of a registry, a repository,
 * a path, or nothing. */
int cbx_locked_add_npm(struct cbx_locking *l, struct cbx_locked_text name, struct cbx_str version,
                       struct cbx_locked_text resolved);

#endif
