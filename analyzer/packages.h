/* SPDX-License-Identifier: MIT
 * Package installs to facts: what is installed, in which version, and from where. Linear in the
 * words. */
#ifndef CBX_ANALYZER_PACKAGES_H
#define CBX_ANALYZER_PACKAGES_H

#include "analyzer/lang.h"

/* A word of a command line. */
struct cbx_word {
    struct cbx_str text;
    bool known; /* false: it is computed */
    uint32_t start, end;
};

/* Reads a command line from its first word on and adds the facts of an install, in any spelling.
 * Returns true when the command is one of a package manager. */
bool cbx_packages_read(struct cbx_parsed *parsed, const struct cbx_word *words, size_t count);

/* Adds a package-blocked at every import that only blocked packages could give. */
void cbx_packages_imports(const struct cbx_policy *policy, struct cbx_facts *facts);

#endif
