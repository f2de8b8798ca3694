/* SPDX-License-Identifier: MIT
 * The HTML of the page. */
#include "gateway/front/page/view.h"

#include "gateway/front/dialect.h"
#include "gateway/front/executor_client.h"
#include "gateway/front/page/charts.h"
#include "gateway/front/page/excerpt.h"
#include "gateway/front/service/decisions.h"
#include "policies/base/text/html.h"
#include "policies/base/time/clock.h"
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
    cbx_html_add(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>codebox</title>"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
        "<link rel=\"stylesheet\" href=\"/page.css\"><script src=\"/page.js\" defer></script>"
        "</head><body><header><h1>codebox</h1><span>" CBX_VERSION "%s%s</span>",
        principal != NULL ? " \u00B7 shown to " : "", principal != NULL ? principal : "");
    if (may_log_out) {
        cbx_html_add(out, "<form class=\"logout\" method=\"post\" action=\"/logout\">"
                          "<button>Log out</button></form>");
    }
    cbx_html_add(out, "</header>");
}

static void close_document(struct cbx_buf *out)
{
    cbx_html_add(out, "</main></body></html>\n");
}

void cbx_view_write_login(const char *text, struct cbx_buf *out)
{
    open_document(out, NULL, false);
    cbx_html_add(out, "<main><section><h2>Log in</h2>");
    if (text != NULL) {
        cbx_html_add(out, "<p class=\"failing\" role=\"alert\"><b>%s</b></p>", text);
    }
    cbx_html_add(out, "<form method=\"post\" action=\"/login\"><label for=\"token\">A token of a "
                      "principal with the right audit:read</label><input id=\"token\" "
                      "name=\"token\" type=\"password\" autocomplete=\"off\" required autofocus>"
                      "<button>Show the page</button></form></section>");
    close_document(out);
}

void cbx_view_write_refusal(const char *text, bool may_log_out, struct cbx_buf *out)
{
    open_document(out, NULL, may_log_out);
    cbx_html_add(out, "<main><section><p>%s</p></section>", text);
    close_document(out);
}

/* --- parts ------------------------------------------------------------------------------------ */

static const json_t *at(const json_t *object, const char *name)
{
    return json_object_get(object, name);
}

static long long number(const json_t *object, const char *name)
{
    return json_integer_value(at(object, name));
}

static void add_part(struct cbx_buf *out, const char *name, bool ok, struct cbx_str text)
{
    const char *state = ok ? "ok" : "failing";
    cbx_html_add(out, "<li class=\"%s\"><b>%s</b><span>%s%s%.*s</span></li>", state, name, state,
                 text.len > 0 ? " \u00B7 " : "", CBX_STR_ARG(text));
}

static void add_health(struct cbx_buf *out, const struct cbx_view *view)
{
    const json_t *health = view->health;
    cbx_html_add(out, "<section><h2>Health</h2><ul class=\"health\">");
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
    cbx_html_add(out, "</ul></section>");
}

/* Adds "12:03:44", with the complete time in a title. */
static void add_time(struct cbx_buf *out, const json_t *decision)
{
    struct cbx_str time = cbx_json_str(at(decision, "created_at"));
    cbx_html_add(out, "<time datetime=\"%.*sZ\" title=\"%.*s UTC\">%.*s</time>", CBX_STR_ARG(time),
                 CBX_STR_ARG(time), CBX_STR_ARG(cbx_str_sub(time, 11, 19)));
}

/* Adds a text of the decision, dim, unless it is empty. */
static void add_dim(struct cbx_buf *out, const char *before, const json_t *object, const char *name)
{
    if (json_string_length(at(object, name)) > 0) {
        cbx_html_add(out, "<span class=\"dim\">%s%.*s</span>", before, CBX_JSON_ARG(object, name));
    }
}

static void add_more(struct cbx_buf *out, size_t count, size_t shown)
{
    if (count > shown) {
        cbx_html_add(out, "<li class=\"dim\">and %zu more</li>", count - shown);
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
            cbx_html_add(out, "<li class=\"row\"><span class=\"tag busy-tag\">runs</span>");
            add_time(out, d);
            cbx_html_add(out, "<span class=\"what\">%.*s</span>", CBX_JSON_ARG(d, "principal"));
            add_dim(out, "", d, "language");
            add_dim(out, "", d, "policy");
            add_dim(out, "session ", d, "session_id");
            cbx_html_add(out, "</li>");
        }
    }
    add_more(out, shown, SHOWN_MAX);
}

