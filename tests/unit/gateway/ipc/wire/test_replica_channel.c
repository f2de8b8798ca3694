/* SPDX-License-Identifier: MIT
 * The front's side of the channel to the process of links. */
#include "gateway/ipc/wire/ipc_wire.h"
#include "gateway/ipc/wire/replica_channel.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int channel[2]; /* front, process of links */

static int begin(void **state)
{
    struct cbx_err err;
    (void)state;
    return cbx_wire_pair(channel, &err);
}

static int end(void **state)
{
    (void)state;
    close(channel[0]);
    close(channel[1]);
    return 0;
}

/* Takes the socket that the front passed, and writes a line to it; NULL = none. */
static int take_socket(const char *line)
{
    int fd = -1;
    char tag = 0;
    struct cbx_err err;
    assert_int_equal(cbx_wire_receive_fd_now(channel[1], &fd, &tag, &err), 0);
    assert_int_equal(tag, 3);
    if (line != NULL) {
        assert_int_equal(write(fd, line, strlen(line)), strlen(line));
    }
    return fd;
}

/* A request whose client disconnects when this many checks were made. */
struct client {
    int checks, most;
    const char *line; /* the answer of the process of links; NULL = none */
    int link;         /* its end of the socket; -1 = not taken yet */
};

static bool goes_on(const void *context)
{
    struct client *c = (struct client *)(uintptr_t)context;
    if (c->checks == 1) {
        c->link = take_socket(c->line); /* the first check is before the socket was passed */
    }
    return c->checks++ < c->most;
}

static int open_link(struct client *c, struct cbx_err *err)
{
    int fd = -1;
    int failed = cbx_link_open(channel[0], 3, goes_on, c, &fd, err);
    if (!failed) {
        close(fd);
    }
    return failed;
}

static void a_link_is_opened_when_the_process_of_links_says_so(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    struct client c = { .most = 100, .line = CBX_LINK_UP, .link = -1 };
    assert_int_equal(open_link(&c, &err), 0);
    close(c.link);
}

static void its_reason_is_the_error(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    struct client c = { .most = 100, .line = "connect: refused\n", .link = -1 };
    assert_int_equal(open_link(&c, &err), CBX_EIO);
    assert_string_equal(err.text, "connect: refused");
    close(c.link);
}

static void a_link_is_not_awaited_for_a_client_that_has_left(void **state)
{
    (void)state;
    char byte;
    struct cbx_err err = { 0 };
    struct client c = { .most = 2, .line = NULL, .link = -1 };
    assert_int_equal(open_link(&c, &err), CBX_EIO);
    assert_int_equal(c.checks, 3);
    assert_int_equal(read(c.link, &byte, 1), 0); /* the front has closed its end */
    close(c.link);
}

static void nothing_is_passed_for_a_client_that_has_left_before(void **state)
{
    (void)state;
    int fd = -1;
    char tag;
    struct cbx_err err = { 0 };
    struct client c = { .most = 0, .link = -1 };
    assert_int_equal(open_link(&c, &err), CBX_EIO);
    assert_int_equal(cbx_wire_receive_fd_now(channel[1], &fd, &tag, &err), CBX_ETIMEDOUT);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_link_is_opened_when_the_process_of_links_says_so, begin,
                                        end),
        cmocka_unit_test_setup_teardown(its_reason_is_the_error, begin, end),
        cmocka_unit_test_setup_teardown(a_link_is_not_awaited_for_a_client_that_has_left, begin,
                                        end),
        cmocka_unit_test_setup_teardown(nothing_is_passed_for_a_client_that_has_left_before, begin,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
