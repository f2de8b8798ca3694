/* SPDX-License-Identifier: MIT
 * Results: one form for the store and for /v1, and the form of CodeBox-AI made from it. */
#include "gateway/front/jobs/results.h"

#include "gateway/front/denial/advice.h"
#include "gateway/front/denial/relaxed.h"
#include "gateway/front/dialect.h"
#include "gateway/front/image_contents.h"
#include "gateway/front/jobs/jobs.h"

#include <signal.h>
#include <stdlib.h>

/* The error of a run for people and programs; null for a run that succeeded. */
static json_t *describe_error(const struct cbx_result *r)
{
    static const char *const reasons[CBX_RUN_STATUSES] = {
        [CBX_RUN_FAILED] = "the run failed",
        [CBX_RUN_TIMEOUT] = "stopped at the time limit",
        [CBX_RUN_OOM] = "stopped at the memory limit",
        [CBX_RUN_KILLED] = "the program was killed",
        [CBX_RUN_CPU] = "stopped at the limit of processor time",
        [CBX_RUN_REFUSED] = "stopped because the sandbox refused something",
    };
    if (r->status == CBX_RUN_OK) {
        return json_null();
    }
    if (r->ename != NULL) {
        return json_pack("{s:o,s:o,s:o}", "ename", cbx_json_text(cbx_str_of(r->ename)), "evalue",
                         cbx_json_text(cbx_str_of(r->evalue != NULL ? r->evalue : "")), "traceback",
                         cbx_json_lines(r->traceback != NULL ? r->traceback : ""));
    }
    if (r->status == CBX_RUN_ERROR) {
        return json_sprintf("exit code %d", r->exit_code);
    }
    const char *state = r->session_lost ? "; the session's state is lost" : "";
    if (r->status == CBX_RUN_LOST) {
        char loss[CBX_RESULT_LOSS_BYTES];
        return json_sprintf("lost: %s%s", cbx_result_loss(r, loss), state);
    }
    bool interrupted = r->status == CBX_RUN_KILLED && r->signal == SIGINT;
    return json_sprintf("%s after %llu ms%s",
                        interrupted ? "the program was interrupted" : reasons[r->status],
                        (unsigned long long)r->duration_ms, state);
}

struct file_type {
    const char *ending, *type;
    enum { SERVED_TYPE, SERVED_TEXT } served;
};

/* Finds the type by the ending of the name. */
static struct file_type find_type(const char *path)
{
    static const struct file_type types[] = {
#define CBX_FILE_TYPE(ending, type, served) { ending, type, SERVED_##served },
#include "gateway/front/jobs/file_types.def"
#undef CBX_FILE_TYPE
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcasecmp(dot + 1, types[i].ending) == 0) {
            return types[i];
        }
    }
    return (struct file_type){ .type = "application/octet-stream", .served = SERVED_TYPE };
}

const char *cbx_media_type(const char *path)
{
    return find_type(path).type;
}

const char *cbx_media_type_served(const char *path)
{
    struct file_type type = find_type(path);
    return type.served == SERVED_TEXT ? "text/plain; charset=utf-8" : type.type;
}

/* --- advice ----------------------------------------------------------------------------------- */

static void take_advice(void *context, struct cbx_str line)
{
    json_array_append_new(context, cbx_json_text(line));
}

/* Adds why the run was stopped, with the limit, and the meaning of its failure (advice.h). */
static void add_advice(json_t *results, const json_t *items, const struct cbx_outcome *outcome,
                       struct cbx_flow *flow)
{
    enum { ERRORS_MAX = 256 * 1024 * 1024, TEXT_MAX = 4096 };
    CBX_AUTO_DONE(buf) errors;
    CBX_AUTO_DONE(buf) stopped;
    CBX_AUTO_JSON lines = json_array();
    cbx_buf_init(&errors, ERRORS_MAX);
    cbx_buf_init(&stopped, TEXT_MAX);
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)(uintptr_t)items, i, item)
    {
        if (cbx_str_is(cbx_json_str(json_object_get(item, "kind")), "stderr")) {
            cbx_buf_add(&errors, cbx_json_str(json_object_get(item, "text")));
        }
    }
    struct cbx_advice advice = { .result = &outcome->result,
                                 .limits = &outcome->limits,
                                 .language =
                                     cbx_json_str(json_object_get(outcome->decision, "language")),
                                 .policy = outcome->policy,
                                 .hosts = outcome->hosts,
                                 .installs = outcome->installs,
                                 .errors = cbx_buf_str(&errors) };
    CBX_AUTO_DONE(contents) contents = { 0 };
    cbx_contents_advise(flow, &advice, &contents);
    cbx_advice_give(&advice, take_advice, lines);
    if (cbx_advice_stopped(&outcome->result, &outcome->limits, &stopped)) {
        json_object_set_new(results, "message", cbx_json_text(cbx_buf_str(&stopped)));
    }
    if (json_array_size(lines) > 0) {
        json_object_set(results, "advice", lines);
    }
}

