/* SPDX-License-Identifier: MIT
 * Frames of WebSocket: the examples of RFC 6455, section 5.7, and frames that a server may not
 * send. */
#include "docker/engine/kubernetes/websocket.h"
#include "policies/base/buf.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

/* Everything that a connection yields, piece by piece: "1:bytes" of a channel, "ping:bytes",
 * "close". */
static int read_pieces(struct cbx_str bytes, size_t piece, struct cbx_buf *out)
{
    struct cbx_websocket reader = { .left = 0 };
    struct cbx_err err;
    int last = -1; /* channel of the last event */
    cbx_buf_reset(out);
    while (bytes.len > 0) {
        struct cbx_str part = cbx_str_take(&bytes, piece);
        struct cbx_websocket_event event;
        int got;
        while ((got = cbx_websocket_next(&reader, &part, &event, &err)) > 0) {
            if (event.kind == CBX_WEBSOCKET_DATA && last == event.channel) {
                cbx_buf_add(out, event.bytes);
                continue;
            }
            last = event.kind == CBX_WEBSOCKET_DATA ? event.channel : -1;
            if (event.kind == CBX_WEBSOCKET_DATA) {
                cbx_buf_printf(out, "%d:", event.channel);
            } else {
                cbx_buf_add_cstr(out, event.kind == CBX_WEBSOCKET_PING ? "ping:" : "close");
            }
            cbx_buf_add(out, event.kind == CBX_WEBSOCKET_CLOSE ? CBX_STR("") : event.bytes);
        }
        if (got < 0) {
            return got;
        }
    }
    return 0;
}

static void reads_as(struct cbx_str bytes, const char *expected)
{
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 1 << 20);
    for (size_t piece = 1; piece <= bytes.len; piece++) {
        assert_int_equal(read_pieces(bytes, piece, &out), 0);
        assert_string_equal(out.p, expected);
    }
}

static void is_refused(struct cbx_str bytes)
{
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 1 << 20);
    assert_int_equal(read_pieces(bytes, bytes.len, &out), CBX_EPROTO);
    assert_int_equal(read_pieces(bytes, 1, &out), CBX_EPROTO);
}

static void the_first_byte_of_a_message_is_its_channel(void **state)
{
    (void)state;
    reads_as(CBX_STR("\x82\x06\x01Hello"), "1:Hello");
    reads_as(CBX_STR("\x82\x03\x01oh\x82\x04\x02no!"), "1:oh2:no!");
    reads_as(CBX_STR("\x81\x03\x01ok"), "1:ok");
}

static void a_message_in_several_frames_has_one_channel(void **state)
{
    (void)state;
    reads_as(CBX_STR("\x02\x03\x01He\x00\x02ll\x80\x01o"), "1:Hello");
    reads_as(CBX_STR("\x02\x01\x02\x80\x02no"), "2:no");
    reads_as(CBX_STR("\x02\x00\x80\x03\x02no"), "2:no");
}

static void control_frames_may_stand_between_the_frames_of_a_message(void **state)
{
    (void)state;
    reads_as(CBX_STR("\x02\x03\x01He\x89\x02hi\x80\x03llo"), "1:Heping:hi1:llo");
    reads_as(CBX_STR("\x8a\x02hi\x82\x02\x01x"), "1:x");
    reads_as(CBX_STR("\x88\x02\x03\xe8"), "close");
    reads_as(CBX_STR("\x89\x00"), "ping:");
}

static void empty_messages_are_no_events(void **state)
{
    (void)state;
    reads_as(CBX_STR("\x82\x01\x00\x82\x01\x01\x82\x01\x02\x82\x00"), "");
}

static void lengths_of_16_and_64_bits_are_read(void **state)
{
    (void)state;
    static const size_t sizes[] = { 126, 70000 };
    for (size_t i = 0; i < 2; i++) {
        CBX_AUTO_DONE(buf) bytes, out;
        cbx_buf_init(&bytes, 1 << 20);
        cbx_buf_init(&out, 1 << 20);
        size_t len = sizes[i];
        cbx_buf_add(&bytes, i == 0 ? CBX_STR("\x82\x7e") : CBX_STR("\x82\x7f"));
        for (int shift = i == 0 ? 8 : 56; shift >= 0; shift -= 8) {
            cbx_buf_add_char(&bytes, (char)(len >> shift));
        }
        cbx_buf_add_char(&bytes, 1);
        for (size_t n = 1; n < len; n++) {
            cbx_buf_add_char(&bytes, 'x');
        }
        assert_int_equal(read_pieces(cbx_buf_str(&bytes), 4096, &out), 0);
        assert_int_equal(out.len, 2 + len - 1);
    }
}

