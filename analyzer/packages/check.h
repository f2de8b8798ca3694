/* SPDX-License-Identifier: MIT
 * Packages against what the policy says of them: names, versions, where they come from. */
#ifndef CBX_ANALYZER_PACKAGES_CHECK_H
#define CBX_ANALYZER_PACKAGES_CHECK_H

#include "analyzer/packages/install.h"
#include "analyzer/packages/spec.h"

/* Adds what is to be said of one word that names a package. */
void cbx_packages_check(struct cbx_parsed *parsed, enum cbx_spec_kind kind,
                        const struct cbx_word *word);

/* The same of a text that stands for the word: what `npm init x` installs. */
void cbx_packages_check_text(struct cbx_parsed *parsed, enum cbx_spec_kind kind,
                             const struct cbx_word *word, struct cbx_str text);

/* Adds a fact at a word. */
void cbx_packages_add(struct cbx_parsed *parsed, enum cbx_fact_id id, const struct cbx_word *word);

/* What the policy says of the packages of this kind. */
const struct cbx_packages *cbx_packages_of(const struct cbx_policy *policy,
                                           enum cbx_spec_kind kind);

/* Is "requirements", "path", ... among the policy's sources? */
bool cbx_packages_source(const struct cbx_packages *packages, const char *source);

/* Is an index, a registry or a channel among the policy's? URLs are compared as URLs: the scheme
 * and the host must be the same, the path must lie within; user and password do not count. */
bool cbx_packages_index(const struct cbx_packages *packages, enum cbx_spec_kind kind,
                        struct cbx_str index);

#endif
