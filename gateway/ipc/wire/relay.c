/* SPDX-License-Identifier: MIT
 * Events and results of a run as messages. An event's bytes follow the header; a MIME bundle's
 * parts follow one another, with their lengths in the header. */
#include "gateway/ipc/wire/relay.h"

#include "policies/base/memory.h"
#include "policies/guard/guard.h"

#include <poll.h>

enum { MIMES_MAX = 32 };

static const char *const kind_names[] = {
    [CBX_EVENT_STDOUT] = "stdout", [CBX_EVENT_STDERR] = "stderr",   [CBX_EVENT_DISPLAY] = "display",
    [CBX_EVENT_RESULT] = "result", [CBX_EVENT_FILE] = "file",       [CBX_EVENT_CUT] = "cut",
    [CBX_EVENT_ASK] = "ask",       [CBX_EVENT_BLOCKED] = "blocked",
};
enum { KINDS = sizeof(kind_names) / sizeof(kind_names[0]) };

static int send_event(void *context, const struct cbx_event *event)
{
    int fd = *(const int *)context;
    CBX_AUTO_JSON header = json_pack("{s:s}", "type", kind_names[event->kind]);
    if (event->late) {
        json_object_set_new(header, "late", json_true());
    }
    struct cbx_str bytes = event->text;
    CBX_AUTO_DONE(buf) joined;
    cbx_buf_init(&joined, CBX_WIRE_BYTES_MAX);
    if (event->kind == CBX_EVENT_DISPLAY || event->kind == CBX_EVENT_RESULT) {
        json_t *mimes = json_array();
        for (size_t i = 0; i < event->mime_count; i++) {
            json_t *pair = json_array();
            json_array_append_new(pair, cbx_json_text(event->mimes[i].type));
            json_array_append_new(pair, json_integer((json_int_t)event->mimes[i].data.len));
            json_array_append_new(mimes, pair);
            cbx_buf_add(&joined, event->mimes[i].data);
        }
        json_object_set_new(header, "mimes", mimes);
        bytes = cbx_buf_str(&joined);
    } else if (event->kind == CBX_EVENT_FILE || event->kind == CBX_EVENT_CUT) {
        json_object_set_new(header, "size", json_integer((json_int_t)event->size_bytes));
    } else if (event->kind == CBX_EVENT_ASK) {
        json_object_set_new(header, "secret", json_boolean(event->secret));
    } else if (event->kind == CBX_EVENT_BLOCKED) {
        json_object_set_new(header, "size", json_integer((json_int_t)event->count));
        json_object_set_new(header, "refusal",
                            json_string(cbx_refusal_row((enum cbx_refusal)event->refusal)->name));
        json_object_set_new(header, "rule", cbx_json_text(event->rule));
    }
    return cbx_wire_send(fd, header, bytes, NULL);
}

