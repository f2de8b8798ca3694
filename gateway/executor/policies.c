/* SPDX-License-Identifier: MIT
 * The sets of policies of this gateway. */
#include "gateway/executor/policies.h"

#include "gateway/executor/executor_internal.h"
#include "gateway/identity/identity.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"

#include <stdlib.h>
#include <string.h>

static void add_set(struct cbx_policy_history *history, struct cbx_policy_set set)
{
    history->sets = cbx_grow(history->sets, history->count, sizeof(*history->sets));
    history->sets[history->count++] = set;
}

void cbx_policy_history_init(struct cbx_policy_history *history, const struct cbx_policies *first)
{
    *history = (struct cbx_policy_history){ 0 };
    pthread_mutex_init(&history->lock, NULL);
    add_set(history, (struct cbx_policy_set){ .policies = first });
}

const struct cbx_policies *cbx_policy_history_of(struct cbx_policy_history *history,
                                                 uint64_t number)
{
    pthread_mutex_lock(&history->lock);
    size_t i = history->count - 1;
    while (i > 0 && history->sets[i].first_number > number) {
        i--;
    }
    const struct cbx_policies *found = history->sets[i].policies;
    pthread_mutex_unlock(&history->lock);
    return found;
}

const struct cbx_policies *cbx_policy_history_last(struct cbx_policy_history *history)
{
    return cbx_policy_history_of(history, UINT64_MAX);
}

const struct cbx_policies *cbx_policy_history_with(struct cbx_policy_history *history,
                                                   struct cbx_str name,
                                                   const struct cbx_sha256 *sha256)
{
    const struct cbx_policies *found = NULL;
    pthread_mutex_lock(&history->lock);
    for (size_t i = history->count; i > 0 && found == NULL; i--) {
        const struct cbx_policies *set = history->sets[i - 1].policies;
        const struct cbx_policy *policy = cbx_policies_find(set, name);
        found = policy != NULL && cbx_sha256_equal(&policy->sha256, sha256) ? set : NULL;
    }
    pthread_mutex_unlock(&history->lock);
    return found;
}

const struct cbx_policy *cbx_policy_history_find(struct cbx_policy_history *history,
                                                 struct cbx_str name,
                                                 const struct cbx_sha256 *sha256)
{
    const struct cbx_policies *set = cbx_policy_history_with(history, name, sha256);
    return set != NULL ? cbx_policies_find(set, name) : NULL;
}

const struct cbx_policy *cbx_policy_history_find_sealed(struct cbx_policy_history *history,
                                                        const json_t *sealed)
{
    struct cbx_sha256 sha256;
    struct cbx_str name = cbx_json_str(json_object_get(sealed, "policy"));
    return cbx_sha256_from_hex(cbx_json_str(json_object_get(sealed, "policy_sha256")), &sha256)
               ? cbx_policy_history_find(history, name, &sha256)
               : NULL;
}

/* --- reload ----------------------------------------------------------------------------------- */

static void set_hash(json_t *into, const char *key, const struct cbx_policy *policy)
{
    char hex[CBX_SHA256_HEX + 1];
    if (policy != NULL) {
        cbx_sha256_hex(&policy->sha256, hex);
        json_object_set_new(into, key, json_string(hex));
    }
}

/* Adds {name, old, new} for the policies of `from` that `seen` does not have. */
static void describe(const struct cbx_policies *from, const struct cbx_policies *before,
                     const struct cbx_policies *after, const struct cbx_policies *seen,
                     json_t *list)
{
    for (size_t i = 0; i < from->count; i++) {
        struct cbx_str name = from->items[i]->name;
        if (seen != NULL && cbx_policies_find(seen, name) != NULL) {
            continue;
        }
        json_t *item = json_pack("{s:o}", "name", cbx_json_text(name));
        set_hash(item, "old", cbx_policies_find(before, name));
        set_hash(item, "new", cbx_policies_find(after, name));
        json_array_append_new(list, item);
    }
}

/* If the log cannot be written, later actions fail but the reload continues: the new set may be
 * the stricter one. */
static void record(struct cbx_executor *e, const struct cbx_policies *before,
                   const struct cbx_policies *after)
{
    struct cbx_audit *audit;
    struct cbx_err err = { 0 };
    CBX_AUTO_JSON body = json_pack("{s:[]}", "policies");
    json_t *list = json_object_get(body, "policies");
    describe(after, before, after, NULL, list);
    describe(before, before, after, after, list);
    if (cbx_executor_audit(e, &audit, &err) != 0 ||
        cbx_audit_append(audit, "reload", body, NULL, &err) != 0) {
        cbx_log(CBX_LOG_ERROR, "a reload of the policies is not recorded: %s", err.text);
    }
}

/* The reload may change callers and their rights: the record has the hash of the complete set. */
static int reload_identity(struct cbx_executor *e, struct cbx_str bytes, struct cbx_err *err)
{
    char hex[CBX_SHA256_HEX + 1];
    struct cbx_audit *audit;
    struct cbx_err why = { 0 };
    if (e->config.identity == NULL ||
        cbx_str_equal(cbx_identity_bytes(e->config.identity), bytes)) {
        return 0;
    }
    int failed = cbx_identity_replace(e->config.identity, bytes, err);
    if (failed) {
        return failed;
    }
    struct cbx_sha256 hash = cbx_sha256_of(bytes);
    cbx_sha256_hex(&hash, hex);
    CBX_AUTO_JSON body = json_pack("{s:s}", "identity", hex);
    if (cbx_executor_audit(e, &audit, &why) != 0 ||
        cbx_audit_append(audit, "reload", body, NULL, &why) != 0) {
        cbx_log(CBX_LOG_ERROR, "a reload of the principals is not recorded: %s", why.text);
    }
    return 0;
}

int cbx_executor_reload(void *executor, const struct cbx_reload_part *part, uint64_t first_number,
                        struct cbx_err *err)
{
    struct cbx_executor *e = executor;
    if (strcmp(part->name, "identity") == 0) {
        return reload_identity(e, part->bytes, err);
    }
    if (strcmp(part->name, "policies") != 0) {
        return 0;
    }
    struct cbx_policies *loaded = cbx_new(sizeof(*loaded));
    int failed = cbx_policies_read(part->bytes, loaded, err);
    if (failed) {
        free(loaded);
        return failed;
    }
    const struct cbx_policies *before = cbx_policy_history_last(&e->policies);
    pthread_mutex_lock(&e->policies.lock);
    add_set(&e->policies,
            (struct cbx_policy_set){ .first_number = first_number, .policies = loaded });
    pthread_mutex_unlock(&e->policies.lock);
    record(e, before, loaded);
    return 0;
}
