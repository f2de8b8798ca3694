/* SPDX-License-Identifier: MIT
 * The values of programs' variables, and their redaction from the output of sandboxes. Only the
 * executor has them. */
#ifndef CBX_GATEWAY_EXECUTOR_RUN_GRANTS_H
#define CBX_GATEWAY_EXECUTOR_RUN_GRANTS_H

#include "docker/sandbox/sandbox.h"
#include "gateway/executor/redact/redact.h"
#include "gateway/ipc/master/policy_set.h"
#include "gateway/ipc/master/variables.h"

/* The variables of policies. Zeroed memory grants none. */
struct cbx_grants {
    struct cbx_variables variables;
    struct cbx_redactor *redactor; /* redactor of all secrets; NULL = none */
};

/* Reads the variables (gateway/ipc/master/variables.h) and closes the descriptor. */
int cbx_grants_init(struct cbx_grants *grants, int fd, struct cbx_err *err);
void cbx_grants_done(struct cbx_grants *grants);

/* Reads the values that a caller sets: JSON {NAME: VALUE}, checked against the hashes in the
 * decision (`environment` of its requests). Empty text = none. *out is a new reference, or NULL.
 * CBX_ESEAL. */
int cbx_grants_read_set(struct cbx_str text, const json_t *hashes, json_t **out,
                        struct cbx_err *err);

/* Gives a claimed sandbox the variables that the policy passes, and those that the caller sets
 * (NULL = none). `key` is the instance's key. */
int cbx_grants_give(const struct cbx_grants *grants, const struct cbx_policy *policy,
                    const json_t *set, struct cbx_str key, struct cbx_sandbox *sandbox,
                    struct cbx_err *err);

/* True if the sandbox, to which an earlier executor gave variables, may be adopted: only if this
 * executor has the same values for its policy, because it could not redact others. */
bool cbx_grants_match(const struct cbx_grants *grants, const struct cbx_policy *policy,
                      struct cbx_str key, const struct cbx_sandbox *sandbox);

/* Returns a text with secrets replaced, allocated; NULL for NULL. */
char *cbx_grants_clean(const struct cbx_grants *grants, const char *text);

/* The same for every string and every key of a JSON value; a new reference. */
json_t *cbx_redact_json(const struct cbx_redactor *redactor, const json_t *json);

#endif
