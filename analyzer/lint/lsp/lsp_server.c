/* SPDX-License-Identifier: MIT
 * The language server: messages in, diagnostics and code actions out. */
#include "analyzer/lint/lsp/lsp_server.h"

#include "analyzer/lint/lsp/lsp_frame.h"
#include "analyzer/lint/lsp/publish.h"
#include "policies/release.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Error codes of JSON-RPC and LSP. */
enum {
    PARSE_ERROR = -32700,
    INVALID_REQUEST = -32600,
    METHOD_NOT_FOUND = -32601,
    INVALID_PARAMS = -32602,
    NOT_INITIALIZED = -32002
};
enum { READ_BYTES = 64 * 1024, RUNNING = -1 };

struct server {
    struct cbx_lint lint;
    struct cbx_lsp_store store;
    struct cbx_buf in;
    enum cbx_lsp_encoding encoding;
    bool initialized, shut_down, versioned;
    int status; /* RUNNING, or the exit status */
};

/* --- messages --------------------------------------------------------------------------------- */

/* Takes the reference. If the client is gone the server ends. */
static void send_message(struct server *s, json_t *message)
{
    json_object_set_new(message, "jsonrpc", json_string("2.0"));
    char *text = json_dumps(message, JSON_COMPACT);
    if (text == NULL) {
        abort();
    }
    fprintf(stdout, "Content-Length: %zu\r\n\r\n", strlen(text));
    fwrite(text, 1, strlen(text), stdout);
    if (fflush(stdout) != 0) {
        s->status = 1;
    }
    free(text);
    json_decref(message);
}

static void notify(struct server *s, const char *method, json_t *params)
{
    send_message(s, json_pack("{s:s,s:o}", "method", method, "params", params));
}

/* `id` NULL: the id of the message could not be read. */
static void reply(struct server *s, const json_t *id, json_t *result)
{
    json_t *copy = id != NULL ? json_deep_copy(id) : json_null();
    send_message(s, json_pack("{s:o,s:o}", "id", copy, "result", result));
}

static void reply_error(struct server *s, const json_t *id, int code, const char *text)
{
    json_t *copy = id != NULL ? json_deep_copy(id) : json_null();
    send_message(
        s, json_pack("{s:o,s:{s:i,s:s}}", "id", copy, "error", "code", code, "message", text));
}

static void publish(struct server *s, const struct cbx_lsp_document *d)
{
    notify(s, "textDocument/publishDiagnostics", cbx_lsp_diagnostics(d, s->encoding));
}

static void publish_failure(struct server *s, const struct cbx_lsp_document *d, const char *why)
{
    notify(s, "textDocument/publishDiagnostics", cbx_lsp_diagnostics_failed(d, why));
}

/* --- requests --------------------------------------------------------------------------------- */

static bool wants_utf8(const json_t *capabilities)
{
    const json_t *names =
        json_object_get(json_object_get(capabilities, "general"), "positionEncodings");
    size_t i;
    const json_t *name;
    json_array_foreach(names, i, name)
    {
        if (cbx_str_is(cbx_json_str(name), "utf-8")) {
            return true;
        }
    }
    return false;
}

static void initialize(struct server *s, const json_t *id, const json_t *params)
{
    const json_t *capabilities = json_object_get(params, "capabilities");
    const json_t *edit =
        json_object_get(json_object_get(capabilities, "workspace"), "workspaceEdit");
    if (s->initialized) {
        reply_error(s, id, INVALID_REQUEST, "initialize was sent before");
        return;
    }
    s->initialized = true;
    s->versioned = json_is_true(json_object_get(edit, "documentChanges"));
    s->encoding = wants_utf8(capabilities) ? CBX_LSP_UTF8 : CBX_LSP_UTF16;
    reply(s, id,
          json_pack("{s:{s:s,s:{s:b,s:i,s:b},s:{s:[s]}},s:{s:s,s:s}}", "capabilities",
                    "positionEncoding", s->encoding == CBX_LSP_UTF8 ? "utf-8" : "utf-16",
                    "textDocumentSync", "openClose", true, "change", 2, "save", true,
                    "codeActionProvider", "codeActionKinds", "quickfix", "serverInfo", "name",
                    "codebox-lint", "version", CBX_VERSION));
}

static void shut_down(struct server *s, const json_t *id, const json_t *params)
{
    (void)params;
    s->shut_down = true;
    reply(s, id, json_null());
}

static struct cbx_lsp_document *find_document(const struct server *s, const json_t *params)
{
    const json_t *document = json_object_get(params, "textDocument");
    return cbx_lsp_store_find(&s->store, cbx_json_str(json_object_get(document, "uri")));
}

/* Returns true if the client asks for quick fixes, or for all kinds. */
static bool wants_fixes(const json_t *params)
{
    const json_t *only = json_object_get(json_object_get(params, "context"), "only");
    size_t i;
    const json_t *kind;
    json_array_foreach(only, i, kind)
    {
        if (cbx_str_is(cbx_json_str(kind), "quickfix")) {
            return true;
        }
    }
    return json_array_size(only) == 0;
}

