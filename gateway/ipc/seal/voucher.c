/* SPDX-License-Identifier: MIT
 * Vouchers. */
#include "gateway/ipc/seal/voucher.h"

#include "policies/base/buf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {
    [CBX_VOUCHER_RUN] = "run", [CBX_VOUCHER_APPROVAL] = "approval"
};

enum cbx_voucher_kind cbx_voucher_kind_of(struct cbx_str name)
{
    for (int i = CBX_VOUCHER_RUN; i <= CBX_VOUCHER_APPROVAL; i++) {
        if (cbx_str_is(name, kinds[i])) {
            return (enum cbx_voucher_kind)i;
        }
    }
    return CBX_VOUCHER_NONE;
}

const char *cbx_voucher_kind_name(enum cbx_voucher_kind kind)
{
    return kind == CBX_VOUCHER_NONE ? "" : kinds[kind];
}

/* Each text is terminated, so different lists of texts have different bytes. */
static void add_text(struct cbx_buf *out, struct cbx_str text)
{
    cbx_buf_add(out, text);
    cbx_buf_add_char(out, '\0');
}

void cbx_voucher_run(struct cbx_str session, struct cbx_str sha256, char out[CBX_SHA256_HEX + 1])
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 4096);
    add_text(&text, session);
    add_text(&text, sha256);
    struct cbx_sha256 hash = cbx_sha256_of(cbx_buf_str(&text));
    cbx_sha256_hex(&hash, out);
}

static struct cbx_sha256 mac_of(const struct cbx_sha256 *key, const struct cbx_voucher_claim *claim,
                                const char *time)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 4096);
    add_text(&text, CBX_STR("voucher"));
    add_text(&text, cbx_str_of(cbx_voucher_kind_name(claim->kind)));
    add_text(&text, claim->principal);
    add_text(&text, claim->credential);
    add_text(&text, claim->subject);
    add_text(&text, cbx_str_of(time));
    const struct cbx_str bytes = { .p = (const char *)key->bytes, .len = sizeof(key->bytes) };
    return cbx_hmac_sha256(bytes, cbx_buf_str(&text));
}

void cbx_voucher_make(const struct cbx_sha256 *key, const struct cbx_voucher_claim *claim,
                      int64_t time_ms, char out[CBX_VOUCHER_CHARS + 1])
{
    char time[17], hex[CBX_SHA256_HEX + 1];
    snprintf(time, sizeof(time), "%016" PRIx64, (uint64_t)time_ms);
    struct cbx_sha256 mac = mac_of(key, claim, time);
    cbx_sha256_hex(&mac, hex);
    snprintf(out, CBX_VOUCHER_CHARS + 1, CBX_VOUCHER_PREFIX "%s.%s", time, hex);
}

bool cbx_voucher_check(const struct cbx_sha256 *key, const struct cbx_voucher_claim *claim,
                       struct cbx_str voucher, int64_t *time_ms)
{
    static const struct cbx_str prefix = CBX_STR(CBX_VOUCHER_PREFIX);
    char time[17];
    struct cbx_sha256 shown;
    if (claim->kind == CBX_VOUCHER_NONE || voucher.len != CBX_VOUCHER_CHARS ||
        !cbx_str_starts(voucher, prefix) || voucher.p[prefix.len + 16] != '.') {
        return false;
    }
    memcpy(time, voucher.p + prefix.len, 16);
    time[16] = '\0';
    if (strspn(time, "0123456789abcdef") != 16 ||
        !cbx_sha256_from_hex(cbx_str_sub(voucher, prefix.len + 17, voucher.len), &shown)) {
        return false;
    }
    struct cbx_sha256 mac = mac_of(key, claim, time);
    bool good = cbx_sha256_equal(&mac, &shown);
    *time_ms = good ? (int64_t)strtoull(time, NULL, 16) : 0;
    return good;
}
