/* SPDX-License-Identifier: MIT
 * Kept heads: the heads that were read, sorted by record, and their records in a walk through
 * the log. Reading: audit_heads_read.c. */
#include "gateway/executor/heads/audit_heads_internal.h"

#include "policies/base/memory.h"
#include "policies/base/sort.h"
#include "policies/base/text/hex.h"

#include <inttypes.h>
#include <string.h>

struct cbx_audit_heads *cbx_audit_heads_new(void)
{
    struct cbx_audit_heads *heads = cbx_new(sizeof(*heads));
    return heads;
}

void cbx_audit_heads_free(struct cbx_audit_heads *heads)
{
    if (heads == NULL) {
        return;
    }
    for (size_t i = 0; i < heads->key_count; i++) {
        EVP_PKEY_free(heads->keys[i].key);
    }
    for (size_t i = 0; i < heads->source_count; i++) {
        free(heads->sources[i].name);
    }
    free(heads->items);
    free(heads);
}

/* --- the walk --------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const struct cbx_head_item *x = a, *y = b;
    return (x->chain.seq > y->chain.seq) - (x->chain.seq < y->chain.seq);
}

static bool is_of(const struct cbx_head_item *item, const struct cbx_chain *chain)
{
    return cbx_sha256_equal(&item->chain.hash, &chain->hash);
}

void cbx_audit_heads_start(struct cbx_audit_heads *heads, const struct cbx_chain *start)
{
    cbx_sort_heap(heads->items, heads->count, sizeof(*heads->items), compare);
    heads->next = 0;
    for (size_t i = 0; i < heads->count; i++) {
        heads->items[i].state = CBX_HEAD_UNMET;
    }
    for (size_t i = 0; i < heads->key_count; i++) {
        heads->keys[i].trusted = false;
    }
    for (; heads->next < heads->count && heads->items[heads->next].chain.seq <= start->seq;
         heads->next++) {
        struct cbx_head_item *item = &heads->items[heads->next];
        /* The record 'pruned' has the hash of the last removed record. */
        bool pruned = item->chain.seq < start->seq || is_of(item, start);
        item->state = pruned ? CBX_HEAD_PRUNED : CBX_HEAD_DIFFERS;
    }
}

void cbx_audit_heads_trust(struct cbx_audit_heads *heads, const uint8_t key[CBX_AUDIT_PUBLIC_BYTES])
{
    for (size_t i = 0; i < heads->key_count; i++) {
        heads->keys[i].trusted |= memcmp(heads->keys[i].bytes, key, CBX_AUDIT_PUBLIC_BYTES) == 0;
    }
}

void cbx_audit_heads_meet(struct cbx_audit_heads *heads, const struct cbx_chain *chain)
{
    for (; heads->next < heads->count && heads->items[heads->next].chain.seq <= chain->seq;
         heads->next++) {
        struct cbx_head_item *item = &heads->items[heads->next];
        item->state = is_of(item, chain) ? CBX_HEAD_MATCHES : CBX_HEAD_DIFFERS;
    }
}

/* --- the result ------------------------------------------------------------------------------- */

/* The texts of one head, for messages. */
struct place {
    char source[256], when[32], key[2 * CBX_AUDIT_PUBLIC_BYTES + 1];
};

static void describe(const struct cbx_audit_heads *heads, const struct cbx_head_item *item,
                     struct place *out)
{
    snprintf(out->source, sizeof(out->source), "%.200s:%" PRIu32, heads->sources[item->source].name,
             item->line);
    cbx_chain_format_time(item->time_ms, out->when);
    cbx_hex_encode(heads->keys[item->key].bytes, CBX_AUDIT_PUBLIC_BYTES, out->key);
}

/* Marks the instances of this log: the instance of the state directory, and each instance that a
 * head signed by the log's key names. A head of such an instance with another key's signature is
 * not from another log. */
static void find_own(struct cbx_audit_heads *heads, const char *instance)
{
    for (size_t i = 0; i < heads->instance_count; i++) {
        heads->instances[i].own = strcmp(heads->instances[i].name, instance) == 0;
    }
    for (size_t i = 0; i < heads->count; i++) {
        const struct cbx_head_item *item = &heads->items[i];
        heads->instances[item->instance].own |= heads->keys[item->key].trusted;
    }
    for (size_t i = 0; i < heads->instance_count; i++) {
        heads->instances[i].judged |= heads->instances[i].own;
    }
}

