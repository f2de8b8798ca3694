/* SPDX-License-Identifier: MIT
 * Versions and names of packages: PEP 440 order, PEP 503 names, and the one question that policies
 * ask of a requirement. */
#ifndef CBX_POLICIES_VERSION_H
#define CBX_POLICIES_VERSION_H

#include "policies/base/str.h"

#include <stdbool.h>

/* PEP 440 order of two versions (epoch, release, pre, post, dev; a local part is passed over): -1,
 * 0, 1. *ok is false when one of them is no version. Also right for semver's numbers and
 * pre-releases as far as minimum versions need it. */
int cbx_version_compare(struct cbx_str a, struct cbx_str b, bool *ok);

/* PEP 503: lower case, runs of '-', '_' and '.' become one '-'. Writes at most size - 1 bytes and a
 * NUL. */
void cbx_package_normalise(struct cbx_str name, char *out, size_t size);

/* Could a resolver that takes the newest version that `specifiers` ("==1.2", ">=1,<2", "~=1.4", ""
 * ...) let through end below `minimum`? "Could not tell" (a malformed specifier) is true. */
bool cbx_version_below(struct cbx_str specifiers, struct cbx_str minimum);

/* The same of an npm range ("^4.17.0", "~1.2", "4.x", ">=3 <4", "1.0.0 - 2.0.0", "^3 || ^4"). A tag
 * other than "latest" may be any version: true. */
bool cbx_npm_below(struct cbx_str range, struct cbx_str minimum);

#endif
