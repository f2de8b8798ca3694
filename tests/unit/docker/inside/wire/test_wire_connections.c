/* SPDX-License-Identifier: MIT
 * Connections that are passed on as frames: a supervisor's or relay's handling of its sockets, and
 * of frames from the other side. */
#include "docker/inside/wire/wire_connections.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "docker/inside/wire/wire.c"
#include "docker/inside/wire/wire_connections.c"

enum { NUMBER = 7, FRAMES = 4096 };

static struct {
    uint8_t type;
    uint32_t number, value; /* GRANT: its bytes; CLOSE: how; PART: its length */
} sent[FRAMES];
static size_t sent_count;
static size_t part_bytes;
static int ends[2]; /* the test's end, and that of the table */

void cbx_die(void)
{
    abort();
}

static void note(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len)
{
    (void)b;
    assert_true(sent_count < FRAMES);
    memcpy(&sent[sent_count].number, a, sizeof(uint32_t));
    sent[sent_count].type = type;
    if (type == CBX_FRAME_PART) {
        sent[sent_count].value = (uint32_t)b_len;
        part_bytes += b_len;
    } else {
        assert_int_equal(a_len, 8);
        memcpy(&sent[sent_count].value, (const char *)a + 4, sizeof(uint32_t));
    }
    sent_count++;
}

static int set_up(void **state)
{
    (void)state;
    sent_count = part_bytes = 0;
    cbx_connections_send = note;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    assert_true(cbx_connections_add(NUMBER, ends[1]));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cbx_connections_reset();
    if (ends[0] >= 0) {
        close(ends[0]);
    }
    return 0;
}

static void serve(void)
{
    struct pollfd fds[CBX_CONNECTIONS_MAX];
    int count = cbx_connections_poll(fds);
    poll(fds, (nfds_t)count, 0);
    cbx_connections_serve(fds, count);
}

static void give_part(const void *bytes, size_t len)
{
    uint8_t payload[4 + CBX_FRAME_PART_MAX];
    const uint32_t number = NUMBER;
    memcpy(payload, &number, 4);
    memcpy(payload + 4, bytes, len);
    cbx_connections_take(CBX_FRAME_PART, payload, 4 + len);
}

static void give_pair(uint8_t type, uint32_t number, uint32_t value)
{
    const uint32_t payload[2] = { number, value };
    cbx_connections_take(type, (const uint8_t *)payload, sizeof(payload));
}

static bool was_closed(uint32_t how)
{
    return sent_count > 0 && sent[sent_count - 1].type == CBX_FRAME_CLOSE &&
           sent[sent_count - 1].value == how;
}

static void bytes_of_the_socket_become_frames(void **state)
{
    (void)state;
    assert_int_equal(write(ends[0], "hello", 5), 5);
    serve();
    assert_int_equal(sent_count, 1);
    assert_int_equal(sent[0].type, CBX_FRAME_PART);
    assert_int_equal(sent[0].number, NUMBER);
    assert_int_equal(sent[0].value, 5);
}

static void no_more_is_sent_than_the_other_side_grants(void **state)
{
    (void)state;
    static char bytes[CBX_FRAME_PART_MAX];
    for (int i = 0; i < 64; i++) {
        (void)!write(ends[0], bytes, sizeof(bytes));
        serve();
    }
    assert_int_equal(part_bytes, CBX_FRAME_WINDOW);
    give_pair(CBX_FRAME_GRANT, NUMBER, 1000);
    serve();
    assert_int_equal(part_bytes, CBX_FRAME_WINDOW + 1000);
}

static void frames_are_written_and_granted_again(void **state)
{
    (void)state;
    static char bytes[CBX_FRAME_PART_MAX], got[CBX_FRAME_WINDOW];
    for (int i = 0; i < 3; i++) {
        give_part(bytes, sizeof(bytes));
        serve();
        assert_int_equal(read(ends[0], got, sizeof(got)), sizeof(bytes));
    }
    assert_int_equal(sent_count, 1);
    assert_int_equal(sent[0].type, CBX_FRAME_GRANT);
    assert_int_equal(sent[0].value, 2 * CBX_FRAME_PART_MAX);
}

static void more_than_was_granted_closes_the_connection(void **state)
{
    (void)state;
    static char bytes[CBX_FRAME_PART_MAX];
    int small = 1; /* the socket takes little, so bytes wait */
    setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    for (int i = 0; i < 64 && cbx_connections_count() == 1; i++) {
        give_part(bytes, sizeof(bytes));
    }
    assert_int_equal(cbx_connections_count(), 0);
    assert_true(was_closed(CBX_CLOSE_ALL));
}

