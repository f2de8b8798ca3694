/* SPDX-License-Identifier: MIT
 * Checks packages against the policy: names, versions, sources. */
#ifndef CBX_ANALYZER_PACKAGES_PACKAGE_CHECK_H
#define CBX_ANALYZER_PACKAGES_PACKAGE_CHECK_H

#include "analyzer/packages/install.h"
#include "analyzer/packages/spec.h"

/* Adds the facts about one word that names a package. */
void cbx_packages_check(struct cbx_parsed *parsed, enum cbx_spec_kind kind,
                        const struct cbx_word *word);

/* The same for a text that replaces the word: the package that `npm init x` installs. */
void cbx_packages_check_text(struct cbx_parsed *parsed, enum cbx_spec_kind kind,
                             const struct cbx_word *word, struct cbx_str text);

/* Adds a fact at a word. */
void cbx_packages_add(struct cbx_parsed *parsed, enum cbx_fact_id id, const struct cbx_word *word);

/* Returns the section of the policy for packages of this kind. */
const struct cbx_packages *cbx_packages_of(const struct cbx_policy *policy,
                                           enum cbx_spec_kind kind);

/* Returns true if an entry of the list, a name or a glob, covers the name. Names of Python
 * packages are compared in normal form (PEP 503), other names byte by byte. */
bool cbx_packages_lists(const struct cbx_strs *list, struct cbx_str name, bool python);

/* Returns true if the policy blocks a package of this name: by `block`, or, except in a build,
 * by `block-in-sandboxes`. */
bool cbx_packages_blocks(const struct cbx_packages *packages, struct cbx_str name, bool python,
                         bool build);

/* Returns true if "requirements", "path", ... is one of the policy's sources. */
bool cbx_packages_source(const struct cbx_packages *packages, const char *source);

/* The same for a text. In a build, files of requirements and paths are sources too: the
 * project's files are judged separately. */
bool cbx_packages_takes_source(const struct cbx_parsed *parsed, const struct cbx_packages *packages,
                               const char *source);

/* Returns true if an index, a registry or a channel is one of the policy's. URLs are compared by
 * parts: scheme and host must be equal, the path must lie within; user and password are ignored. */
bool cbx_packages_index(const struct cbx_packages *packages, enum cbx_spec_kind kind,
                        struct cbx_str index);

/* The same for a text. In a build, "default" is also the address of the manager's own index
 * (CBX_PUBLIC_INDEX), which files of projects name. */
bool cbx_packages_takes_index(const struct cbx_parsed *parsed, const struct cbx_packages *packages,
                              enum cbx_spec_kind kind, struct cbx_str index);

#endif
