/* SPDX-License-Identifier: MIT
 * General knowledge of packages: well-known names, similar names, and the distributions that
 * provide an import. Tables: known.def, imports.def. */
#ifndef CBX_ANALYZER_PACKAGES_KNOWN_H
#define CBX_ANALYZER_PACKAGES_KNOWN_H

#include "policies/base/str.h"

#include <stdbool.h>

/* Returns the well-known package that this name resembles: the name is not well known itself,
 * and differs from it by a typing error or a usual trick. Empty if there is none. Linear in the
 * table. */
struct cbx_str cbx_known_meant(bool python, struct cbx_str name);

/* Returns the distributions that may provide this import ("google.protobuf.message",
 * "@scope/x/y"), separated by spaces. Empty for relative, absolute and other paths. */
struct cbx_str cbx_known_distributions(struct cbx_str import, bool python);

/* Returns the rows of imports whose distribution has another name, one after the other:
 * "google.protobuf" and "protobuf", several separated by blanks. False after the last. */
bool cbx_known_import_at(size_t index, struct cbx_str *import, struct cbx_str *distributions);

/* Returns true if the module is part of the interpreter. */
bool cbx_known_builtin(struct cbx_str import, bool python);

#endif