static bool is_gone(void *context)
{
    struct pollfd front = { .fd = *(const int *)context, .events = POLLRDHUP };
    return poll(&front, 1, 0) > 0 && (front.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

struct cbx_sink cbx_relay_sink(const int *fd)
{
    return (struct cbx_sink){ .event = send_event,
                              .cancelled = is_gone,
                              .context = (void *)(uintptr_t)fd };
}

static int read_mimes(const struct cbx_message *message, struct cbx_mime *mimes, size_t *count,
                      struct cbx_err *err)
{
    const json_t *list = json_object_get(message->header, "mimes");
    struct cbx_str left = cbx_buf_str(&message->bytes);
    *count = json_array_size(list);
    if (*count > MIMES_MAX) {
        return cbx_fail(err, CBX_EPROTO, "an event with more than %d representations", MIMES_MAX);
    }
    for (size_t i = 0; i < *count; i++) {
        const json_t *pair = json_array_get(list, i);
        json_int_t len = json_integer_value(json_array_get(pair, 1));
        if (!json_is_string(json_array_get(pair, 0)) || len < 0 || (size_t)len > left.len) {
            return cbx_fail(err, CBX_EPROTO, "an event's lengths do not fit");
        }
        mimes[i].type = cbx_json_str(json_array_get(pair, 0));
        mimes[i].data = cbx_str_sub(left, 0, (size_t)len);
        left = cbx_str_sub(left, (size_t)len, left.len);
    }
    return 0;
}

int cbx_relay_event(const struct cbx_message *message, const struct cbx_sink *sink,
                    struct cbx_err *err)
{
    struct cbx_mime mimes[MIMES_MAX];
    struct cbx_event event = { .text = cbx_buf_str(&message->bytes), .mimes = mimes };
    struct cbx_str type = cbx_json_str(json_object_get(message->header, "type"));
    for (size_t i = 1; i < KINDS; i++) {
        if (cbx_str_is(type, kind_names[i])) {
            event.kind = (enum cbx_event_kind)i;
        }
    }
    if (event.kind == 0) {
        return cbx_fail(err, CBX_EPROTO, "the executor sent something that is no event");
    }
    int failed = read_mimes(message, mimes, &event.mime_count, err);
    if (failed) {
        return failed;
    }
    json_int_t size = json_integer_value(json_object_get(message->header, "size"));
    event.size_bytes = size > 0 ? (uint64_t)size : 0;
    event.count = event.size_bytes;
    event.refusal = cbx_refusal_of(cbx_json_str(json_object_get(message->header, "refusal")));
    event.rule = cbx_json_str(json_object_get(message->header, "rule"));
    if (event.kind == CBX_EVENT_BLOCKED && event.refusal >= CBX_REFUSALS) {
        return cbx_fail(err, CBX_EPROTO, "the executor sent a refusal that does not exist");
    }
    event.late = json_is_true(json_object_get(message->header, "late"));
    event.secret = json_is_true(json_object_get(message->header, "secret"));
    return sink != NULL && sink->event != NULL ? sink->event(sink->context, &event) : 0;
}

static json_t *text_or_null(const char *text)
{
    return text != NULL ? cbx_json_text(cbx_str_of(text)) : json_null();
}

json_t *cbx_result_json(const struct cbx_result *r)
{
    json_t *json = json_object();
    json_object_set_new(json, "type", json_string("done"));
    json_object_set_new(json, "status", json_integer(r->status));
    json_object_set_new(json, "exit_code", json_integer(r->exit_code));
    json_object_set_new(json, "signal", json_integer(r->signal));
    json_object_set_new(json, "ename", text_or_null(r->ename));
    json_object_set_new(json, "evalue", text_or_null(r->evalue));
    json_object_set_new(json, "traceback", text_or_null(r->traceback));
    json_object_set_new(json, "duration_ms", json_integer((json_int_t)r->duration_ms));
    json_object_set_new(json, "stdout_bytes", json_integer((json_int_t)r->stdout_bytes));
    json_object_set_new(json, "stderr_bytes", json_integer((json_int_t)r->stderr_bytes));
    json_object_set_new(json, "output_truncated", json_boolean(r->output_truncated));
    json_object_set_new(json, "files_truncated", json_boolean(r->files_truncated));
    json_object_set_new(json, "session_lost", json_boolean(r->session_lost));
    json_object_set_new(json, "session_restarted", json_boolean(r->session_restarted));
    json_object_set_new(json, "cpu_ms", json_integer((json_int_t)r->cpu_ms));
    if (r->has_input) {
        char hex[CBX_SHA256_HEX + 1];
        cbx_sha256_hex(&r->input_sha256, hex);
        json_object_set_new(json, "input_bytes", json_integer((json_int_t)r->input_bytes));
        json_object_set_new(json, "input_sha256", json_string(hex));
    }
    if (r->input_cut) {
        json_object_set_new(json, "input_cut", json_true());
    }
    if (r->input_awaited) {
        json_object_set_new(json, "input_awaited", json_true());
    }
    if (r->status == CBX_RUN_LOST) {
        json_object_set_new(json, "silent", json_integer(r->silent));
        json_object_set_new(json, "lost_since_ms", json_integer(r->lost_since_ms));
    }
    return json;
}

struct result_fields {
    struct cbx_str type, ename, evalue, traceback, input_sha256;
    int64_t status, exit_code, signal, duration_ms, cpu_ms, stdout_bytes, stderr_bytes, silent,
        lost_since_ms, input_bytes;
    bool output_truncated, files_truncated, session_lost, session_restarted, input_cut,
        input_awaited;
};
#define FIELD(name, type, lo, hi)                                                                  \
    {                                                                                              \
#name, CBX_JSON_##type, offsetof(struct result_fields, name), false, true, lo, hi          \
    }
static const struct cbx_json_field result_fields[] = {
    FIELD(type, STR, 0, 16),
    FIELD(ename, STR, 0, 0),
    FIELD(evalue, STR, 0, 0),
    FIELD(traceback, STR, 0, 0),
    FIELD(status, INT, 0, CBX_RUN_STATUSES - 1),
    FIELD(exit_code, INT, -1, 255),
    FIELD(signal, INT, 0, 128),
    FIELD(duration_ms, INT, 0, INT64_MAX),
    FIELD(stdout_bytes, INT, 0, INT64_MAX),
    FIELD(stderr_bytes, INT, 0, INT64_MAX),
    FIELD(output_truncated, BOOL, 0, 0),
    FIELD(files_truncated, BOOL, 0, 0),
    FIELD(session_lost, BOOL, 0, 0),
    FIELD(session_restarted, BOOL, 0, 0),
    FIELD(cpu_ms, INT, 0, INT64_MAX),
    FIELD(silent, INT, 0, CBX_SILENTS - 1),
    FIELD(lost_since_ms, INT, 0, INT64_MAX),
    FIELD(input_bytes, INT, 0, INT64_MAX),
    FIELD(input_sha256, STR, 0, CBX_SHA256_HEX),
    FIELD(input_cut, BOOL, 0, 0),
    FIELD(input_awaited, BOOL, 0, 0),
};
#undef FIELD

static char *copy_text(struct cbx_str text)
{
    return text.p != NULL ? cbx_str_copy(text) : NULL;
}

int cbx_result_from_json(const json_t *json, struct cbx_result *out, struct cbx_err *err)
{
    struct result_fields f = { 0 };
    int failed = cbx_json_read(json, result_fields,
                               sizeof(result_fields) / sizeof(result_fields[0]), &f, err);
    if (failed) {
        return cbx_wrap(err, "the executor's result");
    }
    *out = (struct cbx_result){
        .status = (enum cbx_run_status)f.status,
        .exit_code = (int)f.exit_code,
        .signal = (int)f.signal,
        .ename = copy_text(f.ename),
        .evalue = copy_text(f.evalue),
        .traceback = copy_text(f.traceback),
        .duration_ms = (uint64_t)f.duration_ms,
        .stdout_bytes = (uint64_t)f.stdout_bytes,
        .stderr_bytes = (uint64_t)f.stderr_bytes,
        .output_truncated = f.output_truncated,
        .files_truncated = f.files_truncated,
        .session_lost = f.session_lost,
        .session_restarted = f.session_restarted,
        .cpu_ms = (uint64_t)f.cpu_ms,
        .silent = (enum cbx_silent)f.silent,
        .lost_since_ms = f.lost_since_ms,
        .input_bytes = (uint64_t)f.input_bytes,
        .input_cut = f.input_cut,
        .input_awaited = f.input_awaited,
    };
    out->has_input = cbx_sha256_from_hex(f.input_sha256, &out->input_sha256);
    return 0;
}
