/* SPDX-License-Identifier: MIT
 * Converts frames of a supervisor to events and results. */
#include "docker/sandbox/events.h"

#include "policies/base/memory.h"
#include "policies/guard/guard.h"

#include <stdlib.h>

enum { MIMES_MAX = 32, MIME_CHARS_MAX = 100, LISTING_MAX = 16 * 1024, TRACEBACK_LINES_MAX = 5000 };

static int emit(const struct cbx_events *events, const struct cbx_event *event)
{
    return events->sink != NULL && events->sink->event != NULL
               ? events->sink->event(events->sink->context, event)
               : 0;
}

static bool is_mime(struct cbx_str type)
{
    for (size_t i = 0; i < type.len; i++) {
        unsigned char c = (unsigned char)type.p[i];
        if (c <= 0x20 || c >= 0x7f) {
            return false;
        }
    }
    return type.len > 0 && type.len <= MIME_CHARS_MAX && memchr(type.p, '/', type.len) != NULL;
}

/* Reads the parts of a bundle; their lengths must fit the payload exactly. */
static bool read_mimes(const json_t *listing, struct cbx_str parts, struct cbx_mime *mimes,
                       size_t *count)
{
    *count = json_array_size(listing);
    if (!json_is_array(listing) || *count == 0 || *count > MIMES_MAX) {
        return false;
    }
    for (size_t i = 0; i < *count; i++) {
        const json_t *pair = json_array_get(listing, i), *size = json_array_get(pair, 1);
        mimes[i].type = cbx_json_str(json_array_get(pair, 0));
        json_int_t len = json_integer_value(size);
        if (!json_is_integer(size) || len < 0 || (uint64_t)len > parts.len ||
            !is_mime(mimes[i].type)) {
            return false;
        }
        mimes[i].data = cbx_str_sub(parts, 0, (size_t)len);
        parts = cbx_str_sub(parts, (size_t)len, parts.len);
    }
    return parts.len == 0;
}

static int take_bundle(const struct cbx_events *events, enum cbx_event_kind kind, bool late,
                       struct cbx_str payload)
{
    uint32_t size;
    struct cbx_err err;
    CBX_AUTO_JSON listing = NULL;
    struct cbx_mime mimes[MIMES_MAX];
    struct cbx_event event = { .kind = kind, .mimes = mimes, .late = late };
    if (payload.len < sizeof(size)) {
        return 0;
    }
    memcpy(&size, payload.p, sizeof(size));
    struct cbx_str text = cbx_str_sub(payload, sizeof(size), sizeof(size) + (size_t)size);
    if (size > payload.len - sizeof(size) ||
        cbx_json_parse(text, LISTING_MAX, &listing, &err) != 0 ||
        !read_mimes(listing, cbx_str_sub(payload, sizeof(size) + size, payload.len), mimes,
                    &event.mime_count)) {
        return 0;
    }
    return emit(events, &event);
}

/* Removes terminal escapes and other control characters except newlines and tabs. */
static char *copy_clean(struct cbx_str text)
{
    char *out = cbx_new(text.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c == 0x1b && i + 1 < text.len && text.p[i + 1] == '[') {
            for (i += 2; i < text.len &&
                         ((unsigned char)text.p[i] < 0x40 || (unsigned char)text.p[i] > 0x7e);
                 i++) {
            }
        } else if (c >= 0x20 ? c != 0x7f : c == '\n' || c == '\t') {
            out[n++] = (char)c;
        }
    }
    out[n] = '\0';
    return out;
}

