/* SPDX-License-Identifier: MIT
 * The page: its authorisation. */
#include "gateway/front/page/page.h"

#include "gateway/front/access.h"
#include "gateway/front/page/logins.h"
#include "gateway/front/page/view.h"
#include "policies/base/log.h"
#include "policies/base/time/clock.h"

/* Permits only the gateway's own style and script, which are files, so that no inline code is
 * ever run; forms go only to the gateway; no page may frame it. */
static const char security[] =
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

static const char html[] = "text/html; charset=utf-8";

/* With HTTPS the name itself makes browsers refuse a cookie that another host or an insecure
 * page set. */
static const char *cookie_name(const struct cbx_page *page)
{
    return page->is_https ? "__Host-codebox" : "codebox";
}

/* Takes the buffer's bytes; no part of a document that does not fit. */
static void answer(int status, const char *type, struct cbx_buf *body,
                   struct cbx_http_response *out)
{
    if (body->overflow) {
        cbx_log(CBX_LOG_WARNING, "the page has more than %d bytes", CBX_VIEW_BYTES_MAX);
        cbx_buf_reset(body);
        status = 500;
    }
    out->status = status;
    out->type = type;
    out->security = security;
    out->bytes_len = body->len;
    out->bytes = cbx_buf_take(body);
}

static void answer_text(const char *type, const char *text, struct cbx_http_response *out)
{
    struct cbx_buf body;
    cbx_buf_init(&body, CBX_VIEW_BYTES_MAX);
    cbx_buf_add_cstr(&body, text);
    answer(200, type, &body, out);
}

/* No header WWW-Authenticate: a browser would ask for a password. */
static void ask_for_token(int status, const char *text, struct cbx_http_response *out)
{
    struct cbx_buf body;
    cbx_buf_init(&body, CBX_VIEW_BYTES_MAX);
    cbx_view_write_login(text, &body);
    answer(status, html, &body, out);
}

/* --- who ------------------------------------------------------------------------------------ */

/* Finds the caller by a header Authorization, or by the cookie (*by_cookie). False: the response
 * is made. */
static bool find_caller(const struct cbx_page *page, const struct cbx_http_request *request,
                        struct cbx_caller *caller, bool *by_cookie, struct cbx_http_response *out)
{
    char header[CBX_LOGIN_TOKEN_MAX + 16] = "";
    struct cbx_credentials credentials = { .authorization = request->authorization,
                                           .has_peer = request->has_peer,
                                           .peer = request->peer };
    struct cbx_auth_refusal refusal = { 0 };
    int64_t now = cbx_clock_ms();
    *by_cookie =
        request->authorization.p == NULL &&
        cbx_logins_find(page->logins, cbx_logins_cookie(request->cookie, cookie_name(page)), now,
                        header);
    if (*by_cookie) {
        credentials.authorization = cbx_str_of(header);
    }
    bool known = cbx_identity_authenticate(page->identity, &credentials, now, caller, &refusal);
    explicit_bzero(header, sizeof(header));
    if (!known) {
        bool shown = credentials.authorization.p != NULL;
        ask_for_token(refusal.status, shown ? refusal.text : NULL, out);
        out->retry_s = refusal.retry_s;
    }
    return known;
}

static void show(const struct cbx_page *page, const struct cbx_http_request *request,
                 struct cbx_http_response *out)
{
    struct cbx_caller caller = { 0 };
    struct cbx_buf body;
    bool by_cookie;
    if (!find_caller(page, request, &caller, &by_cookie, out)) {
        return;
    }
    cbx_buf_init(&body, CBX_VIEW_BYTES_MAX);
    bool may = cbx_caller_may(&caller, CBX_RIGHT_AUDIT_READ);
    if (may) {
        CBX_AUTO_DONE(view) view = { 0 };
        cbx_view_read(page->service, caller.principal, &view);
        view.may_log_out = by_cookie;
        cbx_view_write(&view, &body);
    } else {
        CBX_AUTO_DONE(buf) text;
        cbx_buf_init(&text, 512);
        cbx_buf_printf(&text, "Principal '%s' lacks the right 'audit:read', which this page needs.",
                       caller.principal);
        cbx_view_write_refusal(text.p, by_cookie, &body);
    }
    answer(may ? 200 : 403, html, &body, out);
}

/* --- the login ------------------------------------------------------------------------------ */

/* Reads the value of `token` in a form. Tokens need no %-encoding; copied spaces and line ends
 * appear as '+' and "%0D%0A" at its ends, and are not part of the token. Empty for any other
 * form. */
