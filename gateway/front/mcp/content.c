/* SPDX-License-Identifier: MIT
 * The outcome of a review as a CallToolResult. */
#include "gateway/front/mcp/content.h"

#include "gateway/front/advice.h"
#include "gateway/front/denial.h"
#include "gateway/front/mcp/clean.h"
#include "gateway/front/rest/results.h"
#include "policies/base/printable.h"

enum { TEXT_MAX = 1024 * 1024, SMALL_MAX = 4096, STREAM_READ_MAX = 256 * 1024 * 1024 };

/* A result while it is being built. */
struct content {
    struct cbx_buf text;
    json_t *structured, *pictures; /* owned until the result takes them */
    size_t picture_bytes;
};

static void init_content(struct content *c, const char *status)
{
    cbx_buf_init(&c->text, TEXT_MAX);
    c->structured = json_pack("{s:s}", "status", status);
    c->pictures = json_array();
    c->picture_bytes = 0;
}

static void set_text(struct content *c, const char *name, struct cbx_str text)
{
    if (text.len > 0) {
        json_object_set_new(c->structured, name, cbx_json_text(text));
    }
}

/* The result; `c` is used up. */
static json_t *finish_content(struct content *c, bool is_error)
{
    json_t *content = json_array();
    json_array_append_new(content, json_pack("{s:s,s:o}", "type", "text", "text",
                                             cbx_json_text(cbx_buf_str(&c->text))));
    json_array_extend(content, c->pictures);
    json_decref(c->pictures);
    cbx_buf_done(&c->text);
    return json_pack("{s:o,s:o,s:b}", "content", content, "structuredContent", c->structured,
                     "isError", is_error);
}

static void set_audit(struct content *c, const struct cbx_outcome *outcome)
{
    if (outcome->id[0] != '\0') {
        set_text(c, "audit_id", cbx_str_of(outcome->id));
        json_object_set_new(c->structured, "audit_record",
                            json_integer((json_int_t)outcome->audit_seq));
    }
}

static void add_audit(struct content *c, const struct cbx_outcome *outcome)
{
    if (outcome != NULL && outcome->id[0] != '\0') {
        cbx_buf_printf(&c->text, "audit id %s\n", outcome->id);
        set_audit(c, outcome);
    }
}

/* --- a run ------------------------------------------------------------------------------------ */

/* One of a program's texts: cleaned and cut, as a block and in the structured part. */
static void add_block(struct content *c, const char *name, struct cbx_str raw)
{
    CBX_AUTO_DONE(buf) clean;
    cbx_buf_init(&clean, 2 * CBX_CONTENT_STREAM_MAX);
    bool cut = cbx_clean(&clean, raw, CBX_CONTENT_STREAM_MAX);
    struct cbx_str text = cbx_buf_str(&clean);
    if (text.len > 0) {
        cbx_buf_printf(&c->text, "--- %s ---\n", name);
        cbx_buf_add(&c->text, text);
        cbx_buf_add_cstr(&c->text, cbx_str_ends(text, CBX_STR("\n")) ? "" : "\n");
    }
    set_text(c, name, text);
    if (cut) {
        char flag[64];
        snprintf(flag, sizeof(flag), "%s_truncated", name);
        json_object_set_new(c->structured, flag, json_true());
    }
}

static bool has_kind(const json_t *item, const char *kind)
{
    return cbx_str_is(cbx_json_str(json_object_get(item, "kind")), kind);
}

static bool has_any(const json_t *items, const char *kind)
{
    for (size_t i = 0; i < json_array_size(items); i++) {
        if (has_kind(json_array_get(items, i), kind)) {
            return true;
        }
    }
    return false;
}

/* The note about omitted output stands in each stream that has text: the count is of both
 * together. */
static void join_stream(struct cbx_buf *all, const char *kind, const json_t *items)
{
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)(uintptr_t)items, i, item)
    {
        if (has_kind(item, kind)) {
            cbx_buf_add(all, cbx_json_str(json_object_get(item, "text")));
        } else if (has_kind(item, "cut")) {
            cbx_buf_printf(all, "\n[... %lld bytes of output are left out here ...]\n",
                           (long long)json_integer_value(json_object_get(item, "size")));
        }
    }
}

static void add_stream(struct content *c, const char *kind, const json_t *items)
{
    CBX_AUTO_DONE(buf) all;
    cbx_buf_init(&all, STREAM_READ_MAX);
    join_stream(&all, kind, items);
    add_block(c, kind, has_any(items, kind) ? cbx_buf_str(&all) : CBX_STR(""));
}

