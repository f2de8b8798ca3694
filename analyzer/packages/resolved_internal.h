/* SPDX-License-Identifier: MIT
 * Shared by the files that make resolved.h. */
#ifndef CBX_ANALYZER_PACKAGES_RESOLVED_INTERNAL_H
#define CBX_ANALYZER_PACKAGES_RESOLVED_INTERNAL_H

#include "analyzer/packages/resolved.h"

#include <stddef.h>

enum {
    CBX_PACKAGE_NAME_MAX = 214, /* bytes of a package's name */
    CBX_NPM_PATH_MAX = 1024,    /* of a path of npm */
    CBX_NPM_FOLDER_BYTES = sizeof("node_modules/") - 1,
};

/* The last package of a path of npm: "@b/c" of "node_modules/a/node_modules/@b/c". Empty for a
 * path that does not end in one. */
struct cbx_str cbx_npm_path_name(struct cbx_str path);

/* The path without its last package: "node_modules/a"; empty for a path of one package. */
struct cbx_str cbx_npm_path_outer(struct cbx_str path);

/* A package of the report asks for another one. */
struct cbx_resolved_edge {
    size_t from;         /* its number; CBX_RESOLVED_ASKED: the caller asks */
    struct cbx_str name; /* of the other one, borrowed; of npm as Node looks it up */
    bool is_url;         /* it is asked for by a URL, not by versions */
};

/* Sets `by` of each package, and `is_direct` of those that an edge asks for by a URL. Edges of
 * one package follow each other; paths of npm were checked. A hostile report costs at most edges
 * * depth of the paths * log(packages). */
void cbx_resolved_connect(struct cbx_resolved *resolved, const struct cbx_resolved_edge *edges,
                          size_t count);

#endif
