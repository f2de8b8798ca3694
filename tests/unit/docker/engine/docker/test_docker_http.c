/* SPDX-License-Identifier: MIT
 * The client of the engine: its connections. */
#include "tests/unit/docker/fake_engine.h"

#include <netinet/tcp.h>

/* The first descriptor of this process that is connected to the address. */
static int find_connection(const struct sockaddr_in *address)
{
    for (int fd = 0; fd < 1024; fd++) {
        struct sockaddr_in peer = { 0 };
        socklen_t size = sizeof(peer);
        if (getpeername(fd, (struct sockaddr *)&peer, &size) == 0 && peer.sin_family == AF_INET &&
            peer.sin_port == address->sin_port) {
            return fd;
        }
    }
    return -1;
}

static int option_of(int fd, int level, int option)
{
    int value = -1;
    socklen_t size = sizeof(value);
    assert_int_equal(getsockopt(fd, level, option, &value, &size), 0);
    return value;
}

static void a_connection_over_tcp_that_carries_nothing_any_more_ends_within_20_seconds(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    struct sockaddr_in address = fake_start_tcp();
    {
        CBX_AUTO(engine) engine = NULL;
        assert_int_equal(cbx_engine_new(fake.host, &engine, &err), 0);
        int fd = find_connection(&address);
        assert_true(fd >= 0);
        assert_int_equal(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
        int idle_s = option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE),
            between_s = option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL),
            dead_ms = option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT);
        assert_in_range(dead_ms, 5000,
                        10000); /* twice, when bytes are sent shortly before the end */
        assert_in_range(1000 * (idle_s + between_s), 1000, dead_ms);
    }
    fake_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_connection_over_tcp_that_carries_nothing_any_more_ends_within_20_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
