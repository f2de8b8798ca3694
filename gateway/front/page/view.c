/* SPDX-License-Identifier: MIT
 * The HTML of the page. Every text goes through cbx_html_add; only constants and numbers are
 * written directly. */
#include "gateway/front/page/view.h"

#include "gateway/front/dialect.h"
#include "gateway/front/executor_client.h"
#include "gateway/front/page/charts.h"
#include "gateway/front/page/html.h"
#include "gateway/front/service/decisions.h"
#include "policies/base/clock.h"
#include "policies/release.h"

const char *cbx_view_style(void)
{
    static const char style[] =
#define CBX_STYLE(selector, declarations) selector "{" declarations "}\n"
#include "gateway/front/page/style.def"
#undef CBX_STYLE
        "";
    return style;
}

const char *cbx_view_script(void)
{
    static const char script[] =
#define CBX_SCRIPT(line) line "\n"
#include "gateway/front/page/script.def"
#undef CBX_SCRIPT
        "";
    return script;
}

/* --- reading ---------------------------------------------------------------------------------- */

static json_t *read_decisions(struct cbx_service *service, size_t limit, bool whole)
{
    const struct cbx_decisions_filter filter = { .limit = limit,
                                                 .with_code = whole,
                                                 .without_findings = !whole };
    return cbx_decisions_page(service->decisions, &filter, cbx_clock_ms());
}

void cbx_view_read(struct cbx_service *service, const char *principal, struct cbx_view *out)
{
    const struct cbx_health_args health;
    const struct cbx_list_sessions_args sessions = { 0 };
    CBX_AUTO_DONE(message) answer;
    CBX_AUTO_DONE(message) list;
    cbx_message_init(&answer);
    cbx_message_init(&list);
    *out = (struct cbx_view){ .principal = principal };
    if (cbx_call_health(service->flow, &health, CBX_STR(""), &answer, &out->executor) == 0) {
        out->health = json_incref(answer.header);
    }
    if (cbx_call_list_sessions(service->flow, &sessions, CBX_STR(""), &list, NULL) == 0) {
        out->sessions = json_incref(json_object_get(list.header, "sessions"));
    }
    out->store_ok = cbx_store_check(service->store, &out->store) == 0;
    out->decisions = read_decisions(service, CBX_DECISIONS_MAX, false);
    out->recent = read_decisions(service, CBX_VIEW_DECISIONS, true);
}

void cbx_view_done(struct cbx_view *view)
{
    json_decref(view->health);
    json_decref(view->sessions);
    json_decref(view->decisions);
    json_decref(view->recent);
    *view = (struct cbx_view){ 0 };
}

/* --- the frame -------------------------------------------------------------------------------- */

static void open_document(struct cbx_buf *out, const char *principal, bool may_log_out)
{
    cbx_buf_add_cstr(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>codebox</title>"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
        "<link rel=\"stylesheet\" href=\"/page.css\"><script src=\"/page.js\" defer></script>"
        "</head><body><header><h1>codebox</h1><span>");
    cbx_html_add(out, CBX_STR(CBX_VERSION));
    cbx_buf_add_cstr(out, principal != NULL ? " \u00B7 shown to " : "");
    cbx_html_add(out, cbx_str_of(principal != NULL ? principal : ""));
    cbx_buf_add_cstr(out, may_log_out
                              ? "</span><form class=\"logout\" method=\"post\" "
                                "action=\"/logout\"><button>Log out</button></form></header>"
                              : "</span></header>");
}

static void close_document(struct cbx_buf *out)
{
    cbx_buf_add_cstr(out, "</main></body></html>\n");
}