static void code_action(struct server *s, const json_t *id, const json_t *params)
{
    const struct cbx_lsp_document *d = find_document(s, params);
    const json_t *range = json_object_get(params, "range");
    struct cbx_lsp_position start, end;
    if (!cbx_lsp_position_read(json_object_get(range, "start"), &start) ||
        !cbx_lsp_position_read(json_object_get(range, "end"), &end)) {
        reply_error(s, id, INVALID_PARAMS, "'range' is no range");
        return;
    }
    bool known = d != NULL && d->findings != NULL && wants_fixes(params);
    reply(s, id, known ? cbx_lsp_actions(d, start, end, s->encoding, s->versioned) : json_array());
}

/* --- notifications ---------------------------------------------------------------------------- */

static void leave(struct server *s, const json_t *id, const json_t *params)
{
    (void)id;
    (void)params;
    s->status = s->shut_down ? 0 : 1;
}

static void note_error(const struct cbx_err *err)
{
    fprintf(stderr, "codebox-lint: --lsp: %s\n", err->text);
}

static void did_open(struct server *s, const json_t *id, const json_t *params)
{
    (void)id;
    const json_t *item = json_object_get(params, "textDocument");
    const json_t *text = json_object_get(item, "text");
    struct cbx_str uri = cbx_json_str(json_object_get(item, "uri"));
    struct cbx_err err = { 0 };
    if (uri.len == 0 || !json_is_string(text)) {
        cbx_fail(&err, CBX_EINVAL, "didOpen without 'uri' or 'text'");
        note_error(&err);
        return;
    }
    if (cbx_lsp_store_open(&s->store, uri, cbx_json_str(json_object_get(item, "languageId")),
                           json_integer_value(json_object_get(item, "version")), cbx_json_str(text),
                           &err) == NULL) {
        note_error(&err);
    }
}

static int apply_changes(struct server *s, struct cbx_lsp_document *d, const json_t *changes,
                         struct cbx_err *err)
{
    size_t i;
    const json_t *change;
    json_array_foreach(changes, i, change)
    {
        bool whole = json_object_get(change, "range") == NULL;
        d->lost = d->lost && !whole; /* the whole text replaces whatever was lost */
        int failed = 0;
        if (!d->lost) {
            failed = cbx_lsp_apply(&d->text, change, s->encoding, err);
        }
        if (failed) {
            return failed;
        }
    }
    return 0;
}

static void did_change(struct server *s, const json_t *id, const json_t *params)
{
    (void)id;
    struct cbx_lsp_document *d = find_document(s, params);
    const json_t *document = json_object_get(params, "textDocument");
    struct cbx_err err = { 0 };
    if (d == NULL) {
        return;
    }
    d->version = json_integer_value(json_object_get(document, "version"));
    cbx_lsp_store_touch(d);
    if (apply_changes(s, d, json_object_get(params, "contentChanges"), &err) != 0) {
        d->lost = true;
        note_error(&err);
        publish_failure(s, d, err.text);
    }
}

static void did_save(struct server *s, const json_t *id, const json_t *params)
{
    (void)id;
    struct cbx_lsp_document *d = find_document(s, params);
    if (d != NULL) {
        cbx_lsp_store_touch(d);
    }
}

static void did_close(struct server *s, const json_t *id, const json_t *params)
{
    (void)id;
    struct cbx_lsp_document *d = find_document(s, params);
    if (d == NULL) {
        return;
    }
    notify(s, "textDocument/publishDiagnostics",
           json_pack("{s:s,s:[]}", "uri", d->uri, "diagnostics"));
    cbx_lsp_store_close(&s->store, d);
}

static void ignore(struct server *s, const json_t *id, const json_t *params)
{
    (void)s;
    (void)id;
    (void)params;
}

static const struct method {
    const char *name;
    bool request, early; /* allowed before initialize too */
    void (*handle)(struct server *s, const json_t *id, const json_t *params);
} methods[] = {
    { "initialize", true, true, initialize },
    { "shutdown", true, false, shut_down },
    { "textDocument/codeAction", true, false, code_action },
    { "exit", false, true, leave },
    { "initialized", false, false, ignore },
    { "textDocument/didOpen", false, false, did_open },
    { "textDocument/didChange", false, false, did_change },
    { "textDocument/didSave", false, false, did_save },
    { "textDocument/didClose", false, false, did_close },
};

static const struct method *find_method(struct cbx_str name)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (cbx_str_is(name, methods[i].name)) {
            return &methods[i];
        }
    }
    return NULL;
}

static void handle_request(struct server *s, const struct method *method, const json_t *id,
                           const json_t *params)
{
    if (!json_is_string(id) && !json_is_integer(id)) {
        reply_error(s, NULL, INVALID_REQUEST, "'id' is neither a text nor an integer");
    } else if (!s->initialized && (method == NULL || !method->early)) {
        reply_error(s, id, NOT_INITIALIZED, "initialize comes first");
    } else if (s->shut_down) {
        reply_error(s, id, INVALID_REQUEST, "the server is shut down");
    } else if (method == NULL || !method->request) {
        reply_error(s, id, METHOD_NOT_FOUND, "this server has no such request");
    } else {
        method->handle(s, id, params);
    }
}

