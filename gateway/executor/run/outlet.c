/* SPDX-License-Identifier: MIT
 * Redaction of events. */
#include "gateway/executor/run/outlet.h"

#include <stdlib.h>

enum { OUT_MAX = 80 << 20, MIMES_MAX = 32 };

void cbx_outlet_done(struct cbx_outlet *outlet)
{
    for (size_t i = 0; i < 2; i++) {
        cbx_redact_stream_free(outlet->streams[i]);
        outlet->streams[i] = NULL;
    }
}

static int number_of(enum cbx_event_kind kind)
{
    return kind == CBX_EVENT_STDOUT ? 0 : kind == CBX_EVENT_STDERR ? 1 : -1;
}

static int send_text(size_t number, bool late, const struct cbx_buf *text,
                     const struct cbx_sink *to)
{
    struct cbx_event event = { .kind = number == 0 ? CBX_EVENT_STDOUT : CBX_EVENT_STDERR,
                               .text = cbx_buf_str(text),
                               .late = late };
    return text->len > 0 ? to->event(to->context, &event) : 0;
}

static int flush(struct cbx_outlet *outlet, size_t number, const struct cbx_sink *to)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, OUT_MAX);
    if (outlet->streams[number] != NULL) {
        cbx_redact_flush(outlet->streams[number], &text);
    }
    return send_text(number, outlet->late[number], &text, to);
}

int cbx_outlet_flush(struct cbx_outlet *outlet, const struct cbx_sink *to)
{
    int failed = flush(outlet, 0, to);
    if (failed) {
        return failed;
    }
    return flush(outlet, 1, to);
}

static int pass_text(struct cbx_outlet *outlet, size_t number, const struct cbx_event *event,
                     const struct cbx_sink *to)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, OUT_MAX);
    int failed = outlet->late[number] != event->late ? flush(outlet, number, to) : 0;
    if (outlet->streams[number] == NULL) {
        outlet->streams[number] = cbx_redact_stream_new(outlet->redactor);
    }
    outlet->late[number] = event->late;
    cbx_redact_feed(outlet->streams[number], event->text, &text);
    if (failed) {
        return failed;
    }
    return send_text(number, event->late, &text, to);
}

static void clean(const struct cbx_redactor *redactor, struct cbx_str *text, struct cbx_buf *into)
{
    cbx_buf_init(into, OUT_MAX);
    cbx_redact_text(redactor, *text, into);
    *text = cbx_buf_str(into);
}

/* Redacts each text of the event separately. */
static int pass_whole(const struct cbx_redactor *redactor, const struct cbx_event *given,
                      const struct cbx_sink *to)
{
    struct cbx_event event = *given;
    struct cbx_mime mimes[MIMES_MAX];
    struct cbx_buf text, rule, types[MIMES_MAX], parts[MIMES_MAX];
    event.mime_count = event.mime_count > MIMES_MAX ? MIMES_MAX : event.mime_count;
    event.mimes = mimes;
    clean(redactor, &event.text, &text);
    clean(redactor, &event.rule, &rule);
    for (size_t i = 0; i < event.mime_count; i++) {
        mimes[i] = given->mimes[i];
        clean(redactor, &mimes[i].type, &types[i]);
        clean(redactor, &mimes[i].data, &parts[i]);
    }
    int failed = to->event(to->context, &event);
    for (size_t i = 0; i < event.mime_count; i++) {
        cbx_buf_done(&types[i]);
        cbx_buf_done(&parts[i]);
    }
    cbx_buf_done(&text);
    cbx_buf_done(&rule);
    return failed;
}

int cbx_outlet_event(struct cbx_outlet *outlet, const struct cbx_event *event,
                     const struct cbx_sink *to)
{
    int number = number_of(event->kind);
    if (outlet->redactor == NULL) {
        return to->event(to->context, event);
    }
    if (number >= 0) {
        return pass_text(outlet, (size_t)number, event, to);
    }
    int failed = event->kind == CBX_EVENT_CUT ? cbx_outlet_flush(outlet, to) : 0;
    if (failed) {
        return failed;
    }
    return pass_whole(outlet->redactor, event, to);
}

static void clean_text(const struct cbx_redactor *redactor, char **text)
{
    if (*text != NULL) {
        CBX_AUTO_DONE(buf) into;
        cbx_buf_init(&into, OUT_MAX);
        cbx_redact_text(redactor, cbx_str_of(*text), &into);
        free(*text);
        *text = cbx_buf_take(&into);
    }
}

void cbx_outlet_result(const struct cbx_redactor *redactor, struct cbx_result *result)
{
    if (redactor != NULL) {
        clean_text(redactor, &result->ename);
        clean_text(redactor, &result->evalue);
        clean_text(redactor, &result->traceback);
    }
}
