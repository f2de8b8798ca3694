/* SPDX-License-Identifier: MIT
 * Handshakes at their limit. */
#include "gateway/replicas/handshakes.h"
#include "tests/unit/unit.h"

#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

enum { OPENED = CBX_HANDSHAKES_MAX + 3 };

static int ends[OPENED][2];

static bool is_shut_down(size_t index)
{
    struct pollfd ready = { .fd = ends[index][1], .events = POLLIN };
    return poll(&ready, 1, 0) == 1;
}

static void the_oldest_ends_for_a_new_one(void **state)
{
    (void)state;
    static struct cbx_handshakes handshakes;
    cbx_handshakes_init(&handshakes);
    for (size_t i = 0; i < OPENED; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]), 0);
    }
    for (size_t i = 0; i < CBX_HANDSHAKES_MAX; i++) {
        cbx_handshakes_begin(&handshakes, ends[i][0]);
    }
    cbx_handshakes_end(&handshakes, ends[1][0]);
    cbx_handshakes_end(&handshakes, ends[1][0]);
    assert_int_equal(handshakes.count, CBX_HANDSHAKES_MAX - 1);
    for (size_t i = CBX_HANDSHAKES_MAX; i < OPENED; i++) {
        assert_false(is_shut_down(0) && i == CBX_HANDSHAKES_MAX);
        cbx_handshakes_begin(&handshakes, ends[i][0]);
    }
    for (size_t i = 0; i < OPENED; i++) {
        assert_int_equal(is_shut_down(i), i == 0 || i == 2);
        cbx_handshakes_end(&handshakes, ends[i][0]);
        close(ends[i][0]);
        close(ends[i][1]);
    }
    assert_int_equal(handshakes.count, 0);
}

static void the_oldest_ends_when_there_is_no_descriptor_for_a_new_one(void **state)
{
    (void)state;
    static struct cbx_handshakes handshakes;
    cbx_handshakes_init(&handshakes);
    assert_false(cbx_handshakes_evict(&handshakes));
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]), 0);
        cbx_handshakes_begin(&handshakes, ends[i][0]);
    }
    assert_true(cbx_handshakes_evict(&handshakes));
    assert_true(is_shut_down(0));
    assert_false(is_shut_down(1));
    assert_int_equal(handshakes.count, 1);
    for (size_t i = 0; i < 2; i++) {
        close(ends[i][0]);
        close(ends[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_ends_for_a_new_one),
        cmocka_unit_test(the_oldest_ends_when_there_is_no_descriptor_for_a_new_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
