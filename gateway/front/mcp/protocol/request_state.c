/* SPDX-License-Identifier: MIT
 * Sealed state: the HMAC in hexadecimal digits, then the JSON array [EXPIRY, STATE]. */
#include "gateway/front/mcp/protocol/request_state.h"

void cbx_request_key_init(struct cbx_request_key *key)
{
    cbx_random(key->bytes, sizeof(key->bytes));
}

/* The length of the principal comes first, so that no other pair gives the same bytes. */
static struct cbx_sha256 authenticate(const struct cbx_request_key *key, struct cbx_str principal,
                                      struct cbx_str payload)
{
    CBX_AUTO_DONE(buf) message;
    cbx_buf_init(&message, principal.len + payload.len + 32);
    cbx_buf_printf(&message, "%zu:", principal.len);
    cbx_buf_add(&message, principal);
    cbx_buf_add(&message, payload);
    return cbx_hmac_sha256(
        (struct cbx_str){ .p = (const char *)key->bytes, .len = sizeof(key->bytes) },
        cbx_buf_str(&message));
}

int cbx_request_state_seal(const struct cbx_request_key *key, const json_t *state,
                           struct cbx_str principal, int64_t expires_ms, struct cbx_buf *out)
{
    char hex[CBX_SHA256_HEX + 1];
    CBX_AUTO_DONE(buf) payload;
    CBX_AUTO_JSON value = json_pack("[I,o]", (json_int_t)expires_ms, json_deep_copy(state));
    cbx_buf_init(&payload, CBX_REQUEST_STATE_MAX - CBX_SHA256_HEX);
    if (value == NULL || cbx_json_write(&payload, value) != 0 || payload.overflow) {
        return CBX_ETOOBIG;
    }
    struct cbx_sha256 hash = authenticate(key, principal, cbx_buf_str(&payload));
    cbx_sha256_hex(&hash, hex);
    cbx_buf_add_cstr(out, hex);
    return cbx_buf_add(out, cbx_buf_str(&payload));
}

static bool is_authentic(const struct cbx_request_key *key, struct cbx_str text,
                         struct cbx_str principal, struct cbx_str payload)
{
    struct cbx_sha256 claimed, hash = authenticate(key, principal, payload);
    return cbx_sha256_from_hex(cbx_str_sub(text, 0, CBX_SHA256_HEX), &claimed) &&
           cbx_sha256_equal(&hash, &claimed);
}

int cbx_request_state_open(const struct cbx_request_key *key, struct cbx_str text,
                           struct cbx_str principal, int64_t now_ms, json_t **out,
                           struct cbx_err *err)
{
    CBX_AUTO_JSON value = NULL;
    struct cbx_str payload = cbx_str_sub(text, CBX_SHA256_HEX, text.len);
    if (text.len > CBX_REQUEST_STATE_MAX || !is_authentic(key, text, principal, payload) ||
        cbx_json_parse(payload, CBX_REQUEST_STATE_MAX, &value, err) != 0) {
        return cbx_fail(err, CBX_EINVAL, "requestState is not one that this server made");
    }
    if (json_integer_value(json_array_get(value, 0)) <= now_ms) {
        return cbx_fail(err, CBX_ESTALE, "requestState is too old; send the request without it");
    }
    *out = json_incref(json_array_get(value, 1));
    return 0;
}
