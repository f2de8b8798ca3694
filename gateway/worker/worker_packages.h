/* SPDX-License-Identifier: MIT
 * The judgement of packages: those to resolve or install, and those installed for a sandbox.
 * `codebox audit replay` judges by the same functions. Pure. */
#ifndef CBX_GATEWAY_WORKER_WORKER_PACKAGES_H
#define CBX_GATEWAY_WORKER_WORKER_PACKAGES_H

#include "analyzer/packages/package_judge.h"
#include "gateway/ipc/seal/subject.h"

/* The question about packages. All borrowed. */
struct cbx_packages_question {
    enum cbx_action action;
    struct cbx_str language; /* language of the programs: it chooses the manager */
    /* RESOLVE: requirements; INSTALL: the manager's report; others: the set (cbx_resolved_write) */
    struct cbx_str text;
    struct cbx_str principal;
    int64_t now; /* now, in Unix seconds */
};

/* Judges the packages. *resolved, zeroed before, must live as long as the decision, which
 * borrows from it (cbx_resolved_done, also on failure). Packages are never approved: a verdict
 * that asks is a denial. CBX_EINVAL for a language without packages, and for a text that the
 * manager does not write; CBX_ETOOBIG. */
int cbx_packages_answer(const struct cbx_policy *policy,
                        const struct cbx_packages_question *question, struct cbx_arena *arena,
                        struct cbx_resolved *resolved, struct cbx_decision *out,
                        struct cbx_err *err);

/* Judges the set that is installed for the sandbox of a program, and denies the program if the
 * policy does not allow the set: the policy may differ from that of the install. Under `mode:
 * log-only` it adds the findings, without a place in the source. An empty set changes nothing.
 * Errors as above. */
int cbx_packages_add_to(const struct cbx_policy *policy,
                        const struct cbx_packages_question *question, struct cbx_arena *arena,
                        struct cbx_decision *decision, struct cbx_err *err);

#endif