static void handle_message(struct server *s, struct cbx_str body)
{
    CBX_AUTO_JSON message = NULL;
    struct cbx_err err;
    if (cbx_json_parse(body, CBX_LSP_BODY_MAX, &message, &err) != 0) {
        reply_error(s, NULL, PARSE_ERROR, err.text);
        return;
    }
    const json_t *id = json_object_get(message, "id");
    const json_t *name = json_object_get(message, "method");
    const json_t *params = json_object_get(message, "params");
    if (json_is_object(message) && name == NULL && id != NULL) {
        return; /* a response, although this server sends no requests */
    }
    if (!json_is_string(name)) {
        reply_error(s, NULL, INVALID_REQUEST, "no message of JSON-RPC: 'method' is no text");
        return;
    }
    const struct method *method = find_method(cbx_json_str(name));
    if (id != NULL) {
        handle_request(s, method, id, params);
        return;
    }
    bool accepted = method != NULL && !method->request && (s->initialized || method->early) &&
                    (!s->shut_down || method->handle == leave);
    if (accepted) {
        method->handle(s, NULL, params);
    }
}

/* --- results ---------------------------------------------------------------------------------- */

static void take_result(struct server *s, struct cbx_lsp_document *d,
                        const struct cbx_lint_result *result)
{
    CBX_AUTO_JSON report = json_loadb(result->output.p, result->output.len, 0, NULL);
    const char *error = json_string_value(json_object_get(report, "error"));
    if (error != NULL) {
        publish_failure(s, d, error);
        return;
    }
    json_t *findings = json_object_get(report, "findings");
    d->findings = findings != NULL ? json_incref(findings) : json_array();
    publish(s, d);
}

static void read_judgement(struct server *s, struct cbx_lsp_document *d)
{
    struct cbx_lint_result result;
    char why[256];
    int done = cbx_lsp_judge_read(&d->judge, &result, why, sizeof(why));
    if (done > 0) {
        take_result(s, d, &result);
        cbx_lint_result_done(&result);
    } else if (done < 0) {
        publish_failure(s, d, why);
    }
}

/* --- the loop --------------------------------------------------------------------------------- */

static void handle_input(struct server *s)
{
    struct cbx_str body;
    size_t used;
    struct cbx_err err = { 0 };
    int taken = 0;
    while (s->status == RUNNING &&
           (taken = cbx_lsp_frame_next(cbx_buf_str(&s->in), &body, &used, &err)) == 1) {
        handle_message(s, body);
        cbx_buf_consume(&s->in, used);
    }
    if (s->status == RUNNING && taken < 0) {
        note_error(&err);
        s->status = 2;
    }
}

static void read_input(struct server *s)
{
    char *to = cbx_buf_reserve(&s->in, READ_BYTES);
    ssize_t n = to != NULL ? read(STDIN_FILENO, to, READ_BYTES) : -1;
    if (n < 0 && to != NULL && errno == EINTR) {
        return;
    }
    if (n <= 0) { /* the client has gone without `exit` */
        s->status = 1;
        return;
    }
    s->in.len += (size_t)n;
    handle_input(s);
}

static void wait_for_something(struct server *s)
{
    struct pollfd fds[1 + CBX_LSP_JUDGEMENTS_MAX] = { { .fd = STDIN_FILENO, .events = POLLIN } };
    struct cbx_lsp_document *documents[1 + CBX_LSP_JUDGEMENTS_MAX] = { NULL };
    nfds_t count = 1;
    for (struct cbx_lsp_document *d = s->store.first; d != NULL && count <= CBX_LSP_JUDGEMENTS_MAX;
         d = d->next) {
        if (cbx_lsp_judge_runs(&d->judge)) {
            fds[count] = (struct pollfd){ .fd = d->judge.child.fd, .events = POLLIN };
            documents[count++] = d;
        }
    }
    if (poll(fds, count, -1) < 0) {
        s->status = errno == EINTR ? RUNNING : 2;
        return;
    }
    /* results first: a message may close a document */
    for (nfds_t i = 1; i < count; i++) {
        if (fds[i].revents != 0) {
            read_judgement(s, documents[i]);
        }
    }
    if (fds[0].revents != 0) {
        read_input(s);
    }
}

int cbx_lsp_serve(const struct cbx_lint *lint)
{
    struct server s = { .lint = *lint, .status = RUNNING };
    cbx_buf_init(&s.in, (size_t)CBX_LSP_BODY_MAX + CBX_LSP_HEADERS_MAX + READ_BYTES);
    const struct cbx_lint_run how = {
        .lint = &s.lint, .jobs = 1, .limit_ms = CBX_LSP_LIMIT_MS, .check = cbx_lint_file
    };
    signal(SIGPIPE, SIG_IGN);
    while (s.status == RUNNING) {
        s.lint.now = time(NULL);
        cbx_lsp_store_judge(&s.store, &how);
        wait_for_something(&s);
    }
    cbx_lsp_store_done(&s.store);
    cbx_buf_done(&s.in);
    return s.status;
}
