/* SPDX-License-Identifier: MIT
 * Parses one word of an install as its package manager does. Pure: nothing is judged, nothing is
 * allocated, the parts lie in the word. */
#ifndef CBX_ANALYZER_PACKAGES_SPEC_H
#define CBX_ANALYZER_PACKAGES_SPEC_H

#include "policies/base/str.h"
#include "policies/packages.h"

#include <stdbool.h>

enum cbx_spec_kind {
    CBX_SPEC_PIP = 0, /* PEP 508 */
    CBX_SPEC_PROJECT, /* poetry, pdm, uv and similar managers: PEP 508, or name@constraint */
    CBX_SPEC_CONDA,   /* MatchSpec */
    CBX_SPEC_NPM,
};

/* Returns the notation of the words in a manager's installs; CBX_SPEC_PIP for CBX_MANAGER_NONE. */
enum cbx_spec_kind cbx_spec_kind_of(enum cbx_manager manager);

enum cbx_origin { CBX_FROM_INDEX = 0, CBX_FROM_URL, CBX_FROM_VCS, CBX_FROM_PATH };

struct cbx_spec {
    struct cbx_str name;    /* may be empty if the origin is not an index */
    struct cbx_str version; /* specifiers, constraint, range or tag; "" is any */
    struct cbx_str channel; /* conda: the channel of the package */
    enum cbx_origin origin;
    bool pinned; /* true if version is exactly one version */
    /* true if the manager would refuse it; name and version have the parts that could be read */
    bool malformed;
    bool never; /* true if its marker does not hold */
};

/* Reads one word. Always fills *out. */
void cbx_spec_read(enum cbx_spec_kind kind, struct cbx_str word, struct cbx_spec *out);

/* Returns true if it allows a version below the minimum, or if that is undecidable. */
bool cbx_spec_below(enum cbx_spec_kind kind, const struct cbx_spec *spec, struct cbx_str minimum);

#endif