void cbx_view_write_login(const char *text, struct cbx_buf *out)
{
    open_document(out, NULL, false);
    cbx_buf_add_cstr(out, "<main><section><h2>Log in</h2>");
    if (text != NULL) {
        cbx_buf_add_cstr(out, "<p class=\"failing\" role=\"alert\"><b>");
        cbx_html_add(out, cbx_str_of(text));
        cbx_buf_add_cstr(out, "</b></p>");
    }
    cbx_buf_add_cstr(
        out, "<form method=\"post\" action=\"/login\"><label for=\"token\">A token of a "
             "principal with the right audit:read</label><input id=\"token\" name=\"token\" "
             "type=\"password\" autocomplete=\"off\" required autofocus>"
             "<button>Show the page</button></form></section>");
    close_document(out);
}

void cbx_view_write_refusal(const char *text, bool may_log_out, struct cbx_buf *out)
{
    open_document(out, NULL, may_log_out);
    cbx_buf_add_cstr(out, "<main><section><p>");
    cbx_html_add(out, cbx_str_of(text));
    cbx_buf_add_cstr(out, "</p></section>");
    close_document(out);
}

/* --- parts ------------------------------------------------------------------------------------ */

static const json_t *at(const json_t *object, const char *name)
{
    return json_object_get(object, name);
}

static void add_part(struct cbx_buf *out, const char *name, bool ok, struct cbx_str text)
{
    cbx_buf_printf(out, "<li class=\"%s\"><b>%s</b><span>%s", ok ? "ok" : "failing", name,
                   ok ? "ok" : "failing");
    cbx_buf_add_cstr(out, text.len > 0 ? " \u00B7 " : "");
    cbx_html_add(out, text);
    cbx_buf_add_cstr(out, "</span></li>");
}

static void add_health(struct cbx_buf *out, const struct cbx_view *view)
{
    const json_t *health = view->health;
    cbx_buf_add_cstr(out, "<section><h2>Health</h2><ul class=\"health\">");
    if (health == NULL) {
        add_part(out, "Executor", false, cbx_str_of(view->executor.text));
    } else {
        add_part(out, "Engine", json_is_true(at(health, "engine_ok")),
                 cbx_json_str(at(health, "engine")));
        add_part(out, "Pool", json_is_true(at(health, "pool_ok")), CBX_STR(""));
        add_part(out, "Audit log", json_is_true(at(health, "audit_ok")),
                 cbx_json_str(at(health, "audit")));
    }
    add_part(out, "Store", view->store_ok, cbx_str_of(view->store.text));
    cbx_buf_add_cstr(out, "</ul></section>");
}

/* Adds "12:03:44", with the complete time in a title. */
static void add_time(struct cbx_buf *out, const json_t *decision)
{
    struct cbx_str time = cbx_json_str(at(decision, "created_at"));
    cbx_buf_add_cstr(out, "<time datetime=\"");
    cbx_html_add(out, time);
    cbx_buf_add_cstr(out, "Z\" title=\"");
    cbx_html_add(out, time);
    cbx_buf_add_cstr(out, " UTC\">");
    cbx_html_add(out, cbx_str_sub(time, 11, 19));
    cbx_buf_add_cstr(out, "</time>");
}

/* Adds a text of the decision, dim, unless it is empty. */
static void add_dim(struct cbx_buf *out, const char *before, const json_t *object, const char *name)
{
    if (json_string_length(at(object, name)) > 0) {
        cbx_buf_printf(out, "<span class=\"dim\">%s", before);
        cbx_html_add_member(out, object, name);
        cbx_buf_add_cstr(out, "</span>");
    }
}

/* True if admitted, and its end is not known yet. */
static bool is_running(const json_t *d)
{
    return cbx_str_is(cbx_json_str(at(d, "action")), "run") && at(d, "run") == NULL &&
           at(d, "approval") == NULL && !cbx_str_is(cbx_json_str(at(d, "verdict")), "deny");
}

