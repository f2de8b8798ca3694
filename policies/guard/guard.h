/* SPDX-License-Identifier: MIT
 * The guard: the sandbox also refuses at run time the actions that a policy denies by
 * capability. */
#ifndef CBX_POLICIES_GUARD_GUARD_H
#define CBX_POLICIES_GUARD_GUARD_H

#include "policies/policy.h"

/* The refused actions: bit 1 << enum cbx_refusal, each with the id of the rule that denies it
 * (for several capabilities the rule for the first one), or "guard.NAME" if no rule does, or any
 * of several may. Texts are static or borrowed from the policy. Zeroed memory refuses nothing. */
struct cbx_guard {
    uint32_t refused;
    struct cbx_str rules[CBX_REFUSALS];
};

/* Derives the guard for programs of this language and principal at `now` (Unix seconds). A
 * capability is denied if a rule with the effect "deny" names it for the language and no
 * exception lets the principal pass it; names that the rule takes out of the capability stay
 * denied for the guard, which cannot see names. The policy's key `guard` takes precedence over
 * the rules; an exception for "guard.NAME" takes precedence over the key. Under log_only the
 * guard refuses only the actions that the sandbox always refuses. */
struct cbx_guard cbx_guard_of(const struct cbx_policy *policy, enum cbx_language language,
                              struct cbx_str principal, int64_t now);

/* True if, for every one of these languages (bits), the guard refuses the action that the rule's
 * key `guarded` names. */
bool cbx_guard_covers(const struct cbx_policy *policy, const struct cbx_rule *rule,
                      uint32_t languages, struct cbx_str principal, int64_t now);

/* A row of guard.def; the function returns NULL for other numbers. */
struct cbx_refusal_row {
    const char *name, *id, *message, *hint; /* id: "guard.NAME" */
    uint64_t capabilities;
    uint32_t languages;
    bool any, shell, always;
};
const struct cbx_refusal_row *cbx_refusal_row(enum cbx_refusal id);

/* Returns the refusal with this name; CBX_REFUSALS if there is none. */
enum cbx_refusal cbx_refusal_of(struct cbx_str name);

#endif
