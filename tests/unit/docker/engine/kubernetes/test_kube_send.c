/* SPDX-License-Identifier: MIT
 * Messages over a connection that takes as many bytes as the test lets it: this file has the
 * functions of upgrade.h. */
#include "docker/engine/kubernetes/kube_send.h"
#include "tests/unit/unit.h"

static struct {
    size_t room;   /* bytes that the connection still takes */
    size_t waited; /* calls that found no room and were allowed to wait */
    bool holds;    /* the result of cbx_upgrade_holds */
    struct cbx_buf received;
    struct cbx_buf offered; /* of the last call */
} wire;

static struct cbx_kube_sender sender;
static struct cbx_upgrade upgrade;
static struct cbx_err err;

int cbx_upgrade_send_some(struct cbx_upgrade *to, const void *bytes, size_t len, int timeout_ms,
                          size_t *sent, struct cbx_err *error)
{
    assert_ptr_equal(to, &upgrade);
    cbx_buf_reset(&wire.offered);
    cbx_buf_add_bytes(&wire.offered, bytes, len);
    if (wire.room == 0) {
        wire.waited += timeout_ms > 0 ? 1 : 0;
        return cbx_fail(error, CBX_ETIMEDOUT, "no room");
    }
    *sent = len < wire.room ? len : wire.room;
    wire.room -= *sent;
    return cbx_buf_add_bytes(&wire.received, bytes, *sent);
}

bool cbx_upgrade_holds(const struct cbx_upgrade *of)
{
    (void)of;
    return wire.holds;
}

static int begin_test(void **state)
{
    (void)state;
    memset(&wire, 0, sizeof(wire));
    cbx_buf_init(&wire.received, 1 << 20);
    cbx_buf_init(&wire.offered, 1 << 20);
    cbx_kube_sender_init(&sender, &upgrade);
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    cbx_kube_sender_done(&sender);
    cbx_buf_done(&wire.received);
    cbx_buf_done(&wire.offered);
    return 0;
}

static int send_text(const char *text, int timeout_ms)
{
    size_t sent = 0;
    int failed = cbx_kube_send(&sender, cbx_str_of(text), timeout_ms, &sent, &err);
    assert_int_equal(sent, failed ? 0 : strlen(text));
    return failed;
}

/* Asserts that short frames arrived whole: "pong:bytes" or "0:bytes" (of channel 0) each. */
static void assert_frames(const char *expected)
{
    CBX_AUTO_DONE(buf) read;
    struct cbx_str rest = cbx_buf_str(&wire.received);
    cbx_buf_init(&read, 4096);
    while (rest.len > 0) {
        assert_true(rest.len >= 6);
        struct cbx_str head = cbx_str_take(&rest, 2), mask = cbx_str_take(&rest, 4);
        size_t len = head.p[1] & 0x7f;
        struct cbx_str payload = cbx_str_take(&rest, len);
        assert_int_equal(payload.len, len);
        bool pong = (head.p[0] & 0x0f) == CBX_WEBSOCKET_PONG;
        cbx_buf_add_cstr(&read, pong ? "pong:" : "0:");
        for (size_t i = pong ? 0 : 1; i < len; i++) {
            cbx_buf_add_char(&read, (char)(payload.p[i] ^ mask.p[i % 4]));
        }
        cbx_buf_add_char(&read, ' ');
    }
    assert_string_equal(read.p, expected);
}

static void a_pong_that_fits_in_part_does_not_wait(void **state)
{
    (void)state;
    wire.room = 5;
    cbx_kube_send_pong(&sender, CBX_STR("first"));
    assert_int_equal(wire.received.len, 5);
    assert_int_equal(wire.waited, 0);
    wire.room = 1000;
    assert_int_equal(send_text("text", 100), 0);
    assert_frames("pong:first 0:text ");
}

static void a_pong_that_finds_no_room_is_sent_before_the_next_message(void **state)
{
    (void)state;
    cbx_kube_send_pong(&sender, CBX_STR("first"));
    assert_int_equal(send_text("text", 100), CBX_ETIMEDOUT);
    wire.room = 1000;
    assert_int_equal(send_text("text", 100), 0);
    assert_frames("pong:first 0:text ");
}

static void a_pong_that_waits_answers_later_pings_too(void **state)
{
    (void)state;
    wire.room = 3;
    cbx_kube_send_pong(&sender, CBX_STR("first"));
    cbx_kube_send_pong(&sender, CBX_STR("second"));
    wire.room = 1000;
    cbx_kube_send_pong(&sender, CBX_STR("third"));
    assert_frames("pong:first ");
    cbx_kube_send_pong(&sender, CBX_STR("fourth"));
    assert_frames("pong:first pong:fourth ");
}

static void while_a_message_is_held_no_pong_comes_between(void **state)
{
    (void)state;
    assert_int_equal(send_text("text", 100), CBX_ETIMEDOUT);
    wire.holds = true;
    wire.room = 1000;
    cbx_kube_send_pong(&sender, CBX_STR("first"));
    assert_int_equal(wire.received.len, 0);
    assert_int_equal(send_text("text", 100), 0);
    assert_frames("0:text ");
}

static void a_message_that_was_given_up_is_sent_again_with_the_same_bytes(void **state)
{
    (void)state;
    char first[64];
    assert_int_equal(send_text("text", 100), CBX_ETIMEDOUT);
    size_t len = wire.offered.len;
    assert_true(len > 0 && len < sizeof(first));
    memcpy(first, wire.offered.p, len);
    wire.room = 1000;
    assert_int_equal(send_text("text", 100), 0);
    assert_memory_equal(wire.received.p, first, len);
    assert_int_equal(send_text("text", 100), 0);
    assert_memory_not_equal(wire.received.p + len + 2, first + 2, 4); /* another mask */
}

static void after_a_part_of_a_message_later_messages_fail(void **state)
{
    (void)state;
    wire.room = 3;
    assert_int_equal(send_text("text", 100), CBX_EIO);
    assert_string_equal(err.text, "the sandbox does not read its input");
    wire.room = 1000;
    assert_int_equal(send_text("text", 100), CBX_EIO);
    assert_string_equal(err.text,
                        "the connection to the sandbox is broken: a message was sent in part");
    cbx_kube_send_pong(&sender, CBX_STR("first"));
    assert_int_equal(wire.received.len, 3);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)
    const struct CMUnitTest tests[] = {
        TEST(a_pong_that_fits_in_part_does_not_wait),
        TEST(a_pong_that_finds_no_room_is_sent_before_the_next_message),
        TEST(a_pong_that_waits_answers_later_pings_too),
        TEST(while_a_message_is_held_no_pong_comes_between),
        TEST(a_message_that_was_given_up_is_sent_again_with_the_same_bytes),
        TEST(after_a_part_of_a_message_later_messages_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
