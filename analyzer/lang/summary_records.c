/* SPDX-License-Identifier: MIT
 * The records of summaries: their bytes, and how summaries are merged. */
#include "analyzer/lang/scope.h"
#include "analyzer/lang/summary.h"

/* Precedes the texts of a record; host byte order. */
struct head {
    uint32_t kind, names_bytes, words_bytes, body_bytes;
};

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
    if (records->len < sizeof(head)) {
        return false;
    }
    memcpy(&head, records->p, sizeof(head));
    const char *names = records->p + sizeof(head);
    size_t left = records->len - sizeof(head),
           texts = (size_t)head.names_bytes + head.words_bytes + head.body_bytes;
    if (texts > left || head.kind < CBX_RECORD_CELL || head.kind > CBX_RECORD_WALK ||
        head.words_bytes != (head.kind == CBX_RECORD_PIECE ? CBX_RECORD_WORDS_BYTES : 0)) {
        return false;
    }
    const char *words = names + head.names_bytes, *body = words + head.words_bytes;
    *out = (struct cbx_record){ .kind = (enum cbx_record_kind)head.kind,
                                .names = { names, head.names_bytes },
                                .words = { words, head.words_bytes },
                                .body = { body, head.body_bytes } };
    *records = (struct cbx_str){ .p = names + texts, .len = left - texts };
    return true;
}

/* Returns true if the second record replaces the first. */
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

/* Returns the slot of the record that `record` replaces, or a free slot. */
static struct slot *find_slot(struct names *names, const struct cbx_record *record)
{
    size_t at = hash_record(record) & (names->size - 1);
    while (names->slots[at].used && !replaces(&names->slots[at].record, record)) {
        at = (at + 1) & (names->size - 1);
    }
    return &names->slots[at];
}

/* A bit that records which may replace each other share: most old records need no hash. */
static uint64_t bit_of(const struct cbx_record *record)
{
    size_t len = record->names.len;
    unsigned last = len > 0 ? (unsigned char)record->names.p[len - 1] : 0;
    unsigned before = len > 1 ? (unsigned char)record->names.p[len - 2] : 0;
    return 1ull << ((last + before * 5 + len * 11 + (size_t)record->kind * 17) % 64);
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

/* Removes the records of a summary that newer records replace, and a rest that is no whole
 * record. */
static void drop_replaced(struct cbx_buf *summary, struct names *names, uint64_t bits)
{
    struct cbx_str rest = cbx_buf_str(summary);
    struct cbx_record record;
    size_t kept = 0;
    for (size_t at = 0; cbx_record_next(&rest, &record); at = summary->len - rest.len) {
        size_t bytes = summary->len - rest.len - at;
        if ((bits & bit_of(&record)) != 0 && find_slot(names, &record)->used) {
            continue;
        }
        if (kept < at) {
            memmove(summary->p + kept, summary->p + at, bytes);
        }
        kept += bytes;
    }
    if (kept < summary->len) {
        summary->len = kept;
        summary->p[kept] = '\0';
    }
}

bool cbx_summary_merge(struct cbx_buf *summary, struct cbx_str newer, struct cbx_arena *arena)
{
    struct names names = { .size = 64 };
    struct cbx_record record;
    struct cbx_str rest = newer;
    uint64_t bits = 0;
    while (names.size < 2 * count_records(newer) + 2) {
        names.size *= 2;
    }
    names.slots = cbx_arena_array(arena, names.size, sizeof(*names.slots));
    if (names.slots == NULL) {
        return false;
    }
    while (cbx_record_next(&rest, &record)) {
        *find_slot(&names, &record) = (struct slot){ .record = record, .used = true };
        bits |= bit_of(&record);
    }
    drop_replaced(summary, &names, bits);
    summary->overflow = false;
    cbx_buf_add(summary, newer);
    return !summary->overflow;
}