static void add_picture(struct content *c, const char *type, const char *name,
                        struct cbx_str base64)
{
    size_t bytes = base64.len / 4 * 3;
    size_t count = json_array_size(c->pictures);
    if (bytes > CBX_CONTENT_IMAGE_MAX || count >= CBX_CONTENT_IMAGE_COUNT ||
        c->picture_bytes + base64.len > CBX_CONTENT_IMAGES_MAX) {
        cbx_buf_printf(&c->text,
                       "[a picture of %zu bytes was left out; at most %d bytes each, %d pictures "
                       "and %d bytes in all are handed on]\n",
                       bytes, CBX_CONTENT_IMAGE_MAX, CBX_CONTENT_IMAGE_COUNT,
                       CBX_CONTENT_IMAGES_MAX / 4 * 3);
        return;
    }
    c->picture_bytes += base64.len;
    json_array_append_new(c->pictures, json_pack("{s:s,s:o,s:s}", "type", "image", "data",
                                                 cbx_json_text(base64), "mimeType", type));
    cbx_buf_printf(&c->text, "[picture %zu: %s, %zu bytes]\n", count + 1, name, bytes);
}

/* The most informative text of a value: IPython's text for its own wrapper objects carries no
 * information. */
static struct cbx_str text_of_bundle(const json_t *data)
{
    static const char *const richer[] = { "text/markdown", "text/latex", "application/json",
                                          "image/svg+xml", "text/html" };
    struct cbx_str plain = cbx_json_str(json_object_get(data, "text/plain"));
    bool is_informative =
        plain.p != NULL && !cbx_str_starts(plain, CBX_STR("<IPython.core.display."));
    for (size_t i = 0; !is_informative && i < sizeof(richer) / sizeof(richer[0]); i++) {
        struct cbx_str text = cbx_json_str(json_object_get(data, richer[i]));
        if (text.p != NULL) {
            return text;
        }
    }
    return plain;
}

/* A bundle is one thing in several forms: the picture if there is one, else a text. */
static void add_bundle(struct content *c, const json_t *item, struct cbx_buf *values)
{
    static const struct {
        const char *type, *name;
    } pictures[] = { { "image/png", "PNG" },
                     { "image/jpeg", "JPEG" },
                     { "image/gif", "GIF" },
                     { "image/webp", "WebP" } };
    const json_t *data = json_object_get(item, "data");
    for (size_t i = 0; i < sizeof(pictures) / sizeof(pictures[0]); i++) {
        struct cbx_str picture = cbx_json_str(json_object_get(data, pictures[i].type));
        if (picture.p != NULL) {
            add_picture(c, pictures[i].type, pictures[i].name, picture);
            return;
        }
    }
    struct cbx_str text = text_of_bundle(data);
    if (text.p == NULL) {
        const char *type = json_object_iter_key(json_object_iter((json_t *)(uintptr_t)data));
        cbx_buf_add_cstr(&c->text, "[a value of type ");
        cbx_printable_add(&c->text, cbx_str_of(type != NULL ? type : "none"), CBX_PRINTABLE_LINE);
        cbx_buf_add_cstr(&c->text, " cannot be shown here]\n");
    } else if (values->len + text.len < values->max_bytes) {
        cbx_buf_add(values, text);
        cbx_buf_add_char(values, '\n');
    } else {
        cbx_buf_printf(&c->text, "[a value of %zu bytes was left out]\n", text.len);
    }
}

static void add_bundles(struct content *c, const json_t *items)
{
    CBX_AUTO_DONE(buf) values;
    cbx_buf_init(&values, 4 * CBX_CONTENT_STREAM_MAX);
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)(uintptr_t)items, i, item)
    {
        if (has_kind(item, "display") || has_kind(item, "result")) {
            add_bundle(c, item, &values);
        }
    }
    add_block(c, "result", cbx_buf_str(&values));
    json_object_set_new(c->structured, "pictures",
                        json_integer((json_int_t)json_array_size(c->pictures)));
}

static void add_files(struct content *c, const json_t *items)
{
    json_t *files = json_array();
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)(uintptr_t)items, i, item)
    {
        if (!has_kind(item, "file") || json_array_size(files) == CBX_CONTENT_FILES_MAX) {
            continue;
        }
        CBX_AUTO_DONE(buf) path;
        cbx_buf_init(&path, SMALL_MAX);
        cbx_printable_add(&path, cbx_json_str(json_object_get(item, "path")), CBX_PRINTABLE_LINE);
        json_int_t size = json_integer_value(json_object_get(item, "size"));
        cbx_buf_printf(&c->text, "[file %s, %lld bytes; it was removed with the sandbox]\n", path.p,
                       (long long)size);
        json_array_append_new(files,
                              json_pack("{s:o,s:I,s:s}", "path", cbx_json_text(cbx_buf_str(&path)),
                                        "size", size, "type", cbx_rest_file_type(path.p)));
    }
    json_object_set_new(c->structured, "files", files);
}

