/* SPDX-License-Identifier: MIT
 * Packages that are installed for programs: the manager that installs for a language, what a policy says of it, and the limits that every
 * process keeps to. */
#ifndef CBX_POLICIES_PACKAGES_H
#define CBX_POLICIES_PACKAGES_H

#include "policies/base/str.h"
#include "policies/policy.h"

#include <stdbool.h>

enum cbx_manager { CBX_MANAGER_NONE = 0, CBX_MANAGER_PIP, CBX_MANAGER_NPM, CBX_MANAGERS };

enum {
    CBX_REQUIREMENTS_MAX = 100,              /* requirements of one install */
    CBX_REQUIREMENT_BYTES_MAX = 200,         /* one of them */
    CBX_PINNED_BYTES_MAX = 64 * 1024,        /* a requirement with its hashes (cbx_pinned) */
    CBX_REPORT_BYTES_MAX = 4 * 1024 * 1024,  /* what a manager reports of an install */
    CBX_PACKAGE_SET_MAX = 1000,              /* packages of a set, transitive ones included */
    CBX_PACKAGE_SET_BYTES_MAX = 1024 * 1024, /* the text of a set */
    CBX_CA_BUNDLE_BYTES_MAX = 256 * 1024,    /* certificates that installs trust, PEM */
};

/* The manager that installs for programs of a language, by a name of cbx_language_find. CBX_MANAGER_NONE for a language without packages
 * and for an unknown name. */
enum cbx_manager cbx_language_manager(struct cbx_str language);

/* The policy's package rules for a language; borrowed from the policy. NULL when the language has no manager. */
const struct cbx_packages *cbx_policy_packages(const struct cbx_policy *policy,
                                               struct cbx_str language);

/* Whether the policy lets packages of a language be installed at all: it gives a network, and does not forbid every package. Whether one
 * package may be installed, cbx_packages_judge decides. */
bool cbx_policy_installs(const struct cbx_policy *policy, struct cbx_str language);

#endif
