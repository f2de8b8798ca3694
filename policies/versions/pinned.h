/* SPDX-License-Identifier: MIT
 * Requirements of a lock file in one form: one version, and the hashes that its file may have. pip
 * reads this form (--require-hashes). The analyzer writes and judges these lines, and
 * docker/packages checks them again before an installer gets them. Pure; nothing is allocated, the
 * parts lie in the line. */
#ifndef CBX_POLICIES_VERSIONS_PINNED_H
#define CBX_POLICIES_VERSIONS_PINNED_H

#include "policies/base/str.h"

#include <stdbool.h>

struct cbx_pinned {
    struct cbx_str requirement; /* the text before the hashes */
    struct cbx_str name, version;
    struct cbx_str hashes; /* "--hash=sha256:HEX --hash=sha256:HEX" */
    /* true if it has a marker, so it may be for another platform or Python */
    bool conditional;
};

/* Reads "NAME==VERSION --hash=sha256:HEX", with at least one hash, single blanks between the
 * parts, and " ; MARKER" before the hashes if it has a marker. False for any other text: extras,
 * several specifiers, wildcards, other hashes, more than CBX_PINNED_BYTES_MAX bytes, and bytes
 * that are special to a shell or outside of printable ASCII. */
bool cbx_pinned_parse(struct cbx_str line, struct cbx_pinned *out);

/* Removes the first hash of `hashes` and returns its 64 digits; empty if there is none. */
struct cbx_str cbx_pinned_take_hash(struct cbx_str *hashes);

/* Returns true for 64 hexadecimal digits in small letters. */
bool cbx_pinned_is_sha256(struct cbx_str text);

/* Returns true if no byte of the marker has another meaning in a shell or in a quoted text; its
 * texts stand in double quotes. */
bool cbx_pinned_is_plain_marker(struct cbx_str marker);

#endif
