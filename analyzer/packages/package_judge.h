/* SPDX-License-Identifier: MIT
 * Judges an install of packages before it runs: makes a decision of a policy and of a client's
 * requirements, or of the packages that pip or npm resolved. Pure, like cbx_analyze. */
#ifndef CBX_ANALYZER_PACKAGES_PACKAGE_JUDGE_H
#define CBX_ANALYZER_PACKAGES_PACKAGE_JUDGE_H

#include "analyzer/decide.h"
#include "analyzer/packages/resolved.h"

/* The packages to judge: `resolved` if it is not NULL, otherwise `specs`. All borrowed. */
struct cbx_package_request {
    enum cbx_spec_kind kind; /* CBX_SPEC_PIP or CBX_SPEC_NPM */
    /* Requirements, one per line, in the manager's syntax, or of a lock file (pinned.h). */
    struct cbx_str specs;
    /* every package of the install, including transitive ones */
    const struct cbx_resolved *resolved;
    struct cbx_str principal; /* principal, for the policy's exceptions, */
    /* and the time at which they must be valid: Unix seconds */
    int64_t now;
};

/* The policy's rules judge the packages as they judge an install in code. In addition these
 * packages are denied, and no exception and no `mode: log-only` allows them:
 *   - a package that is blocked, not listed, too old or not from an index, when no rule of the
 *     policy decides about that;
 *   - a requirement that has more than a name, extras and versions, and is none of a lock file
 *     (pinned.h);
 *   - a resolved package that is no wheel (pip), that its authors withdrew, or that has no hash;
 *   - every package when the policy has `network: none`.
 * The decision's text is `specs`, or the text of the set (cbx_resolved_write). The span of a
 * finding refers to `specs`, or to a list of the resolved packages with one line each; its
 * detail names the chain of packages that pulled the package in, and what the policy allows.
 * Errors: CBX_ETOOBIG. */
int cbx_packages_judge(const struct cbx_policy *policy, const struct cbx_package_request *request,
                       struct cbx_arena *arena, struct cbx_decision *out, struct cbx_err *err);

#endif
