/* SPDX-License-Identifier: MIT
 * The standard input of programs: one pipe for each kernel, whose reading end is the kernel's descriptor 0, which everything that it
 * starts inherits. Each run has its own input in it: Linux opens a pipe for writing once more through /proc, and a pipe that nobody
 * writes to is at its end. So a run without an input finds the end at once, no kernel has to exchange its descriptor between runs, and
 * what a program of the run before still reads has ended with it. Nothing here blocks: what the pipe does not take waits, up to
 * CBX_FRAME_FEED_WINDOW bytes, and the host sends no more before it is told (FED). */
#include "docker/inside/supervisor/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    TELL_BYTES = CBX_FRAME_FEED_WINDOW / 4,
    DROP_MAX = 4 * 1024 * 1024, /* read of a pipe at most, which a program may fill meanwhile */
};

static struct {
    int own;                  /* a reading end of the supervisor, non-blocking; -1 = no kernel */
    int writing;              /* -1 = the input is at its end, or no run has one */
    struct cbx_bytes waiting; /* bytes of the run, */
    size_t written;           /* of which so many are in the pipe */
    bool takes;               /* a run with an input was submitted and has not ended */
    bool ended, cut;          /* the host sends no more of it; it lost the rest */
    uint64_t fed, told;       /* bytes of this host that wait no more, as FED has it */
    size_t earlier;           /* bytes that wait and came from an earlier host */
} in = { .own = -1, .writing = -1 };

/* The same pipe, as an open file of its own: flags that a program sets on its descriptor are not those of this one. */
static int reopen(int fd, int flags)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, flags | O_NONBLOCK | O_CLOEXEC);
}

void cbx_input_open(int *theirs)
{
    int ends[2];
    cbx_input_close();
    if (pipe2(ends, O_CLOEXEC) < 0) {
        cbx_die();
    }
    in.own = reopen(ends[0], O_RDONLY); /* where that fails, runs with an input are refused */
    close(ends[1]);
    *theirs = ends[0];
}

void cbx_input_close(void)
{
    cbx_close(&in.writing);
    cbx_close(&in.own);
}

/* --- what waits ------------------------------------------------------------------------------- */

static size_t waiting(void)
{
    return in.waiting.len - in.written;
}

static void tell(uint64_t least)
{
    if (in.fed - in.told >= least) {
        in.told = in.fed;
        cbx_reply(CBX_FRAME_FED, &in.told, sizeof(in.told), NULL, 0);
    }
}

/* So many bytes wait no more. */
static void count_fed(size_t bytes)
{
    size_t earlier = bytes < in.earlier ? bytes : in.earlier;
    in.earlier -= earlier;
    in.fed += bytes - earlier;
}

static void drop_waiting(void)
{
    count_fed(waiting());
    cbx_bytes_free(&in.waiting);
    in.written = 0;
    tell(1);
}

void cbx_input_flush(void)
{
    while (in.writing >= 0 && waiting() > 0) {
        ssize_t n = write(in.writing, in.waiting.p + in.written, waiting());
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return; /* the pipe is full */
        }
        in.written += (size_t)n;
        count_fed((size_t)n);
    }
    if (in.writing < 0) {
        return;
    }
    cbx_bytes_free(&in.waiting);
    in.written = 0;
    if (in.ended) {
        cbx_close(&in.writing);
    }
    tell(TELL_BYTES);
}

/* What is in the pipe was for a run that has ended. */
static void drop_unread(void)
{
    static uint8_t chunk[CBX_CHUNK_BYTES];
    for (size_t total = 0; in.own >= 0 && total < DROP_MAX;) {
        ssize_t n = read(in.own, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return;
        }
        total += (size_t)n;
    }
}

/* --- runs ------------------------------------------------------------------------------------- */

void cbx_input_submit(bool has_input)
{
    in.takes = has_input;
    in.ended = in.cut = false;
    drop_waiting();
}

bool cbx_input_begin(void)
{
    drop_unread();
    if (!in.takes) {
        return true;
    }
    in.writing = reopen(in.own, O_WRONLY);
    if (in.writing < 0) {
        return false;
    }
    cbx_input_flush();
    return true;
}

void cbx_input_take(uint8_t type, const uint8_t *payload, size_t len)
{
    if (type == CBX_FRAME_FEED_END) {
        in.cut = in.cut || (in.takes && !in.ended && len > 0 && payload[0] != 0);
        in.ended = true;
    } else if (in.takes && !in.ended) {
        if (waiting() + len > CBX_FRAME_FEED_WINDOW) {
            cbx_die(); /* the host breaks the protocol */
        }
        cbx_bytes_add(&in.waiting, payload, len);
    } else { /* the run ended meanwhile */
        in.fed += len;
        tell(1);
    }
    cbx_input_flush();
}

void cbx_input_stop(void)
{
    cbx_close(&in.writing);
    in.ended = true;
    drop_waiting();
    drop_unread();
}

uint32_t cbx_input_end(void)
{
    uint32_t flags = in.cut ? CBX_DONE_INPUT_CUT : 0;
    cbx_input_stop();
    in.takes = in.cut = false;
    return flags;
}

bool cbx_input_is_awaited(void)
{
    int unread = 0;
    return in.writing >= 0 && !in.ended && waiting() == 0 &&
           ioctl(in.own, FIONREAD, &unread) == 0 && unread == 0;
}

void cbx_input_reset(void)
{
    if (in.takes && !in.ended) { /* the rest was to come from the earlier host */
        in.ended = in.cut = true;
    }
    in.earlier = waiting();
    in.fed = in.told = 0;
    cbx_input_flush();
}

void cbx_input_poll(struct pollfd *fd)
{
    *fd = (struct pollfd){ .fd = waiting() > 0 ? in.writing : -1, .events = POLLOUT };
}
