/* SPDX-License-Identifier: MIT
 * The records of summaries: as bytes, and merged. */
#include "analyzer/lang/scope.h"
#include "analyzer/lang/summary.h"

/* Before a record's texts, in host order. */
struct head {
    uint32_t kind, names_bytes, words_bytes, body_bytes;
};

_Static_assert(sizeof(struct head) == CBX_RECORD_BYTES_MIN, "the head of an empty record");

void cbx_record_write(const struct cbx_record *record, struct cbx_buf *out)
{
    struct head head = { .kind = record->kind,
                         .names_bytes = (uint32_t)record->names.len,
                         .words_bytes = (uint32_t)record->words.len,
                         .body_bytes = (uint32_t)record->body.len };
    cbx_buf_add_bytes(out, &head, sizeof(head));
    cbx_buf_add(out, record->names);
    cbx_buf_add(out, record->words);
    cbx_buf_add(out, record->body);
}

bool cbx_record_next(struct cbx_str *records, struct cbx_record *out)
{
    struct head head;
    struct cbx_str rest = *records;
    if (rest.len < sizeof(head)) {
        return false;
    }
    memcpy(&head, rest.p, sizeof(head));
    cbx_str_take(&rest, sizeof(head));
    struct cbx_record record = { .kind = (enum cbx_record_kind)head.kind };
    record.names = cbx_str_take(&rest, head.names_bytes);
    record.words = cbx_str_take(&rest, head.words_bytes);
    record.body = cbx_str_take(&rest, head.body_bytes);
    if (head.kind < CBX_RECORD_CELL || head.kind > CBX_RECORD_WALK ||
        record.names.len != head.names_bytes || record.words.len != head.words_bytes ||
        record.body.len != head.body_bytes ||
        record.words.len != (record.kind == CBX_RECORD_PIECE ? CBX_RECORD_WORDS_BYTES : 0)) {
        return false;
    }
    *out = record;
    *records = rest;
    return true;
}

/* True when the second record takes the place of the first. */
static bool replaces(const struct cbx_record *old, const struct cbx_record *new)
{
    return old->kind == new->kind &&
           (new->kind == CBX_RECORD_WALK
                ? true
                : cbx_str_equal(old->names, new->names) &&
                      (new->kind == CBX_RECORD_VALUES || cbx_str_equal(old->body, new->body)));
}

struct names {
    struct slot {
        struct cbx_record record;
        bool used;
    } * slots;
    size_t size;
};

static uint64_t hash_record(const struct cbx_record *record)
{
    return cbx_name_hash(record->names) + (uint64_t)record->kind * 0x9E3779B97F4A7C15u +
           (record->kind == CBX_RECORD_CELL ? record->body.len : 0);
}

/* Where a record that replaces this one stands, or a free slot. */
static struct slot *find_slot(struct names *names, const struct cbx_record *record)
{
    size_t at = hash_record(record) & (names->size - 1);
    while (names->slots[at].used && !replaces(&names->slots[at].record, record)) {
        at = (at + 1) & (names->size - 1);
    }
    return &names->slots[at];
}

static size_t count_records(struct cbx_str records)
{
    struct cbx_record record;
    size_t count = 0;
    while (cbx_record_next(&records, &record)) {
        count++;
    }
    return count;
}

bool cbx_summary_merge(struct cbx_buf *summary, struct cbx_str newer, struct cbx_arena *arena)
{
    struct names names = { .size = 64 };
    struct cbx_record record;
    struct cbx_str rest = newer, old = cbx_arena_copy(arena, cbx_buf_str(summary));
    while (names.size < 2 * count_records(newer) + 2) {
        names.size *= 2;
    }
    names.slots = cbx_arena_array(arena, names.size, sizeof(*names.slots));
    if (names.slots == NULL || old.p == NULL) {
        return false;
    }
    while (cbx_record_next(&rest, &record)) {
        *find_slot(&names, &record) = (struct slot){ .record = record, .used = true };
    }
    cbx_buf_reset(summary);
    while (cbx_record_next(&old, &record)) {
        if (!find_slot(&names, &record)->used) {
            cbx_record_write(&record, summary);
        }
    }
    cbx_buf_add(summary, newer);
    return !summary->overflow;
}
