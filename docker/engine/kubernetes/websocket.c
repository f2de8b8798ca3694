/* SPDX-License-Identifier: MIT
 * Reads and writes frames of WebSocket. */
#include "docker/engine/kubernetes/websocket.h"

#include "policies/base/buf.h"
#include "policies/base/text/base64.h"

#include <openssl/sha.h>
#include <strings.h>

enum { CONTINUATION = 0, TEXT = 1, CLOSE = 8, PING = 9 };
enum { FIN_BIT = 0x80, RESERVED_BITS = 0x70, MASK_BIT = 0x80, LEN_16 = 126, LEN_64 = 127 };

/* --- the upgrade ------------------------------------------------------------------------------ */

/* Returns the value of the first header of this name; empty if there is none. */
static struct cbx_str find_header(struct cbx_str head, const char *name)
{
    size_t len = strlen(name);
    while (head.len > 0) {
        const char *end = memmem(head.p, head.len, "\r\n", 2);
        struct cbx_str line = cbx_str_take(&head, end != NULL ? (size_t)(end - head.p) : head.len);
        cbx_str_take(&head, 2);
        if (line.len > len && line.p[len] == ':' && strncasecmp(line.p, name, len) == 0) {
            return cbx_str_trim(cbx_str_sub(line, len + 1, line.len));
        }
    }
    return CBX_STR("");
}

