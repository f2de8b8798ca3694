/* SPDX-License-Identifier: MIT
 * Collects the events of a run as JSON. The sandbox's limits have capped the events already; the
 * cap here is a second limit. */
#include "gateway/front/collect.h"

#include "policies/base/text/base64.h"
#include "policies/base/text/json.h"
#include "policies/guard/guard.h"

enum { COLLECT_MAX = 256 * 1024 * 1024, ITEMS_MAX = 20000 };

void cbx_collected_init(struct cbx_collected *collected)
{
    *collected = (struct cbx_collected){ .items = json_array() };
    cbx_buf_init(&collected->stream, COLLECT_MAX);
}

void cbx_collected_done(struct cbx_collected *collected)
{
    json_decref(collected->items);
    collected->items = NULL;
    cbx_buf_done(&collected->stream);
}

/* True for MIME types whose data is bytes and written as base64. */
static bool is_binary(struct cbx_str type)
{
    bool image = cbx_str_starts(type, CBX_STR("image/")) && !cbx_str_is(type, "image/svg+xml");
    return image || cbx_str_starts(type, CBX_STR("audio/")) || cbx_str_is(type, "application/pdf");
}

static void end_stream(struct cbx_collected *c)
{
    if (c->stream.len > 0) {
        json_t *item = json_object();
        json_object_set_new(item, "kind",
                            json_string(c->kind == CBX_EVENT_STDOUT ? "stdout" : "stderr"));
        json_object_set_new(item, "text", cbx_json_text(cbx_buf_str(&c->stream)));
        if (c->late) {
            json_object_set_new(item, "late", json_true());
        }
        json_array_append_new(c->items, item);
        cbx_buf_reset(&c->stream);
    }
}

static json_t *encode(const struct cbx_mime *mime)
{
    if (!is_binary(mime->type)) {
        return cbx_json_text(mime->data);
    }
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 4 * (mime->data.len / 3 + 2));
    if (cbx_base64_encode(mime->data, &text) != 0) {
        abort();
    }
    return json_stringn(text.p, text.len);
}

static void add_bundle(struct cbx_collected *c, const struct cbx_event *event)
{
    json_t *data = json_object();
    for (size_t i = 0; i < event->mime_count; i++) {
        char type[128];
        snprintf(type, sizeof(type), "%.*s", CBX_STR_ARG(event->mimes[i].type));
        json_object_set_new(data, type, encode(&event->mimes[i]));
    }
    json_t *item = json_object();
    json_object_set_new(item, "kind",
                        json_string(event->kind == CBX_EVENT_RESULT ? "result" : "display"));
    json_object_set_new(item, "data", data);
    if (event->late) {
        json_object_set_new(item, "late", json_true());
    }
    json_array_append_new(c->items, item);
}

static void add_file(struct cbx_collected *c, const struct cbx_event *event)
{
    json_t *item = json_object();
    json_object_set_new(item, "kind", json_string("file"));
    json_object_set_new(item, "path", cbx_json_text(event->text));
    json_object_set_new(item, "size", json_integer((json_int_t)event->size_bytes));
    json_array_append_new(c->items, item);
}

static void add_cut(struct cbx_collected *c, const struct cbx_event *event)
{
    json_array_append_new(
        c->items, json_pack("{s:s,s:I}", "kind", "cut", "size", (json_int_t)event->size_bytes));
}

static void add_blocked(struct cbx_collected *c, const struct cbx_event *event)
{
    const struct cbx_refusal_row *row = cbx_refusal_row((enum cbx_refusal)event->refusal);
    size_t index;
    json_t *item;
    json_array_foreach(c->items, index, item)
    { /* again, with the number at the end */
        if (cbx_str_is(cbx_json_str(json_object_get(item, "capability")), row->name) &&
            cbx_str_equal(cbx_json_str(json_object_get(item, "what")), event->text)) {
            json_object_set_new(item, "count", json_integer((json_int_t)event->count));
            return;
        }
    }
    item = json_object();
    json_object_set_new(item, "kind", json_string("blocked"));
    json_object_set_new(item, "capability", json_string(row->name));
    json_object_set_new(item, "rule", cbx_json_text(event->rule));
    json_object_set_new(item, "what", cbx_json_text(event->text));
    json_object_set_new(item, "count", json_integer((json_int_t)event->count));
    json_object_set_new(item, "message", json_string(row->message));
    json_object_set_new(item, "hint", json_string(row->hint));
    json_array_append_new(c->items, item);
}

static void clear(void *context)
{
    struct cbx_collected *c = context;
    json_array_clear(c->items);
    cbx_buf_reset(&c->stream);
    c->kind = 0;
    c->late = false;
    c->omitted = 0;
    c->incomplete = false;
}

static int take_event(void *context, const struct cbx_event *event)
{
    struct cbx_collected *c = context;
    bool stream = event->kind == CBX_EVENT_STDOUT || event->kind == CBX_EVENT_STDERR;
    if (!stream || c->kind != event->kind || c->late != event->late) {
        end_stream(c);
    }
    c->kind = event->kind;
    c->late = event->late;
    /* The run continues: its output is over the cap, but its result is still needed. */
    if (json_array_size(c->items) >= ITEMS_MAX) {
        c->omitted += stream                         ? event->text.len
                      : event->kind == CBX_EVENT_CUT ? event->size_bytes
                                                     : 0;
        c->incomplete = c->incomplete || (!stream && event->kind != CBX_EVENT_CUT);
        return 0;
    }
    if (stream) {
        return cbx_buf_add(&c->stream, event->text);
    }
    if (event->kind == CBX_EVENT_FILE) {
        add_file(c, event);
    } else if (event->kind == CBX_EVENT_CUT) {
        add_cut(c, event);
    } else if (event->kind == CBX_EVENT_BLOCKED) {
        add_blocked(c, event);
    } else if (event->kind != CBX_EVENT_ASK) {
        add_bundle(c, event);
    }
    return 0;
}

struct cbx_sink cbx_collected_sink(struct cbx_collected *collected)
{
    return (struct cbx_sink){ .event = take_event, .restart = clear, .context = collected };
}

void cbx_collected_finish(struct cbx_collected *collected)
{
    end_stream(collected);
    if (collected->omitted > 0) {
        struct cbx_event cut = { .kind = CBX_EVENT_CUT, .size_bytes = collected->omitted };
        add_cut(collected, &cut);
    }
}
