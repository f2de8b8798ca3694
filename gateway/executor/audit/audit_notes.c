/* SPDX-License-Identifier: MIT
 * Records of the audit log about the log: remains of a crash, their acknowledgement, removed
 * files, replaced signing keys. */
#include "gateway/executor/audit/audit_notes.h"

#include "gateway/executor/audit/audit_internal.h"
#include "gateway/executor/heads/audit_heads.h"
#include "policies/base/text/hex.h"

#include <inttypes.h>

/* `records` are the numbers of records 'recovered' whose ranges were acknowledged. */
static void acknowledge_ranges(const json_t *records, struct cbx_audit_report *report)
{
    size_t kept = 0, stored = report->unsigned_count < CBX_AUDIT_RANGES_MAX ? report->unsigned_count
                                                                            : CBX_AUDIT_RANGES_MAX;
    for (size_t i = 0; i < stored; i++) {
        bool acknowledged = false;
        for (size_t k = 0; k < json_array_size(records); k++) {
            acknowledged |= json_integer_value(json_array_get(records, k)) ==
                            (json_int_t)report->unsigned_ranges[i].record;
        }
        if (!acknowledged) {
            report->unsigned_ranges[kept++] = report->unsigned_ranges[i];
        }
    }
    report->unsigned_count -= stored - kept;
}

static void add_range(const json_t *body, uint64_t record, struct cbx_audit_report *report)
{
    int64_t from = json_integer_value(json_object_get(body, "unsigned_from"));
    if (from > 0 && report->unsigned_count < CBX_AUDIT_RANGES_MAX) {
        report->unsigned_ranges[report->unsigned_count] = (struct cbx_audit_range){
            .from = (uint64_t)from,
            .to = (uint64_t)json_integer_value(json_object_get(body, "unsigned_to")),
            .record = record
        };
    }
    report->unsigned_count += from > 0;
}

/* --- the clock -------------------------------------------------------------------------------- */

static void add_setback(struct cbx_str line, uint64_t seq, int64_t by_ms,
                        struct cbx_audit_report *report)
{
    if (report->setback_count++ >= CBX_AUDIT_SETBACKS_MAX) {
        return;
    }
    CBX_AUTO_JSON record = NULL;
    cbx_json_parse(line, CBX_AUDIT_LINE_MAX, &record, NULL);
    report->setbacks[report->setback_count - 1] = (struct cbx_audit_setback){
        .record = seq,
        .by_ms = by_ms,
        .noted = json_integer_value(json_object_get(record, "clock_back_ms")) == by_ms
    };
}

void cbx_audit_note_time(struct cbx_str time, struct cbx_str line, uint64_t seq,
                         struct cbx_audit_report *report)
{
    int64_t before, now;
    struct cbx_str last = cbx_str_of(report->last_time);
    /* Times have one format, in which they sort as texts: ordered times are not parsed. */
    bool ordered = time.len == last.len && memcmp(time.p, last.p, time.len) >= 0;
    if (!ordered && cbx_chain_time(last, &before) && cbx_chain_time(time, &now) &&
        before - now > CBX_AUDIT_CLOCK_TOLERANCE_MS) {
        add_setback(line, seq, before - now, report);
    }
    snprintf(report->last_time, sizeof(report->last_time), "%.*s", CBX_STR_ARG(time));
}

/* --- changes of the key ----------------------------------------------------------------------- */

static bool read_key_text(const json_t *body, const char *name, uint8_t out[CBX_AUDIT_PUBLIC_BYTES])
{
    struct cbx_str text = cbx_json_str(json_object_get(body, name));
    return text.len == 2 * CBX_AUDIT_PUBLIC_BYTES &&
           cbx_hex_decode(text, out, CBX_AUDIT_PUBLIC_BYTES);
}

