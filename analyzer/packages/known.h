/* SPDX-License-Identifier: MIT
 * What is known of packages in general: names that everybody uses, names that look like them, and
 * which distribution an import comes from. Tables: known.def, imports.def. */
#ifndef CBX_ANALYZER_PACKAGES_KNOWN_H
#define CBX_ANALYZER_PACKAGES_KNOWN_H

#include "policies/base/str.h"

#include <stdbool.h>

/* The well-known package that somebody who writes this name probably means: the name is not well
 * known itself, and a slip or a usual trick away. Empty when there is none. Linear in the table. */
struct cbx_str cbx_known_meant(bool python, struct cbx_str name);

/* The distributions of which any one may give this import ("google.protobuf.message",
 * "@scope/x/y"), separated by spaces. Empty for what comes from no package: relative, absolute and
 * other addresses. */
struct cbx_str cbx_known_distributions(struct cbx_str import, bool python);

/* Does the interpreter itself bring this module? */
bool cbx_known_builtin(struct cbx_str import, bool python);

#endif