static void take_error(const struct cbx_events *events, struct cbx_str payload)
{
    struct cbx_err err;
    CBX_AUTO_JSON json = NULL;
    const json_t *lines;
    if (cbx_json_parse(payload, CBX_FRAME_ERROR_MAX, &json, &err) != 0 || !json_is_object(json) ||
        !json_is_array(lines = json_object_get(json, "traceback"))) {
        return;
    }
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_FRAME_ERROR_MAX);
    for (size_t i = 0; i < json_array_size(lines) && i < TRACEBACK_LINES_MAX; i++) {
        if (i > 0) {
            cbx_buf_add_char(&text, '\n');
        }
        cbx_buf_add(&text, cbx_json_str(json_array_get(lines, i)));
    }
    struct cbx_result *r = events->result;
    free(r->ename);
    free(r->evalue);
    free(r->traceback);
    r->ename = copy_clean(cbx_json_str(json_object_get(json, "ename")));
    r->evalue = copy_clean(cbx_json_str(json_object_get(json, "evalue")));
    r->traceback = copy_clean(cbx_buf_str(&text));
}

/* True for a path inside the workspace. Others are not reported. */
static bool is_inside(struct cbx_str path)
{
    if (path.len == 0 || path.p[0] == '/' || memchr(path.p, '\0', path.len) != NULL) {
        return false;
    }
    for (size_t at = 0; at <= path.len;) {
        const char *slash = at < path.len ? memchr(path.p + at, '/', path.len - at) : NULL;
        size_t end = slash != NULL ? (size_t)(slash - path.p) : path.len;
        struct cbx_str part = cbx_str_sub(path, at, end);
        if (part.len == 0 || cbx_str_is(part, ".") || cbx_str_is(part, "..")) {
            return false;
        }
        at = end + 1;
    }
    return true;
}

static int take_file(const struct cbx_events *events, struct cbx_str payload)
{
    struct cbx_event event = { .kind = CBX_EVENT_FILE };
    if (payload.len <= sizeof(event.size_bytes)) {
        return 0;
    }
    memcpy(&event.size_bytes, payload.p, sizeof(event.size_bytes));
    event.text = cbx_str_sub(payload, sizeof(event.size_bytes), payload.len);
    return is_inside(event.text) ? emit(events, &event) : 0;
}

static int take_cut(const struct cbx_events *events, struct cbx_str payload)
{
    struct cbx_event event = { .kind = CBX_EVENT_CUT };
    if (payload.len != sizeof(event.size_bytes)) {
        return 0;
    }
    memcpy(&event.size_bytes, payload.p, sizeof(event.size_bytes));
    event.size_bytes = event.size_bytes > INT64_MAX ? INT64_MAX : event.size_bytes;
    return emit(events, &event);
}

static int take_question(const struct cbx_events *events, struct cbx_str payload)
{
    struct cbx_event event = { .kind = CBX_EVENT_ASK };
    if (payload.len == 0) {
        return 0;
    }
    event.secret = payload.p[0] == 1;
    event.text = cbx_str_sub(payload, 1, payload.len);
    return emit(events, &event);
}

/* The program chooses the text of the supervisor's frame. */
static int take_blocked(const struct cbx_events *events, struct cbx_str payload)
{
    struct cbx_frame_blocked head;
    if (payload.len < sizeof(head)) {
        return 0;
    }
    memcpy(&head, payload.p, sizeof(head));
    struct cbx_event event = { .kind = CBX_EVENT_BLOCKED,
                               .text = cbx_str_sub(payload, sizeof(head), payload.len),
                               .refusal = head.refusal,
                               .count = head.count };
    return head.refusal < CBX_REFUSALS ? emit(events, &event) : 0;
}

static int take_late(const struct cbx_events *events, struct cbx_str payload)
{
    struct cbx_str rest = cbx_str_sub(payload, 1, payload.len);
    struct cbx_event event = { .text = rest, .late = true };
    switch (payload.len > 0 ? payload.p[0] : '\0') {
    case CBX_FRAME_STDOUT:
        event.kind = CBX_EVENT_STDOUT;
        return emit(events, &event);
    case CBX_FRAME_STDERR:
        event.kind = CBX_EVENT_STDERR;
        return emit(events, &event);
    case CBX_FRAME_DISPLAY:
        return take_bundle(events, CBX_EVENT_DISPLAY, true, rest);
    default:
        return 0;
    }
}

