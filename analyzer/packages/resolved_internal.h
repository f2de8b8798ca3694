/* SPDX-License-Identifier: MIT
 * Declarations shared by the files that implement resolved.h. */
#ifndef CBX_ANALYZER_PACKAGES_RESOLVED_INTERNAL_H
#define CBX_ANALYZER_PACKAGES_RESOLVED_INTERNAL_H

#include "analyzer/packages/resolved.h"

#include <stddef.h>

enum {
    CBX_PACKAGE_NAME_MAX = 214, /* maximum bytes of a package's name */
    CBX_NPM_PATH_MAX = 1024,    /* maximum bytes of a path of npm */
    CBX_NPM_FOLDER_BYTES = sizeof("node_modules/") - 1,
};

/* Returns the last package of a path of npm: "@b/c" of "node_modules/a/node_modules/@b/c". Empty
 * for a path that does not end in one. */
struct cbx_str cbx_npm_path_name(struct cbx_str path);

/* Returns the path without its last package: "node_modules/a"; empty for a path of one package. */
struct cbx_str cbx_npm_path_outer(struct cbx_str path);

/* An edge: a package of the report requires another one. */
struct cbx_resolved_edge {
    size_t from;         /* number of the package; CBX_RESOLVED_ASKED: the caller */
    struct cbx_str name; /* name of the other one, borrowed; for npm as Node searches it */
    bool is_url;         /* true if it is requested by a URL, not by versions */
};

/* Sets `by` of each package, and `is_direct` of those that an edge requests by a URL. Edges of
 * one package follow each other; paths of npm were checked. A hostile report costs at most edges
 * * depth of the paths * log(packages). */
void cbx_resolved_connect(struct cbx_resolved *resolved, const struct cbx_resolved_edge *edges,
                          size_t count);

#endif
