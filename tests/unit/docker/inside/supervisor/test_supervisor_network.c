/* SPDX-License-Identifier: MIT
 * Connections of programs to the proxy's port: those that become frames, and those that the
 * supervisor answers. */
#include "docker/inside/supervisor/supervisor.h"
#include "tests/unit/unit.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Any free port: other tests run at the same time. */
#define CBX_FRAME_PROXY_PORT 0
#include "docker/inside/supervisor/supervisor_network.c"
#include "docker/inside/wire/wire.c"
#include "docker/inside/wire/wire_connections.c"

static uint32_t connects; /* CONNECT frames */

void cbx_die(void)
{
    abort();
}

void cbx_reply(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len)
{
    (void)a;
    (void)a_len;
    (void)b;
    (void)b_len;
    connects += type == CBX_FRAME_CONNECT;
}

size_t cbx_reply_waiting(void)
{
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    connects = 0;
    return cbx_network_open() ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    cbx_network_reset();
    cbx_close(&listener);
    return 0;
}

static void turn(void)
{
    struct pollfd fds[CBX_NETWORK_FDS];
    int count = cbx_network_poll(fds);
    assert_in_range(count, 0, CBX_NETWORK_FDS);
    poll(fds, (nfds_t)count, 0);
    cbx_network_serve(fds, count);
}

/* A program's connection, which the supervisor has accepted. */
static int connect_one(void)
{
    struct sockaddr_in address;
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, len), 0);
    turn();
    return fd;
}

static void fill(int fds[CBX_CONNECTIONS_MAX])
{
    for (int i = 0; i < CBX_CONNECTIONS_MAX; i++) {
        fds[i] = connect_one();
    }
    assert_int_equal(connects, CBX_CONNECTIONS_MAX);
}

static void close_all(const int *fds, int count)
{
    for (int i = 0; i < count; i++) {
        close(fds[i]);
    }
}

static void one_more_than_the_limit_gets_an_answer_that_has_the_limit(void **state)
{
    (void)state;
    int fds[CBX_CONNECTIONS_MAX];
    char answer[1024] = "";
    fill(fds);
    int more = connect_one();
    assert_int_equal(connects, CBX_CONNECTIONS_MAX);
    assert_int_equal(recv(more, answer, sizeof(answer), MSG_DONTWAIT), -1); /* the request first */
    static const char request[] = "CONNECT example.com:443 HTTP/1.1\r\n\r\n";
    assert_int_equal(send(more, request, sizeof(request) - 1, 0), sizeof(request) - 1);
    turn();
    ssize_t n = recv(more, answer, sizeof(answer) - 1, 0);
    assert_true(n > 0);
    assert_non_null(strstr(answer, "HTTP/1.1 503 "));
    assert_non_null(strstr(answer, "\r\n\r\nthe sandbox has 64 connections open"));
    assert_int_equal(recv(more, answer, sizeof(answer), 0), 0); /* and the end, not a reset */
    close(more);
    turn();
    assert_int_equal(refused[0].fd, 0);
    close_all(fds, CBX_CONNECTIONS_MAX);
}

static void a_connection_that_ends_makes_room(void **state)
{
    (void)state;
    int fds[CBX_CONNECTIONS_MAX];
    fill(fds);
    const struct cbx_frame_close end = { .connection = last_number, .how = CBX_CLOSE_ALL };
    cbx_network_take(CBX_FRAME_CLOSE, (const uint8_t *)&end, sizeof(end));
    int next = connect_one();
    assert_int_equal(connects, CBX_CONNECTIONS_MAX + 1);
    close(next);
    close_all(fds, CBX_CONNECTIONS_MAX);
}

static void refused_ones_that_send_nothing_cost_a_bounded_number_of_descriptors(void **state)
{
    (void)state;
    enum { MORE = CBX_NETWORK_REFUSED_MAX + 2 };
    int fds[CBX_CONNECTIONS_MAX], more[MORE];
    char byte;
    fill(fds);
    for (int i = 0; i < MORE; i++) {
        more[i] = connect_one();
    }
    for (int i = 0; i < MORE; i++) { /* the two oldest were closed */
        assert_int_equal(recv(more[i], &byte, 1, MSG_DONTWAIT), i < 2 ? 0 : -1);
    }
    close_all(more, MORE);
    close_all(fds, CBX_CONNECTIONS_MAX);
}

static void another_host_finds_no_connection(void **state)
{
    (void)state;
    int fds[CBX_CONNECTIONS_MAX];
    char byte;
    fill(fds);
    int more = connect_one();
    cbx_network_reset();
    assert_int_equal(recv(more, &byte, 1, 0), 0);
    assert_int_equal(cbx_connections_count(), 0);
    close(more);
    close_all(fds, CBX_CONNECTIONS_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_more_than_the_limit_gets_an_answer_that_has_the_limit),
        TEST(a_connection_that_ends_makes_room),
        TEST(refused_ones_that_send_nothing_cost_a_bounded_number_of_descriptors),
        TEST(another_host_finds_no_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
