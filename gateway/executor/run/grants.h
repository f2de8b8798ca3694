/* SPDX-License-Identifier: MIT
 * The values that programs get, and their redaction from what leaves sandboxes. The executor alone has them. */
#ifndef CBX_GATEWAY_EXECUTOR_RUN_GRANTS_H
#define CBX_GATEWAY_EXECUTOR_RUN_GRANTS_H

#include "docker/sandbox/sandbox.h"
#include "gateway/executor/redact/redact.h"
#include "gateway/ipc/master/policy_set.h"
#include "gateway/ipc/master/variables.h"

/* Zeroed memory grants nothing. */
struct cbx_grants {
    struct cbx_variables variables;
    struct cbx_redactor *redactor; /* of all secrets; NULL = none */
};

/* Reads the variables (gateway/ipc/master/variables.h) and closes the descriptor. */
int cbx_grants_init(struct cbx_grants *grants, int fd, struct cbx_err *err);
void cbx_grants_done(struct cbx_grants *grants);

/* The values that a caller sets: JSON {NAME: VALUE}, checked against what the decision has of them (`environment` of what it asks for). Empty
 * text = none. *out is a new reference, or NULL. CBX_ESEAL. */
int cbx_grants_read_set(struct cbx_str text, const json_t *hashes, json_t **out,
                        struct cbx_err *err);

/* Gives a sandbox that was claimed what the policy passes, and what the caller sets (NULL = nothing). `key` is the instance's. */
int cbx_grants_give(const struct cbx_grants *grants, const struct cbx_policy *policy,
                    const json_t *set, struct cbx_str key, struct cbx_sandbox *sandbox,
                    struct cbx_err *err);

/* May the sandbox, which an earlier executor gave variables, be adopted? Only when this one has the same values for its policy: it could
 * not redact others. */
bool cbx_grants_match(const struct cbx_grants *grants, const struct cbx_policy *policy,
                      struct cbx_str key, const struct cbx_sandbox *sandbox);

/* A text with secrets replaced, allocated; NULL for NULL. */
char *cbx_grants_clean(const struct cbx_grants *grants, const char *text);

/* The same with every string and every key of a JSON value, new. */
json_t *cbx_redact_json(const struct cbx_redactor *redactor, const json_t *json);

#endif