static void add_session(struct cbx_buf *out, const json_t *s)
{
    bool busy = json_is_true(at(s, "busy"));
    cbx_html_add(out,
                 "<li class=\"row\"><span class=\"tag %s\">%s</span><span class=\"what\">%.*s"
                 "</span>",
                 busy ? "busy-tag" : "ok-tag", busy ? "busy" : "idle",
                 CBX_JSON_ARG(s, "principal"));
    add_dim(out, "session ", s, "session");
    add_dim(out, "", s, "policy");
    cbx_html_add(out, "<span class=\"dim\">idle for %s, open for %s</span></li>",
                 CBX_DURATION(number(s, "idle_ms")), CBX_DURATION(number(s, "age_ms")));
}

static void add_now(struct cbx_buf *out, const struct cbx_view *view)
{
    enum { SESSIONS_MAX = 50 };
    const json_t *runs = at(view->health, "runs");
    size_t sessions = json_array_size(view->sessions);
    cbx_html_add(out,
                 "<section><h2>Now: %lld running, %lld waiting, %zu session%s</h2>"
                 "<ul class=\"rows\">",
                 number(runs, "running"), number(runs, "waiting"), sessions,
                 sessions == 1 ? "" : "s");
    size_t before = out->len;
    add_running(out, view->decisions);
    for (size_t i = 0; i < sessions && i < SESSIONS_MAX; i++) {
        add_session(out, json_array_get(view->sessions, i));
    }
    add_more(out, sessions, SESSIONS_MAX);
    cbx_html_add(out, out->len == before ? "<li class=\"dim\">Nothing runs.</li>" : "");
    cbx_html_add(out, "</ul></section>");
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
        cbx_html_add(out, "<li class=\"row\"><span class=\"tag deny\">%.*s</span>",
                     CBX_JSON_ARG(b, "capability"));
        add_time(out, d);
        cbx_html_add(out, "<span class=\"what\"><code>%.*s</code> %lld\u00D7</span>",
                     CBX_JSON_ARG(b, "what"), number(b, "count"));
        add_dim(out, "rule ", b, "rule");
        add_dim(out, "by ", d, "principal");
        cbx_html_add(out, "</li>");
    }
}

static void add_blocked(struct cbx_buf *out, const json_t *decisions)
{
    enum { SHOWN_MAX = 20 };
    size_t i, shown = 0;
    const json_t *d;
    cbx_html_add(out, "<section><h2>Refused by the guard while programs ran</h2>"
                      "<ul class=\"rows\">");
    json_array_foreach((json_t *)(uintptr_t)decisions, i, d)
    {
        add_refusals(out, d, &shown, SHOWN_MAX);
    }
    add_more(out, shown, SHOWN_MAX);
    cbx_html_add(out, shown == 0 ? "<li class=\"dim\">Nothing was refused.</li>" : "");
    cbx_html_add(out, "</ul></section>");
}

/* --- decisions -------------------------------------------------------------------------------- */

static void add_finding(struct cbx_buf *out, const json_t *f)
{
    bool would = json_string_length(at(f, "would")) > 0;
    cbx_html_add(out,
                 "<li>line %lld, <code>%.*s</code> (%s%.*s): %.*s <span class=\"dim\">%.*s</span>"
                 "</li>",
                 number(f, "line"), CBX_JSON_ARG(f, "rule"), would ? "would " : "",
                 CBX_JSON_ARG(f, would ? "would" : "effect"), CBX_JSON_ARG(f, "message"),
                 CBX_JSON_ARG(f, "hint"));
}

static void add_findings(struct cbx_buf *out, const json_t *d)
{
    enum { SHOWN_MAX = 10 };
    const json_t *findings = at(d, "findings");
    size_t i = 0, count = (size_t)number(d, "finding_count");
    cbx_html_add(out, "<ul class=\"findings\">");
    for (; i < json_array_size(findings) && i < SHOWN_MAX; i++) {
        add_finding(out, json_array_get(findings, i));
    }
    add_more(out, count, i);
    cbx_html_add(out, "</ul>");
}

/* Adds the end of the run, and the outcome of a question. */
static void add_end(struct cbx_buf *out, const json_t *d)
{
    const json_t *run = at(d, "run"), *approval = at(d, "approval");
    if (run != NULL) {
        bool ok = cbx_str_is(cbx_json_str(at(run, "outcome")), "ok");
        cbx_html_add(out, "<span class=\"tag %s\">%.*s</span><span class=\"dim\">%s</span>",
                     ok ? "ok-tag" : "failed", CBX_JSON_ARG(run, "outcome"),
                     CBX_DURATION(number(run, "duration_ms")));
    }
    if (approval != NULL) {
        cbx_html_add(out, "<span class=\"tag waiting\">%.*s</span>",
                     CBX_JSON_ARG(approval, "state"));
        add_dim(out, "by ", approval, "by");
    }
}

