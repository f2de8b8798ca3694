/* SPDX-License-Identifier: MIT
 * The log of a run under all operations in any order: output, bundles, a host that reads some
 * bytes, a new host, a replay. The host must receive frames; of the text a head and a tail, with
 * the number of omitted bytes between them; and memory stays within the limits. */
#include "fuzz/supervisor.h"

enum { TEXT_MAX = 1 << 20 };

static uint8_t text[TEXT_MAX]; /* all that was written: low bit = stream, else the byte */
static size_t text_len;
static uint64_t output_limit, files_limit;
static bool running, ended;
static uint64_t late_omitted; /* of the output before this run */

static void write_text(uint8_t type, size_t len)
{
    static uint8_t bytes[8192];
    if (text_len + len > TEXT_MAX) {
        return;
    }
    for (size_t i = 0; i < len; i++) {
        bytes[i] = (uint8_t)(text_len * 31 / 7 & 0xfe);
        text[text_len++] = bytes[i] | (type == CBX_FRAME_STDERR);
    }
    cbx_report_output(type, bytes, len);
}

/* The whole log as a host receives it now. */
static void check_log(void)
{
    size_t seen = 0;
    uint64_t cut = 0;
    bool is_late = late_omitted > 0; /* the first CUT is that of late output */
    for (size_t at = 0; at < r.log.len;) {
        const uint8_t *frame = r.log.p + at, *p = frame + CBX_FRAME_HEAD_BYTES;
        size_t len = frame_bytes(frame) - CBX_FRAME_HEAD_BYTES;
        if (at + CBX_FRAME_HEAD_BYTES + len > r.log.len ||
            (int64_t)len > cbx_frame_limit(frame[0], 's')) {
            abort();
        }
        if (frame[0] == CBX_FRAME_CUT) {
            memcpy(&cut, p, sizeof(cut));
            if (is_late && cut != late_omitted) {
                abort();
            }
            cut = is_late ? 0 : cut;
            is_late = false;
            seen += cut;
        }
        for (size_t i = 0; is_text(frame[0]) && i < len; i++, seen++) {
            if (seen >= text_len || text[seen] != (p[i] | (frame[0] == CBX_FRAME_STDERR))) {
                abort(); /* neither the beginning of what was written nor its end */
            }
        }
        at += CBX_FRAME_HEAD_BYTES + len;
    }
    if (ended && (seen != text_len || text_len - cut > output_limit ||
                  (cut > 0 && text_len - cut != output_limit))) {
        abort();
    }
    /* Text in frames of one byte is six times as long; what no limit counts has its own. */
    if (r.late.len > CBX_FRAME_LATE_MAX ||
        r.log.len + r.tail.len > CBX_FRAME_LATE_MAX + 14 * output_limit + 2 * HEADS_BYTES +
                                     files_limit + ASIDE_BYTES + 8 * ASIDE_MAX + 64 * 1024 + 4096) {
        abort();
    }
}

static void end_run(void)
{
    struct cbx_frame_done done = { .status = CBX_DONE_ENDED };
    cbx_report_end_output();
    cbx_report_frame(CBX_FRAME_DONE, &done, sizeof(done), NULL, 0);
    ended = true;
    check_log();
}

static void do_one(uint8_t what, uint8_t a, uint8_t b)
{
    static const uint8_t bundles[] = { CBX_FRAME_DISPLAY, CBX_FRAME_RESULT, CBX_FRAME_ERROR,
                                       CBX_FRAME_ASK };
    static const uint8_t zeros[64 * 1024];
    uint8_t mark[CBX_FRAME_MARK_BYTES];
    if (what >= 250) { /* a thread of the last run writes */
        if (!running || ended) {
            cbx_report_late(what % 2 == 0 ? CBX_FRAME_STDOUT : bundles[a % 4], zeros,
                            (size_t)b * (a > 128 ? 250 : 2));
        }
        return;
    }
    switch (what % 10) {
    case 0: /* a host runs the next program only when it has all of this one */
        if (!running || (ended && !cbx_report_pending() && r.following)) {
            late_omitted = r.late_omitted;
            output_limit = (uint64_t)a * 16;
            files_limit = (uint64_t)b * 256;
            cbx_report_begin(&(struct cbx_frame_limits){ .output_bytes = output_limit,
                                                         .files_bytes = files_limit });
            text_len = 0;
            running = true;
            ended = false;
        }
        return;
    case 1:
    case 2:
        if (running && !ended) {
            write_text(what % 10 == 1 ? CBX_FRAME_STDOUT : CBX_FRAME_STDERR, (size_t)a * (b % 32));
        }
        return;
    case 3: /* a flood of small pieces */
        for (unsigned i = 0; running && !ended && i < (unsigned)a * 8; i++) {
            write_text(i % 2 == 0 ? CBX_FRAME_STDOUT : CBX_FRAME_STDERR, 1 + b % 3);
        }
        return;
    case 4:
        if (running && !ended) {
            cbx_report_bundle(bundles[a % 4], zeros, (size_t)b * (a > 128 ? 250 : 2));
        }
        return;
    case 5:
        if (running && !ended) {
            end_run();
        }
        return;
    case 6:
        memcpy(mark, h.key, sizeof(h.key));
        memset(mark + sizeof(h.key), a, CBX_FRAME_NONCE_BYTES);
        world_reply_mark(mark);
        return;
    case 7:
        cbx_report_follow();
        return;
    case 8:
        cbx_reply(CBX_FRAME_ANSWER, zeros, 4 + (size_t)a, NULL, 0);
        return;
    default:
        world.budget = (size_t)a * (b % 64);
        if (!cbx_report_send()) {
            abort();
        }
        check_sent();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    begin_world();
    memcpy(h.key, "0123456789abcdef0123456789abcde", sizeof(h.key));
    h.has_key = true;
    running = ended = false;
    text_len = 0;
    late_omitted = 0;
    for (size_t at = 0; at + 3 <= size; at += 3) {
        do_one(data[at], data[at + 1], data[at + 2]);
        check_log();
    }
    if (!running) {
        return 0;
    }
    if (!ended) {
        end_run();
    }
    /* One more look gets all of it, to the last byte. */
    world.budget = SIZE_MAX;
    cbx_report_send();
    check_sent();
    size_t before = world.sent_len;
    cbx_report_follow();
    if (!cbx_report_send() || world.sent_len - before != r.log.len) {
        abort();
    }
    check_sent();
    if (world.checked != world.sent_len) {
        abort();
    }
    return 0;
}
