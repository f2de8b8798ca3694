/* SPDX-License-Identifier: MIT
 * Hosts that connect through bridges: which of them the supervisor accepts. */
#include "docker/inside/supervisor/supervisor.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static bool foreign = true;
static const char *workspace;
static char taken[64]; /* the types of the frames that arrived */
static int marks;
static const uint8_t key[CBX_FRAME_KEY_BYTES] = "0123456789abcdef0123456789abcde";

bool cbx_process_is_foreign(pid_t pid)
{
    return pid == getpid() && foreign;
}

void cbx_die(void)
{
    abort();
}

void cbx_reply_mark(const uint8_t mark[CBX_FRAME_MARK_BYTES])
{
    assert_memory_equal(mark, key, sizeof(key));
    marks++;
}

static DIR *open_workspace(const char *path)
{
    assert_string_equal(path, "/workspace");
    return opendir(workspace);
}

/* Other tests, and sandboxes, may have a supervisor's address at the same time. */
#include "docker/inside/bridge/bridge.h"
#define cbx_bridge_address(out) test_address(out)
#define opendir                 open_workspace
static socklen_t test_address(struct sockaddr_un *out)
{
    *out = (struct sockaddr_un){ .sun_family = AF_UNIX };
    snprintf(out->sun_path + 1, sizeof(out->sun_path) - 1, "codebox-test-%d", (int)getpid());
    return (socklen_t)sizeof(*out);
}
#include "docker/inside/supervisor/supervisor_host.c"
#include "docker/inside/wire/wire.c"
#undef opendir

static void take(uint8_t type, const uint8_t *payload, size_t len)
{
    size_t n = strlen(taken);
    assert_true(n + 1 < sizeof(taken));
    taken[n] = (char)type;
    if (type == CBX_FRAME_ATTACH) {
        assert_int_equal(len, CBX_FRAME_ATTACH_BYTES);
        assert_true(cbx_host_attach(payload));
    }
}

static void turn(void)
{
    struct pollfd fds[CBX_HOST_FDS];
    int count = cbx_host_poll(fds);
    assert_in_range(count, 1, CBX_HOST_FDS);
    poll(fds, (nfds_t)count, 0);
    cbx_host_serve(fds, count, take);
    struct pollfd host = { .fd = cbx_host.in, .events = POLLIN };
    if (cbx_host.in >= 0 && poll(&host, 1, 0) > 0 && !cbx_host_read(take)) {
        cbx_host_lost();
    }
}

static int set_up(void **state)
{
    (void)state;
    static char folder[] = "/tmp/test-host-XXXXXX";
    if (workspace == NULL) {
        workspace = mkdtemp(folder);
    }
    memset(&h, 0, sizeof(h));
    memset(taken, 0, sizeof(taken));
    foreign = true;
    marks = 0;
    setenv(CBX_BRIDGE_VARIABLE, "1", 1);
    return cbx_host_open() ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    cbx_host_lost();
    for (size_t i = 0; i < CBX_HOST_PEERS; i++) {
        cbx_close(&h.peers[i].fd);
    }
    cbx_close(&h.listener);
    free(h.inbox.bytes);
    rmdir(workspace);
    return mkdir(workspace, 0700);
}

static int connect_bridge(void)
{
    struct sockaddr_un address;
    socklen_t len = test_address(&address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, len), 0);
    turn();
    return fd;
}

static void write_opening(int fd, const uint8_t *with, uint64_t epoch)
{
    struct __attribute__((packed)) {
        uint8_t key[CBX_FRAME_KEY_BYTES], type;
        uint32_t len;
        uint8_t nonce[CBX_FRAME_NONCE_BYTES];
        uint32_t lease_ms;
        uint64_t epoch;
    } opening = { .type = CBX_FRAME_ATTACH, .len = CBX_FRAME_ATTACH_BYTES, .epoch = epoch };
    memcpy(opening.key, with, sizeof(opening.key));
    (void)!send(fd, &opening, sizeof(opening), MSG_NOSIGNAL);
    turn();
}

static int attach(uint64_t epoch)
{
    int fd = connect_bridge();
    write_opening(fd, key, epoch);
    return fd;
}

static void send_ping(int fd)
{
    static const uint8_t ping[CBX_FRAME_HEAD_BYTES] = { CBX_FRAME_PING };
    assert_int_equal(send(fd, ping, sizeof(ping), MSG_NOSIGNAL), sizeof(ping));
    turn();
}

static bool is_closed(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno == ECONNRESET);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void the_first_bridge_gives_the_key_and_its_frames_are_taken(void **state)
{
    (void)state;
    int fd = attach(0);
    send_ping(fd);
    assert_string_equal(taken, "Ap");
    assert_int_equal(marks, 1);
    assert_int_equal(cbx_host.out, cbx_host.in);
    close(fd);
}

static void a_bridge_with_another_key_is_closed_and_the_host_stays(void **state)
{
    (void)state;
    uint8_t other[CBX_FRAME_KEY_BYTES];
    memcpy(other, key, sizeof(other));
    other[31] ^= 1;
    int host = attach(0), thief = connect_bridge();
    write_opening(thief, other, 9);
    assert_true(is_closed(thief));
    send_ping(host);
    assert_string_equal(taken, "Ap");
    close(thief);
    close(host);
}

