/* SPDX-License-Identifier: MIT
 * Packages that are installed for programs: the package manager of a language, its rules in a
 * policy, and the limits common to all processes. */
#ifndef CBX_POLICIES_PACKAGES_H
#define CBX_POLICIES_PACKAGES_H

#include "policies/base/str.h"
#include "policies/policy.h"

#include <stdbool.h>

enum cbx_manager { CBX_MANAGER_NONE = 0, CBX_MANAGER_PIP, CBX_MANAGER_NPM, CBX_MANAGERS };

enum {
    CBX_REQUIREMENTS_MAX = 100,              /* requirements of one install */
    CBX_REQUIREMENT_BYTES_MAX = 200,         /* bytes of one requirement */
    CBX_PINNED_BYTES_MAX = 64 * 1024,        /* a requirement with its hashes (cbx_pinned) */
    CBX_REPORT_BYTES_MAX = 4 * 1024 * 1024,  /* bytes of a manager's report of an install */
    CBX_PACKAGE_SET_MAX = 1000,              /* packages of a set, transitive ones included */
    CBX_PACKAGE_SET_BYTES_MAX = 1024 * 1024, /* the text of a set */
    CBX_CA_BUNDLE_BYTES_MAX = 256 * 1024,    /* certificates that installs trust, PEM */
};

/* Returns the package manager of a language, by a name of cbx_language_find. CBX_MANAGER_NONE
 * for a language without packages and for an unknown name. */
enum cbx_manager cbx_language_manager(struct cbx_str language);

/* Returns the policy's package rules for a language; borrowed from the policy. NULL if the
 * language has no manager. */
const struct cbx_packages *cbx_policy_packages(const struct cbx_policy *policy,
                                               struct cbx_str language);

/* True if the policy allows installing packages of a language at all: it gives a network, and
 * does not forbid all packages. cbx_packages_judge judges a single package. */
bool cbx_policy_installs(const struct cbx_policy *policy, struct cbx_str language);

#endif