/* Adds the text of the first finding, or the beginning of the code. */
static void add_what(struct cbx_buf *out, const json_t *d)
{
    enum { CODE_BYTES = 80 };
    const json_t *first = json_array_get(at(d, "findings"), 0);
    struct cbx_str code = cbx_json_str(at(d, "code"));
    cbx_html_add(out, "<span class=\"what\">%.*s", CBX_JSON_ARG(d, "principal"));
    if (first != NULL) {
        cbx_html_add(out, " \u00B7 <code>%.*s</code> %.*s", CBX_JSON_ARG(first, "rule"),
                     CBX_JSON_ARG(first, "message"));
    } else if (code.len > 0) {
        cbx_html_add(out, " \u00B7 <code class=\"dim\">%.*s%s</code>",
                     CBX_STR_ARG(cbx_str_cut(code, CODE_BYTES)),
                     code.len > CODE_BYTES ? "\u2026" : "");
    }
    cbx_html_add(out, "</span>");
}

static void add_decision(struct cbx_buf *out, const json_t *d, bool open)
{
    struct cbx_str code = cbx_json_str(at(d, "code"));
    cbx_html_add(out, "<details id=\"d-%.*s\"%s><summary><span class=\"tag %.*s\">%.*s</span>",
                 CBX_JSON_ARG(d, "id"), open ? " open" : "", CBX_JSON_ARG(d, "verdict"),
                 CBX_JSON_ARG(d, "verdict"));
    if (json_string_length(at(d, "mode")) > 0) {
        cbx_html_add(out, "<span class=\"tag waiting\">%.*s</span>", CBX_JSON_ARG(d, "mode"));
    }
    add_time(out, d);
    add_what(out, d);
    add_dim(out, "", d, "language");
    add_dim(out, "", d, "action");
    add_end(out, d);
    cbx_html_add(out, "</summary><p class=\"note\">");
    add_dim(out, "decision ", d, "id");
    add_dim(out, " \u00B7 policy ", d, "policy");
    add_dim(out, " \u00B7 by ", d, "origin");
    add_dim(out, " \u00B7 session ", d, "session_id");
    cbx_html_add(out, " \u00B7 audit record %lld</p>", number(d, "audit_seq"));
    if (code.len > 0) {
        cbx_html_add(out, "<pre>");
        cbx_excerpt_add(out, code, at(d, "findings"));
        cbx_html_add(out, "</pre>");
    }
    add_findings(out, d);
    cbx_html_add(out, "</details>\n");
}

static void add_decisions(struct cbx_buf *out, const struct cbx_view *view)
{
    size_t i;
    const json_t *d;
    bool opened = false;
    cbx_html_add(out, "<section><h2>Recent decisions</h2>");
    json_array_foreach(view->recent, i, d)
    {
        bool refused = !opened && !cbx_str_is(cbx_json_str(at(d, "verdict")), "allow");
        add_decision(out, d, refused); /* the newest that was not allowed is open */
        opened |= refused;
    }
    if (json_array_size(view->recent) == 0) {
        cbx_html_add(out, "<p class=\"dim\">None since the gateway was started.</p>");
    }
    cbx_html_add(out,
                 "<p class=\"note\">The last %zu of %zu that are in memory. All of them are in the "
                 "audit log.</p></section>",
                 json_array_size(view->recent), json_array_size(view->decisions));
}

void cbx_view_write(const struct cbx_view *view, struct cbx_buf *out)
{
    open_document(out, view->principal, view->may_log_out);
    cbx_html_add(out, "<main data-live><div class=\"grid\">");
    add_health(out, view);
    cbx_html_add(out, "<section><h2>Sandboxes</h2>");
    cbx_chart_pool(out, at(view->health, "pool"));
    cbx_html_add(out, "</section><section><h2>Durations of runs</h2>");
    cbx_chart_runs(out, view->decisions);
    cbx_html_add(out, "</section><section><h2>Verdicts</h2>");
    cbx_chart_verdicts(out, view->decisions);
    cbx_html_add(out, "</section></div>");
    add_now(out, view);
    add_blocked(out, view->decisions);
    add_decisions(out, view);
    close_document(out);
}
