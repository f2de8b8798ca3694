/* SPDX-License-Identifier: MIT
 * Ledgers. Every hash is over fields of a fixed length, so no text can imitate another field. */
#include "policies/ledger.h"

/* Returns the SHA-256 of `purpose`, one byte, and the SHA-256 of each text. */
static struct cbx_sha256 combine(const char *purpose, uint8_t kind, const struct cbx_str *texts,
                                 size_t count)
{
    enum { PURPOSE_BYTES = 15, TEXTS_MAX = 3 };
    uint8_t bytes[PURPOSE_BYTES + 1 + TEXTS_MAX * CBX_SHA256_BYTES] = { 0 };
    size_t len = PURPOSE_BYTES;
    memcpy(bytes, purpose, strnlen(purpose, PURPOSE_BYTES));
    bytes[len++] = kind;
    for (size_t i = 0; i < count; i++, len += CBX_SHA256_BYTES) {
        struct cbx_sha256 hash = cbx_sha256_of(texts[i]);
        memcpy(bytes + len, hash.bytes, sizeof(hash.bytes));
    }
    return cbx_sha256_of((struct cbx_str){ .p = (const char *)bytes, .len = len });
}

static struct cbx_str bytes_of(const struct cbx_sha256 *hash)
{
    return (struct cbx_str){ .p = (const char *)hash->bytes, .len = sizeof(hash->bytes) };
}

struct cbx_sha256 cbx_ledger_begin(struct cbx_str session, const struct cbx_sha256 *policy)
{
    const struct cbx_str texts[] = { session, bytes_of(policy) };
    return combine("codebox begin", 0, texts, 2);
}

struct cbx_sha256 cbx_entry_hash(const struct cbx_entry *entry)
{
    const struct cbx_str texts[] = { entry->language, entry->name, entry->text };
    return combine("codebox entry", (uint8_t)entry->kind, texts, 3);
}

struct cbx_sha256 cbx_ledger_add(const struct cbx_sha256 *ledger, const struct cbx_sha256 *entry)
{
    const struct cbx_str texts[] = { bytes_of(ledger), bytes_of(entry) };
    return combine("codebox add", 0, texts, 2);
}

/* Header before the texts: their lengths and the kind, in host order. */
struct head {
    uint32_t kind, language_bytes, name_bytes, text_bytes;
};

void cbx_entry_write(const struct cbx_entry *entry, struct cbx_buf *out)
{
    struct head head = { .kind = entry->kind,
                         .language_bytes = (uint32_t)entry->language.len,
                         .name_bytes = (uint32_t)entry->name.len,
                         .text_bytes = (uint32_t)entry->text.len };
    cbx_buf_add_bytes(out, &head, sizeof(head));
    cbx_buf_add(out, entry->language);
    cbx_buf_add(out, entry->name);
    cbx_buf_add(out, entry->text);
}

bool cbx_entry_next(struct cbx_str *bytes, struct cbx_entry *out)
{
    struct head head;
    struct cbx_str rest = *bytes;
    if (rest.len < sizeof(head)) {
        return false;
    }
    memcpy(&head, rest.p, sizeof(head));
    cbx_str_take(&rest, sizeof(head));
    struct cbx_entry entry = { .kind = (enum cbx_entry_kind)head.kind };
    entry.language = cbx_str_take(&rest, head.language_bytes);
    entry.name = cbx_str_take(&rest, head.name_bytes);
    entry.text = cbx_str_take(&rest, head.text_bytes);
    if (head.kind < CBX_ENTRY_CELL || head.kind > CBX_ENTRY_RESET ||
        entry.language.len != head.language_bytes || entry.name.len != head.name_bytes ||
        entry.text.len != head.text_bytes) {
        return false;
    }
    *out = entry;
    *bytes = rest;
    return true;
}
