/* SPDX-License-Identifier: MIT
 * The judgement of packages. */
#include "gateway/worker/worker_packages.h"

#include "policies/packages.h"

/* Returns how requirements for programs of the language are written. */
static int kind_of(struct cbx_str language, enum cbx_spec_kind *out, struct cbx_err *err)
{
    enum cbx_manager manager = cbx_language_manager(language);
    if (manager == CBX_MANAGER_NONE) {
        return cbx_fail(err, CBX_EINVAL,
                        "packages are for '%.*s', allowed are python, javascript and typescript",
                        CBX_STR_SHOWN(language));
    }
    *out = cbx_spec_kind_of(manager);
    return 0;
}

int cbx_packages_answer(const struct cbx_policy *policy,
                        const struct cbx_packages_question *question, struct cbx_arena *arena,
                        struct cbx_resolved *resolved, struct cbx_decision *out,
                        struct cbx_err *err)
{
    struct cbx_package_request packages = { .specs = question->text,
                                            .principal = question->principal,
                                            .now = question->now };
    int failed = kind_of(question->language, &packages.kind, err);
    if (failed) {
        return failed;
    }
    if (question->action != CBX_ACTION_RESOLVE) {
        packages.resolved = resolved;
        if (question->action == CBX_ACTION_INSTALL) {
            failed = cbx_resolved_read(packages.kind, question->text, resolved, err);
        } else {
            failed = cbx_resolved_read_set(packages.kind, question->text, resolved, err);
        }
    }
    if (failed) {
        return failed;
    }
    failed = cbx_packages_judge(policy, &packages, arena, out, err);
    if (failed) {
        return failed;
    }
    out->language = question->language;
    out->verdict = out->verdict == CBX_ALLOW ? CBX_ALLOW : CBX_DENY;
    return 0;
}

/* Without these findings nothing would tell why a stored set was denied. They have no place in
 * the source. */
static int add_findings(const struct cbx_decision *packages, struct cbx_arena *arena,
                        struct cbx_decision *decision, struct cbx_err *err)
{
    size_t own = decision->finding_count, count = own + packages->finding_count;
    struct cbx_finding *all = cbx_arena_array(arena, count + 1, sizeof(*all));
    if (all == NULL) {
        return cbx_fail(err, CBX_ETOOBIG, "%zu findings are more than memory allows", count);
    }
    for (size_t i = 0; i < count; i++) {
        all[i] = i < own ? decision->findings[i] : packages->findings[i - own];
        all[i].span = i < own ? all[i].span : (struct cbx_span){ 0 };
    }
    decision->findings = all;
    decision->finding_count = count;
    return 0;
}

int cbx_packages_add_to(const struct cbx_policy *policy,
                        const struct cbx_packages_question *question, struct cbx_arena *arena,
                        struct cbx_decision *decision, struct cbx_err *err)
{
    CBX_AUTO_DONE(resolved) resolved = { 0 };
    struct cbx_decision packages = { 0 };
    if (question->text.len == 0) {
        return 0;
    }
    int failed = cbx_packages_answer(policy, question, arena, &resolved, &packages, err);
    if (!failed && packages.verdict != CBX_ALLOW) {
        decision->verdict = CBX_DENY;
        decision->findings = packages.findings;
        decision->finding_count = packages.finding_count;
        decision->truncated = packages.truncated;
    } else if (!failed && policy->log_only) {
        failed = add_findings(&packages, arena, decision, err);
    }
    return failed;
}
