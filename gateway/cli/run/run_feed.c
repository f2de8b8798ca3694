/* SPDX-License-Identifier: MIT
 * Standard input of `codebox run`, if it is no terminal. */
#include "gateway/cli/run/run_feed.h"

#include "docker/result.h"
#include "gateway/front/executor_client.h"
#include "policies/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 256 * 1024 };

struct cbx_run_feed {
    struct cbx_flow *flow;
    struct cbx_str principal;
    int fd;
    int stop[2]; /* a pipe that becomes readable when reading is to stop */
    pthread_t thread;
    bool started;
    char run[CBX_ID_CHARS + 1];
    struct cbx_err failure; /* reason for which the run was cancelled; code 0 = none */
};

bool cbx_run_feed_takes(int fd, struct cbx_err *err)
{
    struct stat status;
    if (isatty(fd) == 1 || fstat(fd, &status) < 0) {
        return false;
    }
    off_t at = S_ISREG(status.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
    if (at >= 0 && status.st_size > at && (uint64_t)(status.st_size - at) > CBX_INPUT_BYTES_MAX) {
        cbx_fail(err, CBX_ETOOBIG, "standard input has %lld bytes, allowed are %llu",
                 (long long)(status.st_size - at), (unsigned long long)CBX_INPUT_BYTES_MAX);
    }
    return true;
}

struct cbx_run_feed *cbx_run_feed_new(struct cbx_flow *flow, struct cbx_str principal, int fd)
{
    struct cbx_run_feed *feed = cbx_new(sizeof(*feed));
    feed->flow = flow;
    feed->principal = principal;
    feed->fd = fd;
    feed->stop[0] = feed->stop[1] = -1;
    return feed;
}

/* True if there are bytes to read, or the descriptor can be written at once; false if reading is
 * to stop. */
static bool await_bytes(const struct cbx_run_feed *feed, int fd, int timeout_ms)
{
    struct pollfd fds[] = { { .fd = fd, .events = POLLIN },
                            { .fd = feed->stop[0], .events = POLLIN } };
    while (poll(fds, 2, timeout_ms) < 0 && errno == EINTR) {
    }
    return fds[1].revents == 0;
}

/* Returns after the program has read most of the sent bytes. CBX_ESTATE if reading is to stop. */
static int send_bytes(const struct cbx_run_feed *feed, struct cbx_str bytes, bool end,
                      struct cbx_err *err)
{
    struct cbx_feed_args args = {
        .run = cbx_str_of(feed->run), .principal = feed->principal, .end = end, .wait = true
    };
    for (json_int_t waiting = CHUNK_BYTES + 1; waiting > CHUNK_BYTES; bytes.len = 0) {
        CBX_AUTO_DONE(message) answer;
        cbx_message_init(&answer);
        int failed = cbx_call_feed(feed->flow, &args, bytes, &answer, err);
        if (failed || end) {
            return failed;
        }
        waiting = json_integer_value(json_object_get(answer.header, "waiting"));
        if (!await_bytes(feed, -1, 0)) {
            return CBX_ESTATE;
        }
    }
    return 0;
}

/* The run must not end as if its input were complete. */
static void give_up(const struct cbx_run_feed *feed)
{
    const struct cbx_cancel_args args = { .run = cbx_str_of(feed->run),
                                          .principal = feed->principal };
    cbx_call_cancel(feed->flow, &args, CBX_STR(""), NULL, NULL);
}

static void *feed_run(void *context)
{
    struct cbx_run_feed *feed = context;
    CBX_AUTO_MEM char *chunk = malloc(CHUNK_BYTES);
    bool end = false;
    int failed = 0;
    if (chunk == NULL) {
        abort();
    }
    while (!failed && !end && await_bytes(feed, feed->fd, -1)) {
        ssize_t n = read(feed->fd, chunk, CHUNK_BYTES);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
            continue;
        }
        if (n < 0) {
            failed = cbx_fail(&feed->failure, CBX_EINVAL, "standard input: %s", strerror(errno));
            break;
        }
        end = n == 0;
        struct cbx_str bytes = { .p = chunk, .len = (size_t)n };
        failed = send_bytes(feed, bytes, end, &feed->failure);
    }
    if (failed == CBX_ETOOBIG || failed == CBX_EINVAL) {
        give_up(feed);
    } else { /* the run, or its executor, has ended: the result names what was lost */
        feed->failure = (struct cbx_err){ 0 };
    }
    return NULL;
}

void cbx_run_feed_begin(struct cbx_run_feed *feed, const char *run)
{
    if (feed->started) {
        return;
    }
    snprintf(feed->run, sizeof(feed->run), "%s", run);
    if (pipe2(feed->stop, O_CLOEXEC) < 0 ||
        pthread_create(&feed->thread, NULL, feed_run, feed) != 0) {
        cbx_fail(&feed->failure, CBX_EIO, "standard input cannot be read: %s", strerror(errno));
        give_up(feed);
        return;
    }
    feed->started = true;
}

int cbx_run_feed_end(struct cbx_run_feed *feed, struct cbx_err *err)
{
    if (feed->started) {
        (void)!write(feed->stop[1], "s", 1);
        pthread_join(feed->thread, NULL);
        feed->started = false;
    }
    if (feed->failure.code != 0) {
        *err = feed->failure;
    }
    return feed->failure.code;
}

void cbx_run_feed_free(struct cbx_run_feed *feed)
{
    if (feed == NULL) {
        return;
    }
    struct cbx_err ignored;
    cbx_run_feed_end(feed, &ignored);
    cbx_fd_auto(&feed->stop[0]);
    cbx_fd_auto(&feed->stop[1]);
    free(feed);
}