/* A key that the trusted key signed becomes the trusted key. */
static bool note_key(struct cbx_audit_notes *notes, const json_t *body, uint64_t seq)
{
    uint8_t from[CBX_AUDIT_PUBLIC_BYTES], to[CBX_AUDIT_PUBLIC_BYTES];
    if (!read_key_text(body, "old", from) || !read_key_text(body, "new", to) ||
        !cbx_audit_key_change_is_signed(from, to,
                                        cbx_json_str(json_object_get(body, "signature")))) {
        return false;
    }
    if (notes->heads != NULL) {
        cbx_audit_heads_trust(notes->heads, from);
        cbx_audit_heads_trust(notes->heads, to);
    }
    notes->key_seq = seq;
    memcpy(notes->named, to, sizeof(to));
    notes->trusted_changed = memcmp(from, notes->trusted, sizeof(from)) == 0;
    if (notes->trusted_changed) {
        memcpy(notes->before, from, sizeof(from));
        memcpy(notes->trusted, to, sizeof(to));
    }
    return true;
}

/* After a crash right after the record of a change, the previous key stayed in use. */
static void revert_key(struct cbx_audit_notes *notes, const json_t *body)
{
    uint64_t from = (uint64_t)json_integer_value(json_object_get(body, "unsigned_from"));
    uint64_t to = (uint64_t)json_integer_value(json_object_get(body, "unsigned_to"));
    if (notes->key_seq == 0 || notes->key_seq < from || notes->key_seq > to) {
        return;
    }
    if (notes->trusted_changed) {
        memcpy(notes->trusted, notes->before, sizeof(notes->trusted));
    }
    notes->key_seq = 0;
}

bool cbx_audit_notes_key(const struct cbx_audit_notes *notes, uint64_t head_seq,
                         uint8_t out[CBX_AUDIT_PUBLIC_BYTES])
{
    bool behind = notes->key_seq > head_seq; /* the change itself is not signed yet */
    memcpy(out, behind && notes->trusted_changed ? notes->before : notes->trusted,
           CBX_AUDIT_PUBLIC_BYTES);
    return behind || notes->key_seq == 0 ||
           memcmp(notes->named, notes->trusted, sizeof(notes->named)) == 0;
}

bool cbx_audit_note(struct cbx_audit_notes *notes, struct cbx_str type, struct cbx_str line,
                    uint64_t seq, struct cbx_audit_report *report)
{
    bool recovered = cbx_str_is(type, "recovered"), key = cbx_str_is(type, "key");
    if (!recovered && !key && !cbx_str_is(type, "acknowledged")) {
        return true;
    }
    CBX_AUTO_JSON record = NULL;
    cbx_json_parse(line, CBX_AUDIT_LINE_MAX, &record, NULL);
    const json_t *body = json_object_get(record, "body");
    if (key) {
        return note_key(notes, body, seq);
    }
    if (recovered) {
        add_range(body, seq, report);
        revert_key(notes, body);
    } else {
        acknowledge_ranges(json_object_get(body, "recovered"), report);
    }
    return true;
}

/* --- removed files ---------------------------------------------------------------------------- */

bool cbx_audit_names_pruned(struct cbx_str line, const struct cbx_chain *before)
{
    static const char type[] = "\"type\":\"pruned\"";
    if (memmem(line.p, line.len, type, sizeof(type) - 1) == NULL) {
        return false;
    }
    CBX_AUTO_JSON record = NULL;
    char hash[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&before->hash, hash);
    if (cbx_json_parse(line, CBX_AUDIT_LINE_MAX, &record, NULL) != 0 ||
        !cbx_str_is(cbx_json_str(json_object_get(record, "type")), "pruned")) {
        return false;
    }
    const json_t *file;
    size_t i;
    json_array_foreach(json_object_get(json_object_get(record, "body"), "files"), i, file)
    {
        if (json_integer_value(json_object_get(file, "last")) == (json_int_t)before->seq &&
            cbx_str_is(cbx_json_str(json_object_get(file, "last_hash")), hash)) {
            return true;
        }
    }
    return false;
}