static void a_program_of_the_sandbox_is_no_host_not_even_the_first(void **state)
{
    (void)state;
    foreign = false;
    int program = connect_bridge();
    assert_true(is_closed(program));
    close(program);
    foreign = true;
    int host = attach(0);
    foreign = false;
    program = connect_bridge();
    write_opening(program, key, 9);
    assert_true(is_closed(program));
    send_ping(host);
    assert_string_equal(taken, "Ap");
    close(program);
    close(host);
}

static void the_next_host_replaces_the_last_one_and_half_a_frame_of_it_is_void(void **state)
{
    (void)state;
    int first = attach(0);
    assert_int_equal(send(first, "P\xff\x00", 3, MSG_NOSIGNAL), 3);
    turn();
    int second = attach(0);
    assert_true(is_closed(first));
    send_ping(second);
    assert_string_equal(taken, "AAp");
    close(first);
    close(second);
}

static void a_host_with_a_lower_epoch_is_told_so_and_the_host_stays(void **state)
{
    (void)state;
    int host = attach(7), late = attach(6);
    struct __attribute__((packed)) {
        uint8_t mark[CBX_FRAME_MARK_BYTES], type;
        uint32_t len;
        struct cbx_frame_hello hello;
    } told;
    assert_int_equal(recv(late, &told, sizeof(told), MSG_DONTWAIT), sizeof(told));
    assert_int_equal(told.type, CBX_FRAME_HELLO);
    assert_int_equal(told.hello.run, CBX_HELLO_FENCED);
    assert_true(is_closed(late));
    send_ping(host);
    assert_string_equal(taken, "Ap");
    close(late);
    late = attach(7); /* the same gateway again */
    send_ping(late);
    assert_string_equal(taken, "ApAp");
    close(late);
    close(host);
}

static void the_sandbox_outlives_its_host(void **state)
{
    (void)state;
    int host = attach(0);
    close(host);
    turn();
    assert_int_equal(cbx_host.in, -1);
    assert_int_equal(cbx_host.out, -1);
    host = attach(0);
    send_ping(host);
    assert_string_equal(taken, "AAp");
    close(host);
}

static void bridges_that_send_nothing_keep_no_host_out(void **state)
{
    (void)state;
    int silent[CBX_HOST_PEERS + 2];
    for (size_t i = 0; i < CBX_HOST_PEERS + 2; i++) {
        silent[i] = connect_bridge();
    }
    assert_true(is_closed(silent[0]));
    int host = attach(0);
    send_ping(host);
    assert_string_equal(taken, "Ap");
    for (size_t i = 0; i < CBX_HOST_PEERS + 2; i++) {
        close(silent[i]);
    }
    close(host);
}

static void a_bridge_whose_connection_failed_is_closed(void **state)
{
    (void)state;
    int fd = connect_bridge();
    size_t at = 0;
    while (h.peers[at].fd < 0) {
        at++;
    }
    /* an unread byte makes the end of the peer an error of this side's connection */
    assert_int_equal(send(h.peers[at].fd, "x", 1, MSG_NOSIGNAL), 1);
    close(fd);
    turn();
    assert_int_equal(h.peers[at].fd, -1);
}

static void an_opening_that_arrives_byte_by_byte_is_one(void **state)
{
    (void)state;
    int fd = connect_bridge();
    uint8_t opening[OPENING_BYTES] = { 0 };
    memcpy(opening, key, sizeof(key));
    opening[CBX_FRAME_KEY_BYTES] = CBX_FRAME_ATTACH;
    opening[CBX_FRAME_KEY_BYTES + 1] = CBX_FRAME_ATTACH_BYTES;
    for (size_t i = 0; i < sizeof(opening); i++) {
        assert_string_equal(taken, "");
        assert_int_equal(send(fd, opening + i, 1, MSG_NOSIGNAL), 1);
        turn();
    }
    assert_string_equal(taken, "A");
    close(fd);
}

static void an_opening_without_an_attach_is_refused(void **state)
{
    (void)state;
    int fd = connect_bridge();
    uint8_t opening[OPENING_BYTES] = { 0 };
    memcpy(opening, key, sizeof(key));
    opening[CBX_FRAME_KEY_BYTES] = CBX_FRAME_PING;
    assert_int_equal(send(fd, opening, sizeof(opening), MSG_NOSIGNAL), sizeof(opening));
    turn();
    assert_true(is_closed(fd));
    assert_false(h.has_key);
    close(fd);
}

static void a_supervisor_that_was_started_again_does_not_begin(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof(path), "%s/left", workspace);
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    cbx_close(&h.listener);
    setenv(CBX_BRIDGE_VARIABLE, "1", 1);
    assert_false(cbx_host_open());
    unlink(path);
    cbx_close(&h.listener);
    setenv(CBX_BRIDGE_VARIABLE, "1", 1);
    assert_true(cbx_host_open());
    assert_null(getenv(CBX_BRIDGE_VARIABLE));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_bridge_gives_the_key_and_its_frames_are_taken),
        TEST(a_bridge_with_another_key_is_closed_and_the_host_stays),
        TEST(a_program_of_the_sandbox_is_no_host_not_even_the_first),
        TEST(the_next_host_replaces_the_last_one_and_half_a_frame_of_it_is_void),
        TEST(a_host_with_a_lower_epoch_is_told_so_and_the_host_stays),
        TEST(the_sandbox_outlives_its_host),
        TEST(bridges_that_send_nothing_keep_no_host_out),
        TEST(a_bridge_whose_connection_failed_is_closed),
        TEST(an_opening_that_arrives_byte_by_byte_is_one),
        TEST(an_opening_without_an_attach_is_refused),
        TEST(a_supervisor_that_was_started_again_does_not_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