static void frames_that_a_server_may_not_send_are_refused(void **state)
{
    (void)state;
    is_refused(CBX_STR("\x82\x83\x01\x02\x03\x04xyz"));              /* masked */
    is_refused(CBX_STR("\xc2\x02\x01x"));                            /* reserved bits */
    is_refused(CBX_STR("\x83\x02\x01x"));                            /* an unknown opcode */
    is_refused(CBX_STR("\x80\x02\x01x"));                            /* nothing to continue */
    is_refused(CBX_STR("\x02\x02\x01x\x82\x02\x01y"));               /* within a message */
    is_refused(CBX_STR("\x09\x00"));                                 /* a control frame in parts */
    is_refused(CBX_STR("\x89\x7e\x00\x80"));                         /* a long one */
    is_refused(CBX_STR("\x82\x7f\x80\x00\x00\x00\x00\x00\x00\x00")); /* a negative length */
}

/* Unmasks a client's frame of at most 16 bits of length. */
static void written_as(int channel, struct cbx_str bytes, const char *head, size_t head_len)
{
    char out[CBX_WEBSOCKET_HEAD_MAX + 1 + 1024];
    static const unsigned char mask[4] = { 0x37, 0xfa, 0x21, 0x3d };
    uint32_t key;
    memcpy(&key, mask, sizeof(key));
    size_t n = cbx_websocket_write(CBX_WEBSOCKET_BINARY, channel, bytes, key, out);
    size_t more = channel >= 0 ? 1 : 0;
    assert_int_equal(n, head_len + 4 + more + bytes.len);
    assert_memory_equal(out, head, head_len);
    assert_memory_equal(out + head_len, mask, 4);
    for (size_t i = 0; i < more + bytes.len; i++) {
        char expected = i < more ? (char)channel : bytes.p[i - more];
        assert_int_equal((char)(out[head_len + 4 + i] ^ (char)mask[i % 4]), expected);
    }
}

static void a_clients_frame_is_masked_and_has_the_channel_first(void **state)
{
    (void)state;
    static const char long_text[300] = "x";
    written_as(0, CBX_STR("Hello"), "\x82\x86", 2);
    written_as(0, (struct cbx_str){ long_text, 124 }, "\x82\xfd", 2);
    written_as(0, (struct cbx_str){ long_text, 125 }, "\x82\xfe\x00\x7e", 4);
    written_as(0, (struct cbx_str){ long_text, 300 }, "\x82\xfe\x01\x2d", 4);
    written_as(-1, CBX_STR("Hello"), "\x82\x85", 2);
}

static void an_upgrade_is_for_the_key_and_the_protocol(void **state)
{
    (void)state;
#define REPLY(upgrade, accept, protocol)                                                           \
    "HTTP/1.1 101 x\r\nupgrade: " upgrade                                                          \
    "\r\nConnection: Upgrade\r\nSEC-WebSocket-Accept:" accept "\r\n" protocol "\r\n\r\n"
#define ACCEPT   "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
#define PROTOCOL "Sec-WebSocket-Protocol: v4.channel.k8s.io"
    static const char key[] = "dGhlIHNhbXBsZSBub25jZQ==";
    static const struct cbx_str bad[] = {
        CBX_STR(""),
        CBX_STR("HTTP/1.1 101 x"),
        CBX_STR(REPLY("SPDY/3.1", ACCEPT, PROTOCOL)),
        CBX_STR(REPLY("WebSocket", "", PROTOCOL)),
        CBX_STR(REPLY("WebSocket", "S3pPLMBiTxaQ9kYGzzhZRbK+xOo=", PROTOCOL)),
        CBX_STR(REPLY("WebSocket", ACCEPT, "x: y")),
        CBX_STR(REPLY("WebSocket", ACCEPT, "Sec-WebSocket-Protocol: channel.k8s.io")),
    };
    struct cbx_err err;
    struct cbx_str good = CBX_STR(REPLY("WebSocket", ACCEPT, PROTOCOL));
    assert_int_equal(cbx_websocket_check(good, key, &err), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(cbx_websocket_check(bad[i], key, &err), CBX_EPROTO);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_upgrade_is_for_the_key_and_the_protocol),
        cmocka_unit_test(the_first_byte_of_a_message_is_its_channel),
        cmocka_unit_test(a_message_in_several_frames_has_one_channel),
        cmocka_unit_test(control_frames_may_stand_between_the_frames_of_a_message),
        cmocka_unit_test(empty_messages_are_no_events),
        cmocka_unit_test(lengths_of_16_and_64_bits_are_read),
        cmocka_unit_test(frames_that_a_server_may_not_send_are_refused),
        cmocka_unit_test(a_clients_frame_is_masked_and_has_the_channel_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
