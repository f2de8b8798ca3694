/* SPDX-License-Identifier: MIT
 * Entries of a session as a front sends them to a worker: any bytes. What is read is written again as
 * it was, every entry changes the ledger, and the past that holds the entries is read back. */
#include "analyzer/past/past.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

/* The entry as bytes is a part of what it was read from. */
static void write_again(const struct cbx_entry *entry, struct cbx_str read)
{
    CBX_AUTO_DONE(buf) bytes;
    cbx_buf_init(&bytes, 1 << 20);
    cbx_entry_write(entry, &bytes);
    require(cbx_str_equal(cbx_buf_str(&bytes), read));
}

static void read_back(const struct cbx_past *past)
{
    CBX_AUTO_DONE(buf) bytes;
    CBX_AUTO_DONE(past) copy = { 0 };
    cbx_buf_init(&bytes, CBX_PAST_BYTES_MAX);
    cbx_past_write(past, &bytes);
    require(cbx_past_read(cbx_buf_str(&bytes), &copy, NULL) == 0);
    require(cbx_sha256_equal(&copy.ledger, &past->ledger));
    require(cbx_past_is_complete(&copy) == cbx_past_is_complete(past));
    require(cbx_past_count(&copy) == cbx_past_count(past));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cbx_str rest = { .p = (const char *)data, .len = size };
    struct cbx_sha256 ledger = cbx_ledger_begin(CBX_STR("s"), &(struct cbx_sha256){ 0 });
    struct cbx_entry entry;
    CBX_AUTO_DONE(past) past;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 64 << 20);
    cbx_past_begin(&past, &ledger);
    for (struct cbx_str before = rest; cbx_entry_next(&rest, &entry); before = rest) {
        write_again(&entry, cbx_str_sub(before, 0, before.len - rest.len));
        struct cbx_sha256 old = past.ledger, hash = cbx_entry_hash(&entry);
        cbx_past_add(&past, &entry);
        cbx_past_add_written(&past, &entry, &arena);
        ledger = cbx_ledger_add(&ledger, &hash);
        require(cbx_sha256_equal(&past.ledger, &ledger) && !cbx_sha256_equal(&old, &ledger));
        cbx_arena_reset(&arena);
    }
    read_back(&past);
    CBX_AUTO_DONE(past) other = { 0 };
    cbx_past_read((struct cbx_str){ .p = (const char *)data, .len = size }, &other, NULL);
    return 0;
}
