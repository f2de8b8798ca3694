/* SPDX-License-Identifier: MIT
 * Messages about keys: whole, in parts, and none. */
#include "gateway/ipc/wire/key_fetch.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];
static struct cbx_key_reading reading;

static int begin_test(void **state)
{
    (void)state;
    reading = (struct cbx_key_reading){ 0 };
    cbx_buf_init(&reading.bytes, CBX_JWKS_MAX);
    return cbx_key_channel(ends, NULL);
}

static int end_test(void **state)
{
    (void)state;
    cbx_buf_done(&reading.bytes);
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static void a_request_arrives_as_it_was_sent_and_anything_else_is_none(void **state)
{
    (void)state;
    struct cbx_key_request sent = { .number = 7, .wants_last = 1 }, got = { 0 };
    char more[sizeof(sent) + 1] = { 0 };
    cbx_random(&sent.source, sizeof(sent.source));
    assert_false(cbx_key_request_take(ends[1], &got));
    assert_true(cbx_key_request_send(ends[0], &sent));
    assert_true(cbx_key_request_take(ends[1], &got));
    assert_memory_equal(&sent, &got, sizeof(sent));
    sent.number = 0;
    assert_true(cbx_key_request_send(ends[0], &sent));
    assert_false(cbx_key_request_take(ends[1], &got));
    memset(more, 1, sizeof(more));
    assert_int_equal(send(ends[0], more, sizeof(more), 0), sizeof(more));
    assert_false(cbx_key_request_take(ends[1], &got));
    assert_int_equal(send(ends[0], more, 3, 0), 3);
    assert_false(cbx_key_request_take(ends[1], &got));
}

/* A front that sends requests and does not read blocks only itself. */
static void a_request_that_does_not_fit_is_not_waited_for(void **state)
{
    (void)state;
    const struct cbx_key_request sent = { .number = 1 };
    int count = 0;
    while (cbx_key_request_send(ends[0], &sent)) {
        count++;
    }
    assert_true(count > 0);
}

struct sending {
    struct cbx_key_answer answer;
    struct cbx_str bytes;
};

static void *send_answer(void *context)
{
    const struct sending *s = context;
    assert_true(cbx_key_answer_send(ends[1], s->answer, s->bytes));
    return NULL;
}

static void the_largest_answer_arrives_in_parts(void **state)
{
    (void)state;
    static char text[CBX_JWKS_MAX];
    cbx_random(text, sizeof(text));
    struct sending sending = { .answer = { .event = CBX_KEYS_FETCHED, .number = 3, .age_ms = 4 },
                               .bytes = { .p = text, .len = sizeof(text) } };
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, send_answer, &sending), 0);
    while (!cbx_key_answer_take(ends[0], &reading)) {
        sched_yield();
    }
    pthread_join(thread, NULL);
    assert_int_equal(reading.head.event, CBX_KEYS_FETCHED);
    assert_int_equal(reading.head.number, 3);
    assert_int_equal(reading.head.age_ms, 4);
    assert_true(cbx_str_equal(cbx_buf_str(&reading.bytes), sending.bytes));
    assert_false(cbx_key_answer_take(ends[0], &reading));
}

static void send_part(struct cbx_key_answer head, const char *bytes, size_t len)
{
    char message[sizeof(head) + 100] = { 0 };
    memcpy(message, &head, sizeof(head));
    memcpy(message + sizeof(head), bytes, len);
    assert_int_equal(send(ends[1], message, sizeof(head) + len, 0), sizeof(head) + len);
}

static void the_beginning_of_an_answer_gives_way_to_the_next_answer(void **state)
{
    (void)state;
    const struct cbx_key_answer half = {
        .event = CBX_KEYS_FETCHED, .bytes = 6, .part = 3, .number = 1
    };
    send_part(half, "abc", 3);
    assert_false(cbx_key_answer_take(ends[0], &reading));
    struct sending whole = { .answer = { .event = CBX_KEYS_FETCHED, .number = 2 },
                             .bytes = CBX_STR("xy") };
    send_answer(&whole);
    assert_true(cbx_key_answer_take(ends[0], &reading));
    assert_int_equal(reading.head.number, 2);
    assert_true(cbx_str_is(cbx_buf_str(&reading.bytes), "xy"));
    struct cbx_key_answer rest = half;
    rest.at = 3;
    send_part(rest, "def", 3); /* part of the abandoned response */
    assert_false(cbx_key_answer_take(ends[0], &reading));
}

static void parts_in_another_order_are_no_answer(void **state)
{
    (void)state;
    static const uint32_t order[] = { 0, 6, 3, 6 };
    for (size_t i = 0; i < 4; i++) {
        const struct cbx_key_answer part = {
            .event = CBX_KEYS_FETCHED, .bytes = 9, .at = order[i], .part = 3, .number = 1
        };
        send_part(part, "abc", 3);
        assert_false(cbx_key_answer_take(ends[0], &reading));
    }
}

static void what_is_no_part_is_dropped(void **state)
{
    (void)state;
    const struct cbx_key_answer good = {
        .event = CBX_KEYS_FAILED, .bytes = 3, .part = 3, .number = 1
    };
    struct cbx_key_answer bad[9];
    for (size_t i = 0; i < 9; i++) {
        bad[i] = good;
    }
    bad[0].event = 0;
    bad[1].event = CBX_KEYS_FAILED + 1;
    bad[2].bytes = CBX_JWKS_MAX + 1;
    bad[3].bytes = 2;
    bad[4].part = 4;
    bad[5].at = 1;
    bad[6].at = UINT32_MAX;
    bad[7].age_ms = -1;
    memset(bad[8].reason, 'x', sizeof(bad[8].reason));
    for (size_t i = 0; i < 9; i++) {
        send_part(bad[i], "abc", 3);
        assert_false(cbx_key_answer_take(ends[0], &reading));
    }
    bad[7].age_ms = INT64_MAX;
    send_part(bad[7], "abc", 3);
    assert_int_equal(send(ends[1], &good, 5, 0), 5);
    assert_false(cbx_key_answer_take(ends[0], &reading));
    send_part(good, "abc", 3);
    assert_true(cbx_key_answer_take(ends[0], &reading));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_request_arrives_as_it_was_sent_and_anything_else_is_none,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(a_request_that_does_not_fit_is_not_waited_for, begin_test,
                                        end_test),
        cmocka_unit_test_setup_teardown(the_largest_answer_arrives_in_parts, begin_test, end_test),
        cmocka_unit_test_setup_teardown(the_beginning_of_an_answer_gives_way_to_the_next_answer,
                                        begin_test, end_test),
        cmocka_unit_test_setup_teardown(parts_in_another_order_are_no_answer, begin_test, end_test),
        cmocka_unit_test_setup_teardown(what_is_no_part_is_dropped, begin_test, end_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