/* A text of the policy or of the source as one printable line. */
static void add_escaped(struct cbx_buf *to, const char *before, const json_t *text)
{
    struct cbx_str s = cbx_str_sub(cbx_json_str(text), 0, SMALL_MAX);
    if (s.len > 0) {
        cbx_buf_add_cstr(to, before);
        cbx_printable_add(to, s, CBX_PRINTABLE_LINE);
    }
}

static json_t *escape_text(const json_t *text)
{
    CBX_AUTO_DONE(buf) clean;
    cbx_buf_init(&clean, 5 * SMALL_MAX);
    add_escaped(&clean, "", text);
    return cbx_json_text(cbx_buf_str(&clean));
}

/* What the guard refused. */
static void add_blocked(struct content *c, const json_t *items)
{
    static const char *const kept[] = { "capability", "rule", "what", "message", "hint" };
    json_t *blocked = json_array();
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)(uintptr_t)items, i, item)
    {
        if (!has_kind(item, "blocked")) {
            continue;
        }
        add_escaped(&c->text, "blocked by rule ", json_object_get(item, "rule"));
        add_escaped(&c->text, ": ", json_object_get(item, "message"));
        add_escaped(&c->text, " (", json_object_get(item, "what"));
        add_escaped(&c->text, ")\n  hint: ", json_object_get(item, "hint"));
        cbx_buf_add_char(&c->text, '\n');
        json_t *shown = json_object();
        for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++) {
            json_object_set_new(shown, kept[k], escape_text(json_object_get(item, kept[k])));
        }
        json_object_set(shown, "count", json_object_get(item, "count"));
        json_array_append_new(blocked, shown);
    }
    if (json_array_size(blocked) > 0) {
        json_object_set(c->structured, "blocked", blocked);
    }
    json_decref(blocked);
}

static void take_advice(void *context, struct cbx_str line)
{
    struct content *c = context;
    json_t *lines = json_object_get(c->structured, "advice");
    if (lines == NULL) {
        lines = json_array();
        json_object_set_new(c->structured, "advice", lines);
    }
    json_array_append_new(lines, cbx_json_text(line));
    cbx_buf_add_cstr(&c->text, "advice: ");
    cbx_buf_add(&c->text, line);
    cbx_buf_add_char(&c->text, '\n');
}

static void add_advice(struct content *c, const struct cbx_outcome *outcome, const json_t *items)
{
    CBX_AUTO_DONE(buf) errors;
    cbx_buf_init(&errors, STREAM_READ_MAX);
    join_stream(&errors, "stderr", items);
    struct cbx_advice advice = {
        .result = &outcome->result,
        .limits = &outcome->limits,
        .language = cbx_json_str(json_object_get(outcome->decision, "language")),
        .network = outcome->network,
        .errors = cbx_buf_str(&errors),
    };
    cbx_advice_give(&advice, take_advice, c);
}

/* The first line. */
static void add_status(struct cbx_buf *text, const struct cbx_outcome *outcome)
{
    const struct cbx_result *r = &outcome->result;
    char loss[CBX_RESULT_LOSS_BYTES];
    if (cbx_advice_stopped(r, &outcome->limits, text)) {
        cbx_buf_add_char(text, '\n');
        return;
    }
    switch (r->status) {
    case CBX_RUN_OK:
        cbx_buf_add_cstr(text, "ok\n");
        break;
    case CBX_RUN_ERROR:
        cbx_buf_printf(text, "exit code %d\n", r->exit_code > 0 ? r->exit_code : 1);
        break;
    case CBX_RUN_REFUSED:
        cbx_buf_add_cstr(text, "refused: stopped, the policy ends a run when the sandbox refuses "
                               "something\n");
        break;
    case CBX_RUN_KILLED:
        cbx_buf_printf(text, "killed: the program was ended by signal %d\n", r->signal);
        break;
    case CBX_RUN_LOST:
        cbx_buf_printf(text, "lost: %s\n", cbx_result_loss(r, loss));
        break;
    default:
        cbx_buf_add_cstr(text, "failed: the program did not run, or its end was not seen\n");
        break;
    }
}

