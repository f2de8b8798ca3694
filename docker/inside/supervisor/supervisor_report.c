/* SPDX-License-Identifier: MIT
 * Output for the host: replies to its requests, and the log of the run, which is stored until the
 * host has acknowledged it. */
#include "docker/inside/supervisor/supervisor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUNDLE_COST = 64, ASIDE_MAX = 1024, JOIN_BYTES = 64 * 1024 };
enum { ASIDE_BYTES = 4 * 1024 * 1024, HEADS_BYTES = 1024 * 1024 };

static struct {
    struct cbx_bytes log;
    size_t sent;     /* bytes of the log that were sent */
    size_t boundary; /* end of the frame that contains `sent`, or equal to it between frames */
    size_t last;     /* start of the log's last frame */
    bool following, again; /* again: restart at the beginning after the current frame */
    struct cbx_bytes replies;
    size_t replied;
    uint64_t head_left, tail_max, files_left, written[2];
    struct cbx_bytes tail; /* frames after the head was full */
    uint64_t tail_text;    /* bytes of output in it */
    uint64_t tail_frames;  /* the same with the heads of the frames */
    uint64_t omitted;
    int aside;            /* frames that do not count towards the run's limits, */
    uint64_t aside_bytes; /* and their bytes */
    bool cut, files_cut;
    struct cbx_bytes late; /* LATE frames, for the next run */
    size_t late_last;      /* start of the last one */
    uint64_t late_omitted;
    /* true after the start of the first run: output between runs is a program's */
    bool has_begun;
} r;

static size_t frame_bytes(const uint8_t *at)
{
    uint32_t len;
    memcpy(&len, at + 1, sizeof(len));
    return CBX_FRAME_HEAD_BYTES + (size_t)len;
}

static void log_frame(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len)
{
    r.last = r.log.len;
    cbx_frame_add(&r.log, type, a, a_len, b, b_len);
}

/* A program that prints single characters would cost six times its output: output is appended to
 * the last frame if that is of the same stream and no byte of it has been sent. */
static void log_output(uint8_t type, const uint8_t *bytes, size_t len)
{
    uint32_t have;
    bool joins = r.last < r.log.len && r.last >= r.boundary && r.log.p[r.last] == type;
    if (joins) {
        memcpy(&have, r.log.p + r.last + 1, sizeof(have));
    }
    if (!joins || have + len > JOIN_BYTES) {
        log_frame(type, bytes, len, NULL, 0);
        return;
    }
    cbx_bytes_add(&r.log, bytes, len);
    have += (uint32_t)len;
    memcpy(r.log.p + r.last + 1, &have, sizeof(have));
}

/* A partly sent frame is completed, so that the host can parse the following frames. */
static void keep_rest(void)
{
    struct cbx_bytes replies = { 0 };
    cbx_bytes_add(&replies, r.log.p + r.sent, r.boundary - r.sent);
    cbx_bytes_add(&replies, r.replies.p, r.replies.len);
    cbx_bytes_free(&r.replies);
    r.replies = replies;
}

void cbx_report_clear(void)
{
    if (r.sent < r.boundary) {
        keep_rest();
    }
    cbx_bytes_free(&r.log);
    cbx_bytes_free(&r.tail);
    r.sent = r.boundary = r.last = 0;
    r.tail_text = r.tail_frames = r.omitted = 0;
    r.cut = r.files_cut = r.again = false;
    r.aside = 0;
    r.aside_bytes = 0;
}

void cbx_report_late(uint8_t type, const uint8_t *bytes, size_t len)
{
    bool text = type == CBX_FRAME_STDOUT || type == CBX_FRAME_STDERR;
    if (!r.has_begun || len == 0 || (!text && type != CBX_FRAME_DISPLAY)) {
        return;
    }
    uint32_t have = 0;
    bool joins = text && r.late.len > 0 && r.late.p[r.late_last + CBX_FRAME_HEAD_BYTES] == type;
    size_t cost = joins ? 0 : CBX_FRAME_HEAD_BYTES + 1;
    size_t room =
        r.late.len + cost < CBX_FRAME_LATE_MAX ? CBX_FRAME_LATE_MAX - r.late.len - cost : 0;
    size_t fits = len;
    if (len > room) {
        fits = text ? room : 0;
    }
    r.late_omitted += len - fits;
    if (fits == 0) {
        return;
    }
    if (!joins) {
        r.late_last = r.late.len;
        cbx_frame_add(&r.late, CBX_FRAME_LATE, &type, 1, bytes, fits);
        return;
    }
    memcpy(&have, r.late.p + r.late_last + 1, sizeof(have));
    have += (uint32_t)fits;
    memcpy(r.late.p + r.late_last + 1, &have, sizeof(have));
    cbx_bytes_add(&r.late, bytes, fits);
}