/* Divides the events into output, files and refusals. */
static void divide(json_t *items, json_t *output, json_t *files, json_t *blocked)
{
    size_t i;
    json_t *item;
    json_array_foreach(items, i, item)
    {
        const char *kind = json_string_value(json_object_get(item, "kind"));
        if (strcmp(kind, "blocked") == 0) {
            json_object_del(item, "kind");
            json_array_append(blocked, item);
        } else if (strcmp(kind, "file") == 0) {
            const char *path = json_string_value(json_object_get(item, "path"));
            json_array_append_new(files,
                                  json_pack("{s:O,s:O,s:s}", "path", json_object_get(item, "path"),
                                            "size", json_object_get(item, "size"), "type",
                                            cbx_media_type(path != NULL ? path : "")));
        } else {
            json_array_append(output, item);
        }
    }
}

/* A number that is known, or null. New reference. */
static json_t *known(bool is_known, int64_t number)
{
    return is_known ? json_integer((json_int_t)number) : json_null();
}

json_t *cbx_results(json_t *items, const struct cbx_outcome *outcome, struct cbx_flow *flow,
                    const struct cbx_err *err)
{
    json_t *output = json_array(), *files = json_array(), *blocked = json_array();
    divide(items, output, files, blocked);
    const struct cbx_result *r = &outcome->result;
    bool ran = outcome->ran && err->code == 0;
    json_t *error = ran ? describe_error(r) : cbx_json_text(cbx_str_of(err->text));
    json_t *results = json_object();
    json_object_set_new(results, "outcome", json_string(cbx_run_status_name(r->status)));
    json_object_set_new(results, "exit_code",
                        known(r->exit_code >= 0 && outcome->ran, r->exit_code));
    json_object_set_new(results, "signal", known(r->signal > 0, r->signal));
    json_object_set_new(results, "error", error);
    json_object_set_new(results, "output", output);
    json_object_set_new(results, "files", files);
    json_object_set_new(results, "blocked", blocked);
    json_object_set_new(results, "duration_ms", json_integer((json_int_t)r->duration_ms));
    json_object_set_new(results, "cpu_ms", json_integer((json_int_t)r->cpu_ms));
    json_object_set_new(results, "stdout_bytes", json_integer((json_int_t)r->stdout_bytes));
    json_object_set_new(results, "stderr_bytes", json_integer((json_int_t)r->stderr_bytes));
    json_object_set_new(results, "truncated", json_boolean(r->output_truncated));
    json_object_set_new(results, "files_truncated", json_boolean(r->files_truncated));
    json_object_set_new(results, "session_lost", json_boolean(r->session_lost));
    json_object_set_new(results, "session_restarted", json_boolean(r->session_restarted));
    json_object_set_new(results, "decision", json_string(outcome->id));
    json_object_set_new(results, "audit_seq",
                        known(outcome->audit_seq > 0, (int64_t)outcome->audit_seq));
    if (r->has_input) {
        char hex[CBX_SHA256_HEX + 1];
        cbx_sha256_hex(&r->input_sha256, hex);
        json_object_set_new(
            results, "input",
            json_pack("{s:I,s:s}", "size", (json_int_t)r->input_bytes, "sha256", hex));
    }
    cbx_relaxed_warn(outcome->decision, results);
    if (ran) {
        add_advice(results, items, outcome, flow);
    }
    return results;
}

void cbx_results_approved(json_t *results, const struct cbx_outcome *outcome,
                          const struct cbx_approval *by)
{
    if (!outcome->ran || outcome->verdict == CBX_ALLOW) {
        return;
    }
    if (by->approver[0] != '\0') {
        json_object_set_new(results, "approved_by", json_pack("{s:s}", "principal", by->approver));
    } else if (by->client[0] != '\0') {
        json_object_set_new(
            results, "approved_by",
            json_pack("{s:s,s:s}", "client", by->client, "version", by->client_version));
    }
}

