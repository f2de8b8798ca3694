/* SPDX-License-Identifier: MIT
 * Standard input of `codebox run`. */
#include "gateway/cli/run/run_stdin.h"

#include "gateway/front/executor_client.h"
#include "policies/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 64 * 1024 };

struct cbx_run_input {
    struct cbx_flow *flow;
    struct cbx_str principal;
    int fd;
    int stop[2]; /* a pipe that becomes readable when reading is to stop */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t asked;
    bool started, pending, secret, stopping;
    char run[CBX_ID_CHARS + 1];
    struct cbx_buf ahead; /* bytes read beyond the end of the last line */
};

/* True if there are bytes to read; false if reading is to stop. */
static bool await_input(const struct cbx_run_input *in)
{
    struct pollfd fds[] = { { .fd = in->fd, .events = POLLIN },
                            { .fd = in->stop[0], .events = POLLIN } };
    while (poll(fds, 2, -1) < 0 && errno == EINTR) {
    }
    return fds[1].revents == 0;
}

/* Moves the first line, with its '\n', from `ahead` to `line`; false if there is no whole line. */
static bool take_line(struct cbx_buf *ahead, bool at_end, struct cbx_buf *line)
{
    const char *end = memchr(ahead->p, '\n', ahead->len);
    if (end == NULL && !at_end && ahead->len < LINE_MAX_BYTES) {
        return false;
    }
    size_t len = end != NULL ? (size_t)(end - ahead->p) + 1 : ahead->len;
    cbx_buf_add_bytes(line, ahead->p, len);
    memmove(ahead->p, ahead->p + len, ahead->len - len);
    ahead->len -= len;
    return true;
}

/* Reads a line of the input, empty at its end; false if reading is to stop. */
static bool read_line(struct cbx_run_input *in, struct cbx_buf *line)
{
    bool at_end = in->fd < 0;
    while (!take_line(&in->ahead, at_end, line)) {
        char chunk[4096];
        if (!await_input(in)) {
            return false;
        }
        ssize_t n = read(in->fd, chunk, sizeof(chunk));
        if (n > 0) {
            cbx_buf_add_bytes(&in->ahead, chunk, (size_t)n);
        }
        at_end = n == 0 || (n < 0 && errno != EINTR);
    }
    return true;
}

/* As read_line; a terminal does not echo the typed characters. */
static bool read_secret(struct cbx_run_input *in, struct cbx_buf *line)
{
    struct termios shown, hidden;
    if (in->fd < 0 || tcgetattr(in->fd, &shown) < 0) {
        return read_line(in, line);
    }
    hidden = shown;
    hidden.c_lflag &= ~(tcflag_t)ECHO;
    tcsetattr(in->fd, TCSANOW, &hidden);
    bool read = read_line(in, line);
    tcsetattr(in->fd, TCSANOW, &shown);
    return read;
}

static void *answer_questions(void *context)
{
    struct cbx_run_input *in = context;
    pthread_mutex_lock(&in->lock);
    for (;;) {
        while (!in->pending && !in->stopping) {
            pthread_cond_wait(&in->asked, &in->lock);
        }
        if (in->stopping) {
            break;
        }
        in->pending = false;
        bool secret = in->secret;
        struct cbx_input_args args = { .session = cbx_str_of(in->run), .principal = in->principal };
        pthread_mutex_unlock(&in->lock);
        CBX_AUTO_DONE(buf) line;
        cbx_buf_init(&line, LINE_MAX_BYTES + 4096);
        if (secret ? read_secret(in, &line) : read_line(in, &line)) {
            /* A failure means that the run has ended, so there are no more questions. */
            cbx_call_input(in->flow, &args, cbx_buf_str(&line), NULL, NULL);
        }
        pthread_mutex_lock(&in->lock);
    }
    pthread_mutex_unlock(&in->lock);
    return NULL;
}

struct cbx_run_input *cbx_run_input_new(struct cbx_flow *flow, struct cbx_str principal, int fd)
{
    struct cbx_run_input *in = cbx_new(sizeof(*in));
    in->flow = flow;
    in->principal = principal;
    in->fd = fd;
    in->stop[0] = in->stop[1] = -1;
    pthread_mutex_init(&in->lock, NULL);
    pthread_cond_init(&in->asked, NULL);
    cbx_buf_init(&in->ahead, LINE_MAX_BYTES + 4096);
    return in;
}

void cbx_run_input_ask(struct cbx_run_input *in, const char *run, bool secret)
{
    pthread_mutex_lock(&in->lock);
    if (!in->started) { /* the thread starts at the first question: most programs ask none */
        in->started = pipe2(in->stop, O_CLOEXEC) == 0 &&
                      pthread_create(&in->thread, NULL, answer_questions, in) == 0;
    }
    in->pending = true;
    in->secret = secret;
    snprintf(in->run, sizeof(in->run), "%s", run);
    pthread_cond_signal(&in->asked);
    pthread_mutex_unlock(&in->lock);
}

void cbx_run_input_free(struct cbx_run_input *in)
{
    if (in == NULL) {
        return;
    }
    if (in->started) {
        pthread_mutex_lock(&in->lock);
        in->stopping = true;
        pthread_cond_signal(&in->asked);
        pthread_mutex_unlock(&in->lock);
        (void)!write(in->stop[1], "s", 1);
        pthread_join(in->thread, NULL);
    }
    cbx_fd_auto(&in->stop[0]);
    cbx_fd_auto(&in->stop[1]);
    cbx_buf_done(&in->ahead);
    pthread_mutex_destroy(&in->lock);
    pthread_cond_destroy(&in->asked);
    free(in);
}
