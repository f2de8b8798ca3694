/* SPDX-License-Identifier: MIT
 * Anchors of other replicas' logs. */
#include "gateway/executor/heads/audit_anchors.h"

#include "gateway/executor/audit/audit_internal.h"
#include "policies/base/log.h"
#include "policies/base/time/clock.h"

#include <inttypes.h>

int cbx_anchors_head(struct cbx_audit *audit, const char *instance,
                     char out[CBX_AUDIT_HEAD_CHARS + 1], struct cbx_err *err)
{
    struct cbx_audit_head head = { .time_ms = cbx_time_ms() };
    EVP_PKEY *key = NULL;
    out[0] = '\0';
    int failed = cbx_audit_signed(audit, &head.chain, &key, err);
    if (failed) {
        return failed;
    }
    snprintf(head.instance, sizeof(head.instance), "%s", instance);
    if (head.chain.seq > 0 && cbx_audit_head_sign(&head, key, out) != 0) {
        failed = cbx_fail(err, CBX_EAUDIT, "a head of the audit log cannot be signed");
    }
    EVP_PKEY_free(key);
    return failed;
}

/* --- one head --------------------------------------------------------------------------------- */

static int read_head(struct cbx_str line, struct cbx_audit_head *out, struct cbx_err *err)
{
    if (!cbx_audit_head_read(line, out)) {
        return cbx_fail(err, CBX_EINVAL, "the head of the other replica's audit log is malformed");
    }
    EVP_PKEY *key = cbx_audit_key_of(out->key);
    bool valid = cbx_audit_head_is_signed(line, key);
    EVP_PKEY_free(key);
    if (!valid) {
        return cbx_fail(err, CBX_EINVAL,
                        "the head of the other replica's audit log has no valid signature");
    }
    return 0;
}

static struct cbx_anchor *find(struct cbx_anchors *anchors, struct cbx_str replica)
{
    for (size_t i = 0; i < anchors->count; i++) {
        if (cbx_str_is(replica, anchors->items[i].replica)) {
            return &anchors->items[i];
        }
    }
    return NULL;
}

/* --- what a head says ------------------------------------------------------------------------- */

static bool is_other_log(const struct cbx_audit_head *before, const struct cbx_audit_head *now)
{
    return strcmp(before->instance, now->instance) != 0;
}

static bool went_back(const struct cbx_audit_head *before, const struct cbx_audit_head *now)
{
    if (is_other_log(before, now)) {
        return false;
    }
    return now->chain.seq < before->chain.seq ||
           (now->chain.seq == before->chain.seq &&
            !cbx_sha256_equal(&now->chain.hash, &before->chain.hash));
}

/* `before` is NULL for the first head of a replica. */
static int record(struct cbx_audit *audit, struct cbx_str replica, struct cbx_str line,
                  const struct cbx_audit_head *before, const struct cbx_audit_head *now,
                  struct cbx_err *err)
{
    CBX_AUTO_JSON body = json_object();
    json_object_set_new(body, "replica", cbx_json_text(replica));
    json_object_set_new(body, "seq", json_integer((json_int_t)now->chain.seq));
    json_object_set_new(body, "head", cbx_json_text(line));
    if (before != NULL && went_back(before, now)) {
        json_object_set_new(body, "went_back_from", json_integer((json_int_t)before->chain.seq));
        cbx_log(CBX_LOG_ERROR,
                "the audit log of replica '%.*s' was changed: its last record was %" PRIu64
                " and is %" PRIu64 ", or another one; see 'codebox audit verify --all'",
                CBX_STR_ARG(replica), before->chain.seq, now->chain.seq);
    }
    if (before != NULL && is_other_log(before, now)) {
        json_object_set_new(body, "instance_before", json_string(before->instance));
        cbx_log(CBX_LOG_WARNING,
                "replica '%.*s' has another audit log: its instance was %s and is %s",
                CBX_STR_ARG(replica), before->instance, now->instance);
    }
    return cbx_audit_append(audit, CBX_AUDIT_ANCHOR, body, NULL, err);
}

static bool is_due(const struct cbx_anchor *last, const struct cbx_audit_head *now, int64_t now_ms)
{
    int64_t age_ms = now_ms - last->recorded_ms;
    bool contradicts = is_other_log(&last->head, now) || went_back(&last->head, now);
    bool grows = now->chain.seq > last->head.chain.seq;
    return age_ms >= CBX_ANCHOR_MIN_MS && (contradicts || (grows && age_ms >= CBX_ANCHOR_MS));
}

/* Call it with the lock held. */
static int take(struct cbx_anchors *anchors, struct cbx_audit *audit, struct cbx_str replica,
                struct cbx_str line, const struct cbx_audit_head *head, int64_t now_ms,
                struct cbx_err *err)
{
    struct cbx_anchor *item = find(anchors, replica);
    if (item == NULL && anchors->count == CBX_REPLICAS_MAX) {
        return cbx_fail(err, CBX_EBUSY, "there are anchors of %d replicas, and no more are taken",
                        CBX_REPLICAS_MAX);
    }
    if (item != NULL && !is_due(item, head, now_ms)) {
        return 0;
    }
    int failed = record(audit, replica, line, item != NULL ? &item->head : NULL, head, err);
    if (failed) {
        return failed;
    }
    if (item == NULL) {
        item = &anchors->items[anchors->count++];
        snprintf(item->replica, sizeof(item->replica), "%.*s", CBX_STR_ARG(replica));
    }
    item->head = *head;
    item->recorded_ms = now_ms;
    return 0;
}

int cbx_anchors_take(struct cbx_anchors *anchors, struct cbx_audit *audit, struct cbx_str replica,
                     struct cbx_str head, int64_t now_ms, struct cbx_err *err)
{
    struct cbx_audit_head read;
    if (!cbx_replica_is_name(replica)) {
        return cbx_fail(err, CBX_EINVAL, "'%.*s' is no name of a replica", CBX_STR_SHOWN(replica));
    }
    int failed = read_head(head, &read, err);
    if (failed) {
        return failed;
    }
    pthread_mutex_lock(&anchors->lock);
    failed = take(anchors, audit, replica, head, &read, now_ms, err);
    pthread_mutex_unlock(&anchors->lock);
    return failed;
}
