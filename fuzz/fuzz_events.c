/* SPDX-License-Identifier: MIT
 * A whole run: frames of all kinds in sequence, as events and then as the stored JSON. Types must
 * be well-formed, parts must lie in the payload, paths must stay in the workspace, and the JSON
 * must survive writing and reading. */
#include "docker/sandbox/events.h"
#include "gateway/front/collect.h"

static void check_event(const struct cbx_event *event, const struct cbx_str *all)
{
    for (size_t i = 0; i < event->mime_count; i++) {
        const struct cbx_mime *mime = &event->mimes[i];
        if (mime->data.p < all->p || mime->data.p + mime->data.len > all->p + all->len ||
            memchr(mime->type.p, '/', mime->type.len) == NULL) {
            abort();
        }
    }
    bool path = event->kind == CBX_EVENT_FILE;
    if (path && (event->text.len == 0 || event->text.p[0] == '/' ||
                 memmem(event->text.p, event->text.len, "/../", 4) != NULL)) {
        abort();
    }
}

struct listener {
    struct cbx_sink sink;
    struct cbx_str all;
};

static int take_event(void *context, const struct cbx_event *event)
{
    struct listener *listener = context;
    check_event(event, &listener->all);
    return listener->sink.event(listener->sink.context, event);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CBX_AUTO_DONE(result) result = { .exit_code = -1 };
    CBX_AUTO_DONE(collected) collected;
    cbx_collected_init(&collected);
    struct listener listener = { .sink = cbx_collected_sink(&collected),
                                 .all = { .p = (const char *)data, .len = size } };
    struct cbx_sink sink = { .event = take_event, .context = &listener };
    struct cbx_events events = { .sink = &sink, .result = &result };
    struct cbx_err err;
    /* A frame: its type, its length in two bytes, the payload. */
    for (size_t at = 0; at + 3 <= size;) {
        size_t len = data[at + 1] | (size_t)data[at + 2] << 8;
        struct cbx_frame frame = { .type = (enum cbx_frame_type)data[at] };
        frame.payload = cbx_str_sub(listener.all, at + 3, at + 3 + len);
        at += 3 + frame.payload.len;
        if (frame.type == CBX_FRAME_DONE) {
            cbx_events_finish(&events, frame.payload, &result, &err);
        } else if (cbx_frame_limit((uint8_t)frame.type, 's') >= (int64_t)frame.payload.len) {
            cbx_events_take(&events, &frame);
        }
    }
    cbx_collected_finish(&collected);
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 64 << 20);
    cbx_json_write(&text, collected.items);
    CBX_AUTO_JSON again = NULL;
    if (text.overflow || cbx_json_parse(cbx_buf_str(&text), 64 << 20, &again, &err) != 0 ||
        !json_equal(again, collected.items)) {
        abort();
    }
    return 0;
}