static struct cbx_str read_form(struct cbx_str body)
{
    struct cbx_str field = CBX_STR("token="), token;
    if (!cbx_str_starts(body, field)) {
        return CBX_STR("");
    }
    token = cbx_str_sub(body, field.len, body.len);
    while (token.len > 0 && token.p[0] == '+') {
        token = cbx_str_sub(token, 1, token.len);
    }
    while (token.len > 0 && token.p[token.len - 1] == '+') {
        token.len--;
    }
    for (size_t i = 0; i < token.len; i++) {
        char c = token.p[i], low = (char)(c | 32);
        if (!((low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') ||
              (c != '\0' && strchr("-._~", c) != NULL))) {
            return CBX_STR("");
        }
    }
    return token;
}

static void note(const struct cbx_page *page, const struct cbx_http_request *request,
                 enum cbx_access what, const struct cbx_caller *caller, const char *reason)
{
    struct cbx_claims claims = { 0 };
    const struct cbx_access_entry entry = { .principal = caller != NULL ? caller->principal : NULL,
                                            .reason = reason };
    cbx_claims_read_http(request, &claims);
    if (caller != NULL) {
        cbx_claims_prove(caller, &claims);
    }
    cbx_access_note(page->service->flow, what, &entry, &claims);
}

static void log_in(const struct cbx_page *page, const struct cbx_http_request *request,
                   struct cbx_http_response *out)
{
    static const struct cbx_str type = CBX_STR("application/x-www-form-urlencoded");
    char value[CBX_LOGIN_CHARS + 1];
    struct cbx_caller caller = { 0 };
    struct cbx_auth_refusal refusal = { 0 };
    struct cbx_str token =
        cbx_str_starts(request->content_type, type) ? read_form(request->body) : CBX_STR("");
    CBX_AUTO_DONE(buf) header;
    cbx_buf_init(&header, CBX_LOGIN_TOKEN_MAX + 16);
    cbx_buf_add_cstr(&header, "Bearer ");
    cbx_buf_add(&header, token);
    struct cbx_credentials credentials = { .authorization = cbx_buf_str(&header) };
    int64_t now = cbx_clock_ms();
    if (page->identity != NULL &&
        !cbx_identity_authenticate(page->identity, &credentials, now, &caller, &refusal)) {
        note(page, request, CBX_ACCESS_REFUSED_CREDENTIAL, NULL, refusal.text);
        ask_for_token(refusal.status, refusal.text, out);
        out->retry_s = refusal.retry_s;
        return;
    }
    out->status = 303;
    out->location = "/";
    out->security = security;
    if (page->identity != NULL && cbx_logins_add(page->logins, token, now, value)) {
        snprintf(out->cookie, sizeof(out->cookie),
                 "%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict%s", cookie_name(page), value,
                 CBX_LOGIN_S, page->is_https ? "; Secure" : "");
        cbx_log(CBX_LOG_INFO, "principal '%s' (%s) logged in to the page", caller.principal,
                caller.credential);
        note(page, request, CBX_ACCESS_LOGIN, &caller, NULL);
    }
    explicit_bzero(header.p, header.len);
}

/* The browser drops its cookie, and the gateway the login. */
static void log_out(const struct cbx_page *page, const struct cbx_http_request *request,
                    struct cbx_http_response *out)
{
    char header[CBX_LOGIN_TOKEN_MAX + 16];
    struct cbx_caller caller = { 0 };
    if (page->identity != NULL &&
        cbx_logins_find(page->logins, cbx_logins_cookie(request->cookie, cookie_name(page)),
                        cbx_clock_ms(), header)) {
        cbx_identity_prove(page->identity, cbx_str_of(header), &caller, NULL);
        note(page, request, CBX_ACCESS_LOGOUT, &caller, NULL);
        explicit_bzero(header, sizeof(header));
    }
    cbx_logins_remove(page->logins, cbx_logins_cookie(request->cookie, cookie_name(page)));
    out->status = 303;
    out->location = "/";
    out->security = security;
    snprintf(out->cookie, sizeof(out->cookie),
             "%s=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict%s", cookie_name(page),
             page->is_https ? "; Secure" : "");
}

bool cbx_page_handle(const struct cbx_page *page, const struct cbx_http_request *request,
                     struct cbx_http_response *out)
{
    bool is_get = cbx_str_is(request->method, "GET");
    if (is_get && cbx_str_is(request->path, "/page.css")) {
        answer_text("text/css; charset=utf-8", cbx_view_style(), out);
    } else if (is_get && cbx_str_is(request->path, "/page.js")) {
        answer_text("text/javascript; charset=utf-8", cbx_view_script(), out);
    } else if (is_get && cbx_str_is(request->path, "/")) {
        show(page, request, out);
    } else if (cbx_str_is(request->method, "POST") && cbx_str_is(request->path, "/login")) {
        log_in(page, request, out);
    } else if (cbx_str_is(request->method, "POST") && cbx_str_is(request->path, "/logout")) {
        log_out(page, request, out);
    } else {
        return false;
    }
    return true;
}
