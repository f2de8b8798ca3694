/* SPDX-License-Identifier: MIT
 * Clients of jobs. */
#include "gateway/front/rest/client.h"

#include "gateway/front/collect.h"

#include <assert.h>

/* --- one that waits --------------------------------------------------------------------------- */

static void answer_waiting(void *context, const json_t *execution, const struct cbx_err *err)
{
    struct cbx_rest_waiting *waiting = context;
    struct cbx_http_response response = { .status = 200 };
    struct cbx_http_request request = { .method = CBX_STR("POST"),
                                        .path = CBX_STR("/v1/executions"),
                                        .id = waiting->request_id };
    struct cbx_rest_call call = { .request = &request, .response = &response };
    if (err->code != 0) {
        cbx_rest_fail(&call, 0, err);
    } else {
        response.json = json_incref((json_t *)(uintptr_t)execution);
    }
    cbx_http_answer(waiting->exchange, &response);
}

struct cbx_job_client cbx_rest_wait_for(struct cbx_rest_waiting *waiting)
{
    return (struct cbx_job_client){ .done = answer_waiting, .waits = true, .context = waiting };
}

/* --- a stream --------------------------------------------------------------------------------- */

/* JSON has no line ends in it. */
static void send_event(struct cbx_http_stream *stream, const char *name, const json_t *data)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 128 * 1024 * 1024);
    cbx_buf_printf(&text, "event: %s\ndata: ", name);
    cbx_json_write(&text, data);
    cbx_buf_add_cstr(&text, "\n\n");
    cbx_http_stream_add(stream, cbx_buf_str(&text));
}

/* Writes the event in the form of collected items; streams as they arrive. */
static void stream_event(void *context, const struct cbx_event *event)
{
    static const char *const streams[] = {
        [CBX_EVENT_STDOUT] = "stdout", [CBX_EVENT_STDERR] = "stderr"
    };
    if (event->kind == CBX_EVENT_STDOUT || event->kind == CBX_EVENT_STDERR) {
        CBX_AUTO_JSON data = json_pack("{s:o}", "text", cbx_json_text(event->text));
        if (event->late) {
            json_object_set_new(data, "late", json_true());
        }
        send_event(context, streams[event->kind], data);
        return;
    }
    if (event->kind == CBX_EVENT_ASK) {
        CBX_AUTO_JSON data =
            json_pack("{s:o,s:b}", "prompt", cbx_json_text(event->text), "secret", event->secret);
        send_event(context, "input", data);
        return;
    }
    CBX_AUTO_DONE(collected) one;
    cbx_collected_init(&one);
    struct cbx_sink sink = cbx_collected_sink(&one);
    sink.event(sink.context, event);
    json_t *item = json_array_get(one.items, 0);
    if (item != NULL) {
        send_event(context, json_string_value(json_object_get(item, "kind")), item);
    }
}

static void stream_queued(void *context, int ahead)
{
    CBX_AUTO_JSON data = json_pack("{s:i}", "ahead", ahead);
    send_event(context, "queued", data);
}

static void stream_restart(void *context)
{
    CBX_AUTO_JSON nothing = json_object();
    send_event(context, "restart", nothing);
}

static void end_stream(void *context, const json_t *execution, const struct cbx_err *err)
{
    (void)err; /* the execution has it */
    send_event(context, "done", execution);
    cbx_http_stream_end(context);
}

static void send_created(struct cbx_rest_opening *o)
{
    CBX_AUTO_JSON created = json_pack("{s:s}", "execution_id", o->id);
    send_event(o->stream, "created", created);
}

static void begin_response(struct cbx_rest_opening *o)
{
    struct cbx_http_exchange *exchange = o->call->request->exchange;
    const struct cbx_http_response response = { .status = 200,
                                                .stream = o->stream,
                                                .type = "text/event-stream" };
    /* The request may end with its response; later log lines use a copy. */
    snprintf(o->request_id, sizeof(o->request_id), "%s", o->call->request->id);
    o->request = (struct cbx_http_request){ .method = CBX_STR("POST"),
                                            .path = CBX_STR("/v1/executions"),
                                            .caller = o->call->request->caller,
                                            .id = o->request_id };
    o->call->request = &o->request;
    o->call->response->answered = true;
    o->begun = true;
    send_created(o);
    cbx_http_answer(exchange, &response);
}

static void send_progress(void *context, struct cbx_str line)
{
    struct cbx_rest_opening *o = context;
    CBX_AUTO_JSON data = json_pack("{s:o}", "text", cbx_json_text(line));
    if (!o->begun) {
        begin_response(o);
    }
    send_event(o->stream, "progress", data);
}

static bool is_gone(void *context)
{
    const struct cbx_rest_opening *o = context;
    return o->begun ? cbx_http_stream_is_gone(o->stream)
                    : cbx_http_is_gone(o->call->request->exchange);
}

struct cbx_job_client cbx_rest_opening_client(struct cbx_rest_opening *o)
{
    bool keyed = o->call->request->idempotency_key.p != NULL;
    return (struct cbx_job_client){ .progress = o->stream != NULL && !keyed ? send_progress : NULL,
                                    .gone = is_gone,
                                    .context = o };
}

struct cbx_job_client cbx_rest_opening_run(struct cbx_rest_opening *o)
{
    if (!o->begun) {
        send_created(o);
    }
    return (struct cbx_job_client){ .event = stream_event,
                                    .restart = stream_restart,
                                    .queued = stream_queued,
                                    .done = end_stream,
                                    .context = o->stream };
}

void cbx_rest_opening_answer(struct cbx_rest_opening *o)
{
    if (!o->begun) {
        o->call->response->status = 200;
        o->call->response->stream = o->stream;
        o->call->response->type = "text/event-stream";
    }
}

void cbx_rest_opening_fail(struct cbx_rest_opening *o)
{
    if (!o->begun) { /* the server never received the stream */
        cbx_http_stream_end(o->stream);
        cbx_http_stream_discard(o->stream);
        return;
    }
    CBX_AUTO_JSON problem = cbx_steal(&o->call->response->json);
    assert(problem != NULL); /* every refusal is a problem document */
    send_event(o->stream, "error", problem);
    cbx_http_stream_end(o->stream);
}