static void add_finding(const struct cbx_audit_heads *heads, const struct cbx_head_item *item,
                        const struct cbx_audit_report *log, struct cbx_audit_heads_report *out)
{
    if (out->finding_count++ >= CBX_AUDIT_HEADS_FINDINGS_MAX) {
        return;
    }
    struct place place;
    char *text = out->findings[out->finding_count - 1];
    const char *instance = heads->instances[item->instance].name;
    describe(heads, item, &place);
    if (item->state != CBX_HEAD_UNMET && !heads->keys[item->key].trusted) {
        snprintf(text, sizeof(out->findings[0]),
                 "the head of record %" PRIu64
                 " at %s (%s, instance %s) is signed with the key %s, "
                 "which the log does not name: the log and its key were replaced, or the head is "
                 "forged",
                 item->chain.seq, place.when, place.source, instance, place.key);
    } else if (item->state == CBX_HEAD_DIFFERS) {
        snprintf(text, sizeof(out->findings[0]),
                 "record %" PRIu64 " is another one than at %s, when its head was kept (%s, "
                 "instance %s): the log was rewritten",
                 item->chain.seq, place.when, place.source, instance);
    } else {
        snprintf(
            text, sizeof(out->findings[0]),
            "record %" PRIu64 " is missing: its head was kept at %s (%s, instance %s), and the "
            "log ends after record %" PRIu64 ": it was cut, or put back to an older copy of itself",
            item->chain.seq, place.when, place.source, instance, log->first + log->records - 1);
    }
}

static int fail_foreign(const struct cbx_audit_heads *heads, const struct cbx_head_item *item,
                        const char *what, struct cbx_err *err)
{
    struct place place;
    describe(heads, item, &place);
    return cbx_fail(err, CBX_EINVAL,
                    "%s: the head of record %" PRIu64 " %s: instance %s, signed with the key %s",
                    place.source, item->chain.seq, what, heads->instances[item->instance].name,
                    place.key);
}

/* Counts one head of this log. */
static int count(const struct cbx_audit_heads *heads, struct cbx_head_item *item,
                 const struct cbx_audit_report *log, struct cbx_audit_heads_report *out,
                 struct cbx_err *err)
{
    bool missing = item->state == CBX_HEAD_UNMET && log->line == 0;
    if (item->state == CBX_HEAD_PRUNED) {
        out->pruned++; /* also with a key whose record 'key' was removed */
        return 0;
    }
    if (missing) {
        add_finding(heads, item, log, out);
        return 0;
    }
    if (item->state == CBX_HEAD_UNMET) {
        out->unmet++;
        return 0;
    }
    bool anchor = heads->sources[item->source].kind == CBX_HEADS_ANCHORS;
    if (!heads->keys[item->key].trusted && !anchor) {
        return fail_foreign(heads, item, "is signed with a key that the log does not name", err);
    }
    if (item->state == CBX_HEAD_DIFFERS || !heads->keys[item->key].trusted) {
        add_finding(heads, item, log, out);
        return 0;
    }
    out->matched++;
    out->newest = item->chain.seq;
    out->newest_ms = item->time_ms;
    return 0;
}

static bool has_anchors(const struct cbx_audit_heads *heads)
{
    for (size_t i = 0; i < heads->source_count; i++) {
        if (heads->sources[i].kind == CBX_HEADS_ANCHORS) {
            return true;
        }
    }
    return false;
}

int cbx_audit_heads_judge(struct cbx_audit_heads *heads, const char *instance,
                          const struct cbx_audit_report *log, struct cbx_audit_heads_report *out,
                          struct cbx_err *err)
{
    struct cbx_audit_heads_report report = { .torn = heads->torn };
    const struct cbx_head_item *other = NULL;
    size_t of_others = 0;
    find_own(heads, instance);
    for (size_t i = 0; i < heads->count; i++) {
        struct cbx_head_item *item = &heads->items[i];
        if (heads->instances[item->instance].own) {
            int failed = count(heads, item, log, &report, err);
            if (failed) {
                return failed;
            }
            continue;
        }
        if (heads->sources[item->source].kind == CBX_HEADS_OWN) {
            return fail_foreign(heads, item, "is of another log", err);
        }
        report.others += heads->sources[item->source].kind == CBX_HEADS_FOLDER;
        of_others++;
        other = item;
    }
    if (of_others == heads->count && !has_anchors(heads)) {
        if (other != NULL) {
            return fail_foreign(heads, other, "is of another log, and so is every other one", err);
        }
        return cbx_fail(err, CBX_EINVAL, "no kept head was found");
    }
    *out = report;
    return 0;
}

bool cbx_audit_heads_lost(const struct cbx_audit_heads *heads, size_t *at,
                          struct cbx_audit_lost *out)
{
    while (*at < heads->instance_count && heads->instances[*at].judged) {
        (*at)++;
    }
    if (*at == heads->instance_count) {
        return false;
    }
    const struct cbx_head_item *newest = NULL;
    for (size_t i = 0; i < heads->count; i++) {
        const struct cbx_head_item *item = &heads->items[i];
        if (item->instance == *at && (newest == NULL || item->chain.seq >= newest->chain.seq)) {
            newest = item;
        }
    }
    *out = (struct cbx_audit_lost){ .seq = 0 };
    snprintf(out->instance, sizeof(out->instance), "%s", heads->instances[*at].name);
    if (newest != NULL) {
        struct place place;
        describe(heads, newest, &place);
        snprintf(out->source, sizeof(out->source), "%s", place.source);
        out->seq = newest->chain.seq;
        out->time_ms = newest->time_ms;
    }
    (*at)++;
    return true;
}