int cbx_websocket_check(struct cbx_str head, const char *key, struct cbx_err *err)
{
    uint8_t hash[SHA_DIGEST_LENGTH];
    CBX_AUTO_DONE(buf) text, accept;
    cbx_buf_init(&text, 256);
    cbx_buf_init(&accept, 64);
    cbx_buf_printf(&text, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
    SHA1((const uint8_t *)text.p, text.len, hash);
    cbx_base64_encode((struct cbx_str){ .p = (const char *)hash, .len = sizeof(hash) }, &accept);
    struct cbx_str upgrade = find_header(head, "upgrade"),
                   protocol = find_header(head, "sec-websocket-protocol"),
                   accepted = find_header(head, "sec-websocket-accept");
    if (upgrade.len != 9 || strncasecmp(upgrade.p, "websocket", 9) != 0 ||
        !cbx_str_equal(accepted, cbx_buf_str(&accept))) {
        return cbx_fail(err, CBX_EPROTO, "the reply does not accept this WebSocket");
    }
    if (!cbx_str_is(protocol, CBX_WEBSOCKET_PROTOCOL)) {
        return cbx_fail(err, CBX_EPROTO,
                        "the WebSocket has another protocol than " CBX_WEBSOCKET_PROTOCOL);
    }
    return 0;
}

/* --- frames ----------------------------------------------------------------------------------- */

/* Returns the number of bytes of the head, as far as its first two bytes tell. */
static size_t head_bytes(const struct cbx_websocket *r)
{
    uint8_t len = r->head[1] & 0x7f;
    if (r->head_len < 2 || len < LEN_16) {
        return 2;
    }
    return len == LEN_16 ? 4 : 10;
}

static uint64_t read_len(const struct cbx_websocket *r)
{
    size_t end = head_bytes(r);
    uint64_t len = 0;
    if (end == 2) {
        return r->head[1] & 0x7f;
    }
    for (size_t i = 2; i < end; i++) {
        len = len << 8 | r->head[i];
    }
    return len;
}

static int refuse(struct cbx_err *err, const struct cbx_websocket *r)
{
    return cbx_fail(err, CBX_EPROTO,
                    "the cluster's stream is damaged: a frame begins with %02x%02x", r->head[0],
                    r->head[1]);
}

/* Begins the frame whose head is complete. */
static int begin_frame(struct cbx_websocket *r, struct cbx_err *err)
{
    bool fin = (r->head[0] & FIN_BIT) != 0;
    r->opcode = r->head[0] & 0x0f;
    r->left = read_len(r);
    bool control = r->opcode == CLOSE || r->opcode == PING || r->opcode == CBX_WEBSOCKET_PONG;
    bool data = r->opcode == TEXT || r->opcode == CBX_WEBSOCKET_BINARY;
    if ((r->head[0] & RESERVED_BITS) != 0 || (r->head[1] & MASK_BIT) != 0 || r->left >> 63 != 0 ||
        (control && (!fin || r->left > CBX_WEBSOCKET_CONTROL_MAX)) || (data && r->in_message) ||
        (r->opcode == CONTINUATION && !r->in_message) ||
        (!control && !data && r->opcode != CONTINUATION)) {
        return refuse(err, r);
    }
    if (!control) {
        r->has_channel = r->opcode == CONTINUATION && r->has_channel;
        r->in_message = !fin;
    }
    r->in_frame = true;
    r->control_len = 0;
    return 0;
}

/* Collects a head; sets in_frame if it is complete. */
static int take_head(struct cbx_websocket *r, struct cbx_str *bytes, struct cbx_err *err)
{
    while (bytes->len > 0 && r->head_len < head_bytes(r)) {
        r->head[r->head_len++] = (uint8_t)cbx_str_take(bytes, 1).p[0];
    }
    if (r->head_len < 2 || r->head_len < head_bytes(r)) {
        return 0;
    }
    int failed = begin_frame(r, err);
    r->head_len = 0;
    return failed;
}

static struct cbx_str take_payload(struct cbx_websocket *r, struct cbx_str *bytes, size_t most)
{
    size_t n = r->left < most ? (size_t)r->left : most;
    struct cbx_str part = cbx_str_take(bytes, n);
    r->left -= part.len;
    return part;
}

/* 1 if a control frame is complete and is an event. */
static int take_control(struct cbx_websocket *r, struct cbx_str *bytes,
                        struct cbx_websocket_event *out)
{
    struct cbx_str part = take_payload(r, bytes, sizeof(r->control) - r->control_len);
    if (part.len > 0) {
        memcpy(r->control + r->control_len, part.p, part.len);
        r->control_len += part.len;
    }
    if (r->left > 0) {
        return 0;
    }
    r->in_frame = false;
    if (r->opcode == CBX_WEBSOCKET_PONG) {
        return 0;
    }
    *out = (struct cbx_websocket_event){
        .kind = r->opcode == CLOSE ? CBX_WEBSOCKET_CLOSE : CBX_WEBSOCKET_PING,
        .bytes = { .p = r->control, .len = r->control_len },
    };
    return 1;
}

static int take_data(struct cbx_websocket *r, struct cbx_str *bytes,
                     struct cbx_websocket_event *out)
{
    if (!r->has_channel && r->left > 0) {
        struct cbx_str first = take_payload(r, bytes, 1);
        if (first.len == 0) {
            return 0;
        }
        r->channel = (uint8_t)first.p[0];
        r->has_channel = true;
    }
    struct cbx_str part = take_payload(r, bytes, bytes->len);
    r->in_frame = r->left > 0;
    *out = (struct cbx_websocket_event){ .kind = CBX_WEBSOCKET_DATA,
                                         .channel = r->channel,
                                         .bytes = part };
    return part.len > 0 ? 1 : 0;
}

int cbx_websocket_next(struct cbx_websocket *reader, struct cbx_str *bytes,
                       struct cbx_websocket_event *out, struct cbx_err *err)
{
    for (;;) {
        if (!reader->in_frame) {
            int failed = take_head(reader, bytes, err);
            if (failed) {
                return failed;
            }
        }
        if (!reader->in_frame) {
            return 0;
        }
        bool control = reader->opcode >= CLOSE;
        int got = control ? take_control(reader, bytes, out) : take_data(reader, bytes, out);
        if (got != 0 || (bytes->len == 0 && reader->in_frame)) {
            return got;
        }
    }
}

size_t cbx_websocket_write(uint8_t opcode, int channel, struct cbx_str bytes, uint32_t mask,
                           char *out)
{
    size_t len = bytes.len + (channel >= 0 ? 1 : 0), n = 0;
    uint8_t key[4];
    memcpy(key, &mask, sizeof(key));
    out[n++] = (char)(FIN_BIT | opcode);
    if (len < LEN_16) {
        out[n++] = (char)(MASK_BIT | len);
    } else {
        size_t wide = len > 0xffff ? 8 : 2;
        out[n++] = (char)(MASK_BIT | (wide == 8 ? LEN_64 : LEN_16));
        for (size_t i = 0; i < wide; i++) {
            out[n++] = (char)((uint64_t)len >> 8 * (wide - 1 - i));
        }
    }
    memcpy(out + n, key, sizeof(key));
    n += sizeof(key);
    size_t at = 0;
    if (channel >= 0) {
        out[n++] = (char)((uint8_t)channel ^ key[at++ % 4]);
    }
    for (size_t i = 0; i < bytes.len; i++) {
        out[n++] = (char)((uint8_t)bytes.p[i] ^ key[at++ % 4]);
    }
    return n;
}