static void add_running(struct cbx_buf *out, const json_t *decisions)
{
    size_t i, shown = 0;
    const json_t *d;
    enum { SHOWN_MAX = 30 };
    json_array_foreach((json_t *)(uintptr_t)decisions, i, d)
    {
        if (is_running(d) && shown++ < SHOWN_MAX) {
            cbx_buf_add_cstr(out, "<li class=\"row\"><span class=\"tag busy-tag\">runs</span>");
            add_time(out, d);
            cbx_buf_add_cstr(out, "<span class=\"what\">");
            cbx_html_add_member(out, d, "principal");
            cbx_buf_add_cstr(out, "</span>");
            add_dim(out, "", d, "language");
            add_dim(out, "", d, "policy");
            add_dim(out, "session ", d, "session_id");
            cbx_buf_add_cstr(out, "</li>");
        }
    }
    if (shown > SHOWN_MAX) {
        cbx_buf_printf(out, "<li class=\"dim\">and %zu more</li>", shown - SHOWN_MAX);
    }
}

static void add_session(struct cbx_buf *out, const json_t *s)
{
    bool busy = json_is_true(at(s, "busy"));
    cbx_buf_printf(out, "<li class=\"row\"><span class=\"tag %s\">%s</span><span class=\"what\">",
                   busy ? "busy-tag" : "ok-tag", busy ? "busy" : "idle");
    cbx_html_add_member(out, s, "principal");
    cbx_buf_add_cstr(out, "</span>");
    add_dim(out, "session ", s, "session");
    add_dim(out, "", s, "policy");
    cbx_buf_add_cstr(out, "<span class=\"dim\">idle for ");
    cbx_html_add_duration(out, json_integer_value(at(s, "idle_ms")));
    cbx_buf_add_cstr(out, ", open for ");
    cbx_html_add_duration(out, json_integer_value(at(s, "age_ms")));
    cbx_buf_add_cstr(out, "</span></li>");
}

static void add_now(struct cbx_buf *out, const struct cbx_view *view)
{
    enum { SESSIONS_MAX = 50 };
    const json_t *runs = at(view->health, "runs");
    size_t sessions = json_array_size(view->sessions);
    cbx_buf_printf(out,
                   "<section><h2>Now: %lld running, %lld waiting, %zu session%s</h2>"
                   "<ul class=\"rows\">",
                   (long long)json_integer_value(at(runs, "running")),
                   (long long)json_integer_value(at(runs, "waiting")), sessions,
                   sessions == 1 ? "" : "s");
    size_t before = out->len;
    add_running(out, view->decisions);
    for (size_t i = 0; i < sessions && i < SESSIONS_MAX; i++) {
        add_session(out, json_array_get(view->sessions, i));
    }
    if (sessions > SESSIONS_MAX) {
        cbx_buf_printf(out, "<li class=\"dim\">and %zu more</li>", sessions - SESSIONS_MAX);
    }
    cbx_buf_add_cstr(out, out->len == before ? "<li class=\"dim\">Nothing runs.</li>" : "");
    cbx_buf_add_cstr(out, "</ul></section>");
}

/* Adds the refusals of one run. */
static void add_refusals(struct cbx_buf *out, const json_t *d, size_t *shown, size_t max)
{
    size_t i;
    const json_t *b;
    json_array_foreach(at(at(d, "run"), "blocked"), i, b)
    {
        if ((*shown)++ >= max) {
            continue;
        }
        cbx_buf_add_cstr(out, "<li class=\"row\"><span class=\"tag deny\">");
        cbx_html_add_member(out, b, "capability");
        cbx_buf_add_cstr(out, "</span>");
        add_time(out, d);
        cbx_buf_add_cstr(out, "<span class=\"what\"><code>");
        cbx_html_add_member(out, b, "what");
        cbx_buf_printf(out, "</code> %lld\u00D7</span>",
                       (long long)json_integer_value(at(b, "count")));
        add_dim(out, "rule ", b, "rule");
        add_dim(out, "by ", d, "principal");
        cbx_buf_add_cstr(out, "</li>");
    }
}