static void add_numbers(struct content *c, const struct cbx_result *r)
{
    if (r->status == CBX_RUN_OK || r->status == CBX_RUN_ERROR) {
        int code = r->status == CBX_RUN_ERROR && r->exit_code <= 0 ? 1 : r->exit_code;
        json_object_set_new(c->structured, "exit_code", json_integer(code < 0 ? 0 : code));
    }
    if (r->signal > 0) {
        json_object_set_new(c->structured, "signal", json_integer(r->signal));
    }
    json_object_set_new(c->structured, "duration_ms", json_integer((json_int_t)r->duration_ms));
    if (r->output_truncated) {
        cbx_buf_add_cstr(&c->text, "[the output was cut at the policy's limit]\n");
        json_object_set_new(c->structured, "output_truncated", json_true());
    }
    if (r->files_truncated) {
        cbx_buf_add_cstr(&c->text, "[pictures, values or files are left out at the limit]\n");
    }
}

json_t *cbx_content_of_run(const struct cbx_outcome *outcome, const json_t *items)
{
    const struct cbx_result *r = &outcome->result;
    struct content c;
    init_content(&c, cbx_run_status_name(r->status));
    add_status(&c.text, outcome);
    add_stream(&c, "stdout", items);
    add_stream(&c, "stderr", items);
    add_bundles(&c, items);
    add_block(&c, "traceback", cbx_str_of(r->traceback));
    add_advice(&c, outcome, items);
    add_blocked(&c, items);
    add_files(&c, items);
    add_numbers(&c, r);
    bool ran_to_its_end = r->status == CBX_RUN_OK || r->status == CBX_RUN_ERROR;
    if (ran_to_its_end) {
        set_text(&c, "audit_id", cbx_str_of(outcome->id));
    } else {
        add_audit(&c, outcome);
    }
    return finish_content(&c, !ran_to_its_end);
}

/* --- a denial, a failure ---------------------------------------------------------------------- */

static void add_finding(struct content *c, const json_t *finding)
{
    static const char *const kept[] = { "rule",   "severity", "effect",    "message",
                                        "hint",   "symbol",   "detail",    "line",
                                        "column", "end_line", "end_column" };
    json_t *copy = json_object();
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        const json_t *value = json_object_get(finding, kept[i]);
        if (json_is_integer(value)) {
            json_object_set_new(copy, kept[i], json_integer(json_integer_value(value)));
        } else if (json_string_length(value) > 0) {
            json_object_set_new(copy, kept[i], escape_text(value));
        }
    }
    json_array_append_new(json_object_get(c->structured, "findings"), copy);
}

/* Warnings are omitted: they would hide the findings that deny. */
static void add_findings(struct content *c, const json_t *findings)
{
    size_t i, refused = 0;
    json_t *finding;
    json_object_set_new(c->structured, "findings", json_array());
    json_array_foreach((json_t *)(uintptr_t)findings, i, finding)
    {
        if (cbx_denial_refuses(finding) && ++refused <= CBX_CONTENT_FINDINGS_MAX) {
            add_finding(c, finding);
        }
    }
}

json_t *cbx_content_of_denial(const struct cbx_outcome *outcome, struct cbx_str source)
{
    struct cbx_denial denial = { .decision = outcome->decision,
                                 .ask = outcome->verdict == CBX_ASK,
                                 .source = source,
                                 .audit_id = outcome->id };
    struct content c;
    init_content(&c, denial.ask ? "needs-approval" : "denied");
    cbx_denial_add(&denial, &c.text);
    add_findings(&c, json_object_get(outcome->decision, "findings"));
    set_audit(&c, outcome);
    return finish_content(&c, true);
}

json_t *cbx_content_of_failure(const char *status, const struct cbx_outcome *outcome,
                               const char *text)
{
    struct content c;
    init_content(&c, status);
    cbx_buf_printf(&c.text, "%s: %s\n", status, text);
    set_text(&c, "message", cbx_str_of(text));
    add_audit(&c, outcome);
    return finish_content(&c, true);
}

json_t *cbx_content_schema(void)
{
    static const struct {
        const char *name, *type;
    } members[] = {
#define CBX_MEMBER(name, type) { name, type },
#include "gateway/front/mcp/content.def"
#undef CBX_MEMBER
    };
    json_t *properties = json_object();
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        json_object_set_new(properties, members[i].name,
                            json_pack("{s:s}", "type", members[i].type));
    }
    return json_pack("{s:s,s:o,s:[s]}", "type", "object", "properties", properties, "required",
                     "status");
}
