/* SPDX-License-Identifier: MIT
 * One requirement as pip reads it (PEP 508): name, extras, versions or a direct reference, marker.
 * Linear in the text, no recursion, nothing allocated; the parts lie in the text. */
#ifndef CBX_POLICIES_VERSIONS_REQUIREMENT_H
#define CBX_POLICIES_VERSIONS_REQUIREMENT_H

#include "policies/base/str.h"

#include <stdbool.h>

struct cbx_requirement {
    struct cbx_str name, extras; /* extras: the text between the brackets */
    struct cbx_str specifiers;   /* without parentheses */
    struct cbx_str url;          /* name @ url */
    struct cbx_str marker;
    bool never; /* true if the marker holds in no sandbox */
};

/* Reads a requirement. False if it is malformed; *out then has the parts before the error, with
 * the text after the name and the extras as specifiers. */
bool cbx_requirement_parse(struct cbx_str text, struct cbx_requirement *out);

/* Returns true if a parsed requirement is a name with optional extras and versions only: no URL,
 * no marker, and no character that is special to a shell or within quotes. Compare names with
 * cbx_package_same (policies/versions/version.h). */
bool cbx_requirement_is_plain(const struct cbx_requirement *requirement);

/* Returns whether a marker can hold in a sandbox (CPython 3 on Linux). A marker that depends on
 * anything else may hold. */
enum cbx_marker { CBX_MARKER_MALFORMED = 0, CBX_MARKER_NEVER, CBX_MARKER_MAY };
enum cbx_marker cbx_marker_read(struct cbx_str text);

#endif