/* The log of a run begins with the late output of the previous run. */
static void log_late(void)
{
    for (size_t at = 0; at < r.late.len; at += frame_bytes(r.late.p + at)) {
        log_frame(CBX_FRAME_LATE, r.late.p + at + CBX_FRAME_HEAD_BYTES,
                  frame_bytes(r.late.p + at) - CBX_FRAME_HEAD_BYTES, NULL, 0);
    }
    if (r.late_omitted > 0) {
        log_frame(CBX_FRAME_CUT, &r.late_omitted, sizeof(r.late_omitted), NULL, 0);
        r.cut = true;
    }
    cbx_bytes_free(&r.late);
    r.late_last = 0;
    r.late_omitted = 0;
    r.has_begun = true;
}

void cbx_report_begin(const struct cbx_frame_limits *limits)
{
    cbx_report_clear();
    log_late();
    r.tail_max = limits->output_bytes / 4;
    r.head_left = limits->output_bytes - r.tail_max;
    r.files_left = limits->files_bytes;
    r.written[0] = r.written[1] = 0;
    r.following = true;
}

/* --- output beyond the limit ------------------------------------------------------------------ */

static bool is_text(uint8_t type)
{
    return type == CBX_FRAME_STDOUT || type == CBX_FRAME_STDERR;
}

/* Drops the oldest text until `most` bytes are left; other frames stay in their order. */
static void trim_tail(uint64_t most)
{
    struct cbx_bytes kept = { 0 };
    r.tail_frames = 0;
    for (size_t at = 0; at < r.tail.len; at += frame_bytes(r.tail.p + at)) {
        const uint8_t *frame = r.tail.p + at, *payload = frame + CBX_FRAME_HEAD_BYTES;
        size_t len = frame_bytes(frame) - CBX_FRAME_HEAD_BYTES, drop = 0;
        if (is_text(frame[0]) && r.tail_text > most) {
            drop = r.tail_text - most < len ? (size_t)(r.tail_text - most) : len;
            r.tail_text -= drop;
            r.omitted += drop;
        }
        if (drop < len || !is_text(frame[0])) {
            cbx_frame_add(&kept, frame[0], payload + drop, len - drop, NULL, 0);
            r.tail_frames += is_text(frame[0]) ? CBX_FRAME_HEAD_BYTES + len - drop : 0;
        }
    }
    cbx_bytes_free(&r.tail);
    r.tail = kept;
}

static void keep_tail(uint8_t type, const uint8_t *bytes, size_t len)
{
    if (len > r.tail_max) {
        r.omitted += len - r.tail_max;
        bytes += len - r.tail_max;
        len = r.tail_max;
    }
    if (len > 0) {
        cbx_frame_add(&r.tail, type, bytes, len, NULL, 0);
        r.tail_text += len;
        r.tail_frames += CBX_FRAME_HEAD_BYTES + len;
    }
    /* Rarely, as trimming costs time in proportion to the tail. Heads count, as a frame may have
     * one byte; other frames do not, as they stay and would cause a trim for each line. */
    if (r.tail_text > 2 * r.tail_max + JOIN_BYTES || r.tail_frames > 8 * r.tail_max + HEADS_BYTES) {
        trim_tail(r.tail_max);
    }
}

void cbx_report_output(uint8_t type, const uint8_t *bytes, size_t len)
{
    r.written[type == CBX_FRAME_STDERR] += len;
    size_t fits = len < r.head_left ? len : (size_t)r.head_left;
    if (fits > 0 && r.tail.len == 0) {
        log_output(type, bytes, fits);
        r.head_left -= fits;
        bytes += fits;
        len -= fits;
    }
    if (len > 0) {
        r.head_left = 0;
        keep_tail(type, bytes, len);
    }
}

