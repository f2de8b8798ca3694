/* SPDX-License-Identifier: MIT
 * The page for people at GET /: running programs, decisions, the guard's refusals, and the
 * health of the gateway. It is read-only and needs the right audit:read. A browser logs in by
 * POST /login, whose cookie is valid for the page alone: the API ignores it, so a page of
 * another origin cannot make a browser call the API. */
#ifndef CBX_GATEWAY_FRONT_PAGE_PAGE_H
#define CBX_GATEWAY_FRONT_PAGE_PAGE_H

#include "gateway/front/http/http_server.h"
#include "gateway/front/service/service.h"
#include "gateway/identity/identity.h"

struct cbx_logins;

/* All borrowed. `identity` NULL: every client is the local caller, and there is no login. */
struct cbx_page {
    struct cbx_service *service;
    struct cbx_identity *identity;
    struct cbx_logins *logins;
    /* true if browsers reach the gateway by HTTPS: the cookie is limited to HTTPS */
    bool is_https;
};

/* Handles a request for the page, its style and script, and the login, with authorisation. False
 * for any other path: no effect. */
bool cbx_page_handle(const struct cbx_page *page, const struct cbx_http_request *request,
                     struct cbx_http_response *out);

#endif
