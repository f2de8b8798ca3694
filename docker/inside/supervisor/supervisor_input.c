/* SPDX-License-Identifier: MIT
 * The standard input of programs: one pipe for each kernel, whose reading end is the kernel's
 * descriptor 0, inherited by all its children. Each run has a separate input in the pipe: Linux
 * can open a pipe for writing again through /proc, and a pipe without a writer is at its end. So
 * a run without an input finds the end at once, no kernel has to exchange its descriptor between
 * runs, and the input of a program that remains from the previous run has ended. No call blocks
 * here: bytes that do not fit the pipe are queued, up to CBX_FRAME_FEED_WINDOW bytes, and the
 * host sends no more until FED. */
#include "docker/inside/supervisor/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    TELL_BYTES = CBX_FRAME_FEED_WINDOW / 4,
    /* maximum read from a pipe, which a program may fill meanwhile */
    DROP_MAX = 4 * 1024 * 1024,
};

static struct {
    int own;                  /* a reading end of the supervisor, non-blocking; -1 = no kernel */
    int writing;              /* -1 = the input is at its end, or no run has one */
    struct cbx_bytes waiting; /* bytes of the run, */
    size_t written;           /* number of them that are in the pipe */
    bool takes;               /* true after a run with an input was submitted, until it ends */
    bool ended, cut;          /* the host sends no more of it; the host lost the rest */
    uint64_t fed, told;       /* bytes of this host that left the queue, as reported by FED */
    size_t earlier;           /* queued bytes from an earlier host */
} in = { .own = -1, .writing = -1 };

/* Opens the same pipe as a separate open file: flags that a program sets on its descriptor do
 * not affect it. */
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
    in.own = reopen(ends[0], O_RDONLY); /* on failure, runs with an input are refused */
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

/* Counts bytes that left the queue. */
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

/* The bytes in the pipe were for a run that has ended. */
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
            cbx_die(); /* the host violates the protocol */
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
    if (in.takes && !in.ended) { /* the earlier host was to send the rest */
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
