/* SPDX-License-Identifier: MIT
 * Packages that are to be installed, and a policy, to a decision. Pure, as cbx_analyze. */
#ifndef CBX_ANALYZER_PACKAGES_JUDGE_H
#define CBX_ANALYZER_PACKAGES_JUDGE_H

#include "analyzer/decide.h"
#include "analyzer/packages/resolved.h"

/* Packages that are to be installed for programs of a language. */
struct cbx_package_request {
    enum cbx_spec_kind kind; /* CBX_SPEC_PIP or CBX_SPEC_NPM */
    /* What a caller asks for, one package in a line, as its manager reads it; or NULL and */
    struct cbx_str specs;
    const struct cbx_resolved *resolved; /* all that would be installed, whoever asked for it */
    struct cbx_str principal;            /* for exceptions */
    int64_t now;
};

/* The language that a manager's packages are for. */
struct cbx_str cbx_package_language(enum cbx_spec_kind kind);

/* Judges packages by the rules of the policy, as an install of them in code. What a rule of the policy should decide and none does is denied,
 * as is what no policy can allow: a specification that is more than name, extras and versions; a package that would run code when it is
 * installed, was withdrawn, or has no hash; any package under `network: none`. The decision's text is `specs`, or the text of the set (cbx_resolved_write); a finding's detail
 * says who pulled the package in and what would be allowed, and its place is in a text of a package in each line. Errors: CBX_ETOOBIG. */
int cbx_packages_judge(const struct cbx_policy *policy, const struct cbx_package_request *request,
                       struct cbx_arena *arena, struct cbx_decision *out, struct cbx_err *err);

#endif