static void a_grant_beyond_the_window_closes_the_connection(void **state)
{
    (void)state;
    give_pair(CBX_FRAME_GRANT, NUMBER, 1);
    assert_int_equal(cbx_connections_count(), 0);
    assert_true(was_closed(CBX_CLOSE_ALL));
}

static void each_direction_ends_by_itself(void **state)
{
    (void)state;
    char got[8];
    give_part("bye", 3);
    give_pair(CBX_FRAME_CLOSE, NUMBER, CBX_CLOSE_END);
    assert_int_equal(read(ends[0], got, sizeof(got)), 3);
    assert_int_equal(read(ends[0], got, sizeof(got)), 0);
    assert_int_equal(cbx_connections_count(), 1);
    assert_int_equal(write(ends[0], "later", 5), 5);
    serve();
    assert_int_equal(part_bytes, 5);
    shutdown(ends[0], SHUT_WR);
    serve();
    assert_true(was_closed(CBX_CLOSE_END));
    assert_int_equal(cbx_connections_count(), 0);
}

static void a_connection_that_the_program_drops_is_closed_on_the_other_side(void **state)
{
    (void)state;
    static char bytes[CBX_FRAME_PART_MAX];
    close(ends[0]);
    ends[0] = -1;
    give_part(bytes, sizeof(bytes));
    assert_true(was_closed(CBX_CLOSE_ALL));
    assert_int_equal(cbx_connections_count(), 0);
}

static void frames_of_other_numbers_and_lengths_mean_nothing(void **state)
{
    (void)state;
    const uint8_t byte = NUMBER;
    give_pair(CBX_FRAME_CLOSE, NUMBER + 1, CBX_CLOSE_ALL);
    give_pair(CBX_FRAME_GRANT, 0, UINT32_MAX);
    cbx_connections_take(CBX_FRAME_CLOSE, &byte, 1);
    cbx_connections_take(CBX_FRAME_CLOSE, (const uint8_t *)&(uint32_t){ NUMBER }, 4);
    assert_int_equal(cbx_connections_count(), 1);
    assert_int_equal(sent_count, 0);
}

static void an_ended_socket_is_sent_no_more_and_the_program_can_still_end(void **state)
{
    (void)state;
    char got[8];
    assert_int_equal(write(ends[0], "unread", 6), 6);
    cbx_connections_end(NUMBER, "bye", 3);
    assert_int_equal(sent_count, 2);
    assert_int_equal(sent[0].type, CBX_FRAME_PART);
    assert_int_equal(sent[0].value, 3);
    assert_true(was_closed(CBX_CLOSE_END));
    give_part("more", 4);
    assert_int_equal(read(ends[0], got, sizeof(got)), 0);
    give_pair(CBX_FRAME_CLOSE, NUMBER, CBX_CLOSE_END);
    assert_int_equal(cbx_connections_count(), 0);
}

static void a_connection_has_one_place_until_it_ends(void **state)
{
    (void)state;
    int slot = cbx_connections_slot(NUMBER);
    assert_in_range(slot, 0, CBX_CONNECTIONS_MAX - 1);
    give_part("x", 1);
    assert_int_equal(cbx_connections_slot(NUMBER), slot);
    assert_int_equal(cbx_connections_slot(NUMBER + 1), -1);
    give_pair(CBX_FRAME_CLOSE, NUMBER, CBX_CLOSE_ALL);
    assert_int_equal(cbx_connections_slot(NUMBER), -1);
}

static void a_full_table_and_a_used_number_are_refused(void **state)
{
    (void)state;
    assert_false(cbx_connections_add(NUMBER, ends[0]));
    for (uint32_t i = 1; i < CBX_CONNECTIONS_MAX; i++) {
        assert_true(cbx_connections_add(NUMBER + i, fcntl(ends[0], F_DUPFD_CLOEXEC, 3)));
    }
    int more = fcntl(ends[0], F_DUPFD_CLOEXEC, 3);
    assert_false(cbx_connections_add(1000, more));
    close(more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_of_the_socket_become_frames, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_more_is_sent_than_the_other_side_grants, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(frames_are_written_and_granted_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(more_than_was_granted_closes_the_connection, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_grant_beyond_the_window_closes_the_connection, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(each_direction_ends_by_itself, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_connection_that_the_program_drops_is_closed_on_the_other_side, set_up, tear_down),
        cmocka_unit_test_setup_teardown(frames_of_other_numbers_and_lengths_mean_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            an_ended_socket_is_sent_no_more_and_the_program_can_still_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_connection_has_one_place_until_it_ends, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_full_table_and_a_used_number_are_refused, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