int cbx_events_take(struct cbx_events *events, const struct cbx_frame *frame)
{
    struct cbx_event event = { .text = frame->payload };
    switch (frame->type) {
    case CBX_FRAME_STDOUT:
        event.kind = CBX_EVENT_STDOUT;
        return emit(events, &event);
    case CBX_FRAME_STDERR:
        event.kind = CBX_EVENT_STDERR;
        return emit(events, &event);
    case CBX_FRAME_DISPLAY:
        return take_bundle(events, CBX_EVENT_DISPLAY, false, frame->payload);
    case CBX_FRAME_RESULT:
        return take_bundle(events, CBX_EVENT_RESULT, false, frame->payload);
    case CBX_FRAME_ERROR:
        take_error(events, frame->payload);
        return 0;
    case CBX_FRAME_LATE:
        return take_late(events, frame->payload);
    case CBX_FRAME_FILE:
        return take_file(events, frame->payload);
    case CBX_FRAME_CUT:
        return take_cut(events, frame->payload);
    case CBX_FRAME_ASK:
        return take_question(events, frame->payload);
    case CBX_FRAME_BLOCKED:
        return take_blocked(events, frame->payload);
    default: /* READY, HELLO, ANSWER, PONG */
        return 0;
    }
}

int cbx_events_finish(struct cbx_events *events, struct cbx_str payload, struct cbx_result *result,
                      struct cbx_err *err)
{
    (void)events;
    struct cbx_frame_done done;
    if (payload.len != sizeof(done)) {
        return cbx_fail(err, CBX_EPROTO, "the sandbox's DONE frame has %zu bytes, needed are %zu",
                        payload.len, sizeof(done));
    }
    memcpy(&done, payload.p, sizeof(done));
    static const enum cbx_run_status statuses[] = {
        [CBX_DONE_TIMEOUT] = CBX_RUN_TIMEOUT, [CBX_DONE_OOM] = CBX_RUN_OOM,
        [CBX_DONE_KILLED] = CBX_RUN_KILLED,   [CBX_DONE_PROTOCOL] = CBX_RUN_KILLED,
        [CBX_DONE_CPU] = CBX_RUN_CPU,         [CBX_DONE_REFUSED] = CBX_RUN_REFUSED,
    };
    bool ended = done.status == CBX_DONE_ENDED;
    if (done.status < CBX_DONE_ENDED || done.status > CBX_DONE_REFUSED) {
        return cbx_fail(err, CBX_EPROTO,
                        "the sandbox's DONE frame has status %u, allowed are %d..%d", done.status,
                        CBX_DONE_ENDED, CBX_DONE_REFUSED);
    }
    result->exit_code = done.exit_code >= 0 && done.exit_code <= 255 ? done.exit_code : -1;
    result->signal = done.signal > 0 && done.signal <= 64 ? done.signal : 0;
    result->status = !ended                                            ? statuses[done.status]
                     : result->exit_code == 0 && result->ename == NULL ? CBX_RUN_OK
                                                                       : CBX_RUN_ERROR;
    result->duration_ms = done.duration_ms > INT64_MAX ? INT64_MAX : done.duration_ms;
    result->cpu_ms = done.cpu_ms > INT64_MAX ? INT64_MAX : done.cpu_ms;
    result->stdout_bytes = done.stdout_bytes > INT64_MAX ? INT64_MAX : done.stdout_bytes;
    result->stderr_bytes = done.stderr_bytes > INT64_MAX ? INT64_MAX : done.stderr_bytes;
    result->output_truncated = (done.flags & CBX_DONE_OUTPUT_CUT) != 0;
    result->files_truncated = (done.flags & CBX_DONE_FILES_CUT) != 0;
    result->session_lost = (done.flags & CBX_DONE_LOST) != 0;
    result->input_cut = (done.flags & CBX_DONE_INPUT_CUT) != 0;
    result->input_awaited =
        result->status == CBX_RUN_TIMEOUT && (done.flags & CBX_DONE_INPUT_AWAITED) != 0;
    return 0;
}