static void add_blocked(struct cbx_buf *out, const json_t *decisions)
{
    enum { SHOWN_MAX = 20 };
    size_t i, shown = 0;
    const json_t *d;
    cbx_buf_add_cstr(out, "<section><h2>Refused by the guard while programs ran</h2>"
                          "<ul class=\"rows\">");
    json_array_foreach((json_t *)(uintptr_t)decisions, i, d)
    {
        add_refusals(out, d, &shown, SHOWN_MAX);
    }
    if (shown > SHOWN_MAX) {
        cbx_buf_printf(out, "<li class=\"dim\">and %zu more</li>", shown - SHOWN_MAX);
    }
    cbx_buf_add_cstr(out, shown == 0 ? "<li class=\"dim\">Nothing was refused.</li>" : "");
    cbx_buf_add_cstr(out, "</ul></section>");
}

/* --- decisions -------------------------------------------------------------------------------- */

static void add_findings(struct cbx_buf *out, const json_t *d)
{
    enum { SHOWN_MAX = 10 };
    const json_t *findings = at(d, "findings");
    json_int_t count = json_integer_value(at(d, "finding_count"));
    size_t i;
    const json_t *f;
    cbx_buf_add_cstr(out, "<ul class=\"findings\">");
    json_array_foreach((json_t *)(uintptr_t)findings, i, f)
    {
        if (i == SHOWN_MAX) {
            break;
        }
        cbx_buf_printf(out, "<li>line %lld, <code>", (long long)json_integer_value(at(f, "line")));
        cbx_html_add_member(out, f, "rule");
        bool would = json_string_length(at(f, "would")) > 0;
        cbx_buf_add_cstr(out, would ? "</code> (would " : "</code> (");
        cbx_html_add_member(out, f, would ? "would" : "effect");
        cbx_buf_add_cstr(out, "): ");
        cbx_html_add_member(out, f, "message");
        cbx_buf_add_cstr(out, " <span class=\"dim\">");
        cbx_html_add_member(out, f, "hint");
        cbx_buf_add_cstr(out, "</span></li>");
    }
    if (count > (json_int_t)i) {
        cbx_buf_printf(out, "<li class=\"dim\">and %lld more</li>",
                       (long long)(count - (json_int_t)i));
    }
    cbx_buf_add_cstr(out, "</ul>");
}

/* Adds the end of the run, and the outcome of a question. */
static void add_end(struct cbx_buf *out, const json_t *d)
{
    const json_t *run = at(d, "run"), *approval = at(d, "approval");
    if (run != NULL) {
        bool ok = cbx_str_is(cbx_json_str(at(run, "outcome")), "ok");
        cbx_buf_printf(out, "<span class=\"tag %s\">", ok ? "ok-tag" : "failed");
        cbx_html_add_member(out, run, "outcome");
        cbx_buf_add_cstr(out, "</span><span class=\"dim\">");
        cbx_html_add_duration(out, json_integer_value(at(run, "duration_ms")));
        cbx_buf_add_cstr(out, "</span>");
    }
    if (approval != NULL) {
        cbx_buf_add_cstr(out, "<span class=\"tag waiting\">");
        cbx_html_add_member(out, approval, "state");
        cbx_buf_add_cstr(out, "</span>");
        add_dim(out, "by ", approval, "by");
    }
}

/* Adds the text of the first finding, or the beginning of the code. */
static void add_what(struct cbx_buf *out, const json_t *d)
{
    enum { CODE_BYTES = 80 };
    const json_t *first = json_array_get(at(d, "findings"), 0);
    struct cbx_str code = cbx_json_str(at(d, "code"));
    cbx_html_add_member(out, d, "principal");
    if (first != NULL) {
        cbx_buf_add_cstr(out, " \u00B7 <code>");
        cbx_html_add_member(out, first, "rule");
        cbx_buf_add_cstr(out, "</code> ");
        cbx_html_add_member(out, first, "message");
    } else if (code.len > 0) {
        size_t end = code.len < CODE_BYTES ? code.len : CODE_BYTES;
        while (end > 0 && end < code.len && ((unsigned char)code.p[end] & 0xC0) == 0x80) {
            end--;
        }
        cbx_buf_add_cstr(out, " \u00B7 <code class=\"dim\">");
        cbx_html_add(out, cbx_str_sub(code, 0, end));
        cbx_buf_add_cstr(out, end < code.len ? "\u2026</code>" : "</code>");
    }
}