void cbx_report_frame(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len)
{
    if (r.tail.len > 0) {
        cbx_frame_add(&r.tail, type, a, a_len, b, b_len); /* in its place among the text */
    } else {
        log_frame(type, a, a_len, b, b_len);
    }
}

void cbx_report_bundle(uint8_t type, const uint8_t *bytes, size_t len)
{
    bool counts = type == CBX_FRAME_DISPLAY || type == CBX_FRAME_RESULT;
    r.aside_bytes += counts ? 0 : len;
    if (counts ? len + BUNDLE_COST > r.files_left
               : ++r.aside > ASIDE_MAX || r.aside_bytes > ASIDE_BYTES) {
        r.files_cut = true;
        return;
    }
    r.files_left -= counts ? len + BUNDLE_COST : 0;
    cbx_report_frame(type, bytes, len, NULL, 0);
}

uint32_t cbx_report_end_output(void)
{
    trim_tail(r.tail_max);
    struct cbx_bytes tail = r.tail;
    r.tail = (struct cbx_bytes){ 0 };
    if (r.omitted > 0) {
        log_frame(CBX_FRAME_CUT, &r.omitted, sizeof(r.omitted), NULL, 0);
        r.cut = true;
    }
    for (size_t at = 0; at < tail.len; at += frame_bytes(tail.p + at)) {
        uint8_t type = tail.p[at];
        const uint8_t *payload = tail.p + at + CBX_FRAME_HEAD_BYTES;
        size_t len = frame_bytes(tail.p + at) - CBX_FRAME_HEAD_BYTES;
        if (is_text(type)) {
            log_output(type, payload, len);
        } else {
            log_frame(type, payload, len, NULL, 0);
        }
    }
    cbx_bytes_free(&tail);
    return (r.cut ? CBX_DONE_OUTPUT_CUT : 0u) | (r.files_cut ? CBX_DONE_FILES_CUT : 0u);
}

uint64_t cbx_report_written(uint8_t type)
{
    return r.written[type == CBX_FRAME_STDERR];
}

/* --- to the host ------------------------------------------------------------------------------ */

void cbx_reply(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len)
{
    cbx_frame_add(&r.replies, type, a, a_len, b, b_len);
}

void cbx_reply_mark(const uint8_t mark[CBX_FRAME_MARK_BYTES])
{
    cbx_bytes_free(&r.replies);
    r.replied = 0;
    r.following = r.again = false;
    r.sent = r.boundary = 0;
    cbx_bytes_add(&r.replies, mark, CBX_FRAME_MARK_BYTES);
}

void cbx_report_follow(void)
{
    r.following = true;
    r.again = r.sent != r.boundary;
    if (!r.again) {
        r.sent = r.boundary = 0;
    }
}

bool cbx_report_pending(void)
{
    bool queued = r.replied < r.replies.len || (r.following && r.sent < r.log.len);
    return queued && cbx_host.out >= 0;
}

size_t cbx_reply_waiting(void)
{
    return r.replies.len - r.replied;
}

/* -1 = the host has disconnected, 0 = it accepts no bytes now */
static ssize_t write_some(const uint8_t *p, size_t len)
{
    ssize_t n;
    while ((n = write(cbx_host.out, p, len)) < 0 && errno == EINTR) {
    }
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : n;
}

/* Replies are sent between two frames of the log, never inside one. */
bool cbx_report_send(void)
{
    while (cbx_report_pending()) {
        bool replies = r.replied < r.replies.len && r.sent == r.boundary;
        size_t end = r.replied < r.replies.len && r.sent < r.boundary ? r.boundary : r.log.len;
        ssize_t n = replies ? write_some(r.replies.p + r.replied, r.replies.len - r.replied)
                            : write_some(r.log.p + r.sent, end - r.sent);
        if (n <= 0) {
            return n == 0;
        }
        if (replies) {
            r.replied += (size_t)n;
            if (r.replied == r.replies.len) {
                cbx_bytes_free(&r.replies);
                r.replied = 0;
            }
            continue;
        }
        r.sent += (size_t)n;
        while (r.boundary < r.sent) {
            r.boundary += frame_bytes(r.log.p + r.boundary);
        }
        if (r.again && r.sent == r.boundary) {
            cbx_report_follow();
        }
    }
    return true;
}