static size_t size_of(const json_t *json)
{
    return json_dumpb(json, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY);
}

/* Removes items from the end of an array until at most `over` bytes too many are removed;
 * returns the number of removed bytes. */
static size_t cut_items(json_t *array, size_t over)
{
    size_t gone = 0;
    while (gone < over && json_array_size(array) > 0) {
        size_t last = json_array_size(array) - 1;
        gone += size_of(json_array_get(array, last)) + 1;
        json_array_remove(array, last);
    }
    return gone;
}

void cbx_results_shorten(json_t *results, size_t max, const char *reason)
{
    enum { NOTE_BYTES = 512 }; /* for the texts added below */
    size_t size = size_of(results), gone = 0;
    if (size <= max) {
        return;
    }
    size_t over = size - max + NOTE_BYTES;
    static const struct {
        const char *array, *flag;
    } parts[] = { { "output", "truncated" },
                  { "files", "files_truncated" },
                  { "blocked", "truncated" } };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && gone < over; i++) {
        size_t cut = cut_items(json_object_get(results, parts[i].array), over - gone);
        if (cut > 0) {
            json_object_set_new(results, parts[i].flag, json_true());
        }
        gone += cut;
    }
    if (gone < over) { /* a traceback, or the text of an error */
        json_object_set_new(results, "error", json_string("the error is too large to be stored"));
    }
    json_t *output = json_object_get(results, "output");
    json_array_append_new(output, json_pack("{s:s,s:I}", "kind", "cut", "size",
                                            (json_int_t)(size - size_of(results))));
    json_object_set_new(
        results, "left_out",
        json_pack("{s:I,s:s}", "bytes", (json_int_t)(size - size_of(results)), "reason", reason));
}

json_t *cbx_execution_json(const json_t *execution)
{
    json_t *json = json_object();
    json_object_set(json, "execution_id", json_object_get(execution, "request_id"));
    const char *session = json_string_value(json_object_get(execution, "session_id"));
    json_object_set_new(json, "session_id",
                        session != NULL && session[0] != '\0' ? json_string(session) : json_null());
    const char *language = json_string_value(json_object_get(execution, "language"));
    json_object_set_new(json, "language", json_string(cbx_dialect_shown(language)));
    json_object_set(json, "status", json_object_get(execution, "status"));
    json_object_set(json, "ahead", json_object_get(execution, "ahead"));
    json_object_set(json, "created_at", json_object_get(execution, "created_at"));
    json_object_set(json, "completed_at", json_object_get(execution, "completed_at"));
    json_object_update(json, json_object_get(execution, "results"));
    return json;
}

/* --- as CodeBox-AI has them ------------------------------------------------------------------- */

static void add_item(json_t *output, json_t *files, const json_t *item)
{
    const char *kind = json_string_value(json_object_get(item, "kind"));
    if (strcmp(kind, "stdout") == 0 || strcmp(kind, "stderr") == 0) {
        json_array_append_new(output, json_pack("{s:s,s:s,s:O}", "type", "stream", "name", kind,
                                                "content", json_object_get(item, "text")));
        return;
    }
    if (strcmp(kind, "cut") == 0) {
        json_t *note = json_sprintf("\n[%lld bytes of output are left out here]\n",
                                    (long long)json_integer_value(json_object_get(item, "size")));
        json_array_append_new(output, json_pack("{s:s,s:s,s:o}", "type", "stream", "name", "stdout",
                                                "content", note));
        return;
    }
    json_t *data = json_object_get(item, "data"), *png = json_object_get(data, "image/png"),
           *text = json_object_get(data, "text/plain");
    if (png != NULL) {
        json_array_append(files, png);
    }
    /* HTML or SVG alone has no content for a client of CodeBox-AI; other clients find it in
     * `data` */
    if (data != NULL && png == NULL) {
        json_array_append_new(output, json_pack("{s:s,s:o,s:O}", "type", "result", "content",
                                                text != NULL ? json_incref(text) : json_string(""),
                                                "data", data));
    }
}

json_t *cbx_results_legacy(const json_t *results)
{
    json_t *legacy = json_copy((json_t *)(uintptr_t)results), *output = json_array(),
           *files = json_array();
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(results, "output"), i, item)
    {
        add_item(output, files, item);
    }
    json_object_set(legacy, "created", json_object_get(results, "files"));
    json_object_set_new(legacy, "output", output);
    json_object_set_new(legacy, "files", files);
    return legacy;
}