static void add_decision(struct cbx_buf *out, const json_t *d, bool open)
{
    struct cbx_str verdict = cbx_json_str(at(d, "verdict"));
    cbx_buf_add_cstr(out, "<details id=\"d-");
    cbx_html_add_member(out, d, "id");
    cbx_buf_add_cstr(out, open ? "\" open" : "\"");
    cbx_buf_add_cstr(out, "><summary><span class=\"tag ");
    cbx_html_add(out, verdict);
    cbx_buf_add_cstr(out, "\">");
    cbx_html_add(out, verdict);
    cbx_buf_add_cstr(out, "</span>");
    if (json_string_length(at(d, "mode")) > 0) {
        cbx_buf_add_cstr(out, "<span class=\"tag waiting\">");
        cbx_html_add_member(out, d, "mode");
        cbx_buf_add_cstr(out, "</span>");
    }
    add_time(out, d);
    cbx_buf_add_cstr(out, "<span class=\"what\">");
    add_what(out, d);
    cbx_buf_add_cstr(out, "</span>");
    add_dim(out, "", d, "language");
    add_dim(out, "", d, "action");
    add_end(out, d);
    cbx_buf_add_cstr(out, "</summary><p class=\"note\">");
    add_dim(out, "decision ", d, "id");
    add_dim(out, " \u00B7 policy ", d, "policy");
    add_dim(out, " \u00B7 by ", d, "origin");
    add_dim(out, " \u00B7 session ", d, "session_id");
    cbx_buf_printf(out, " \u00B7 audit record %lld</p>",
                   (long long)json_integer_value(at(d, "audit_seq")));
    struct cbx_str code = cbx_json_str(at(d, "code"));
    if (code.len > 0) {
        cbx_buf_add_cstr(out, "<pre>");
        cbx_html_excerpt(out, code, at(d, "findings"));
        cbx_buf_add_cstr(out, "</pre>");
    }
    add_findings(out, d);
    cbx_buf_add_cstr(out, "</details>\n");
}

static void add_decisions(struct cbx_buf *out, const struct cbx_view *view)
{
    size_t i;
    const json_t *d;
    bool opened = false;
    cbx_buf_add_cstr(out, "<section><h2>Recent decisions</h2>");
    json_array_foreach(view->recent, i, d)
    {
        bool refused = !opened && !cbx_str_is(cbx_json_str(at(d, "verdict")), "allow");
        add_decision(out, d, refused); /* the newest that was not allowed is open */
        opened |= refused;
    }
    cbx_buf_add_cstr(out, json_array_size(view->recent) == 0
                              ? "<p class=\"dim\">None since the gateway was started.</p>"
                              : "");
    cbx_buf_printf(
        out,
        "<p class=\"note\">The last %zu of %zu that are in memory. All of them are in the "
        "audit log.</p></section>",
        json_array_size(view->recent), json_array_size(view->decisions));
}

void cbx_view_write(const struct cbx_view *view, struct cbx_buf *out)
{
    open_document(out, view->principal, view->may_log_out);
    cbx_buf_add_cstr(out, "<main data-live><div class=\"grid\">");
    add_health(out, view);
    cbx_buf_add_cstr(out, "<section><h2>Sandboxes</h2>");
    cbx_chart_pool(out, at(view->health, "pool"));
    cbx_buf_add_cstr(out, "</section><section><h2>Durations of runs</h2>");
    cbx_chart_runs(out, view->decisions);
    cbx_buf_add_cstr(out, "</section><section><h2>Verdicts</h2>");
    cbx_chart_verdicts(out, view->decisions);
    cbx_buf_add_cstr(out, "</section></div>");
    add_now(out, view);
    add_blocked(out, view->decisions);
    add_decisions(out, view);
    close_document(out);
}
