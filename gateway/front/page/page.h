/* SPDX-License-Identifier: MIT
 * The page for people at GET /: what runs, what was judged, what the guard refused, and how the gateway is. It is
 * read-only and needs the right audit:read. A browser gets in by POST /login, whose cookie is good for the page alone:
 * the API does not look at it, so a page of another origin cannot make a browser call the API. */
#ifndef CBX_GATEWAY_FRONT_PAGE_PAGE_H
#define CBX_GATEWAY_FRONT_PAGE_PAGE_H

#include "gateway/front/http/http_server.h"
#include "gateway/front/service/service.h"
#include "gateway/identity/identity.h"

struct cbx_logins;

/* All borrowed. `identity` NULL: everybody is the local caller, and there is no login. */
struct cbx_page {
    struct cbx_service *service;
    struct cbx_identity *identity;
    struct cbx_logins *logins;
    bool is_https; /* browsers reach the gateway by HTTPS: the cookie is for that alone */
};

/* Answers a request for the page, its style and script, and the login, with who may see them. False for any other path: nothing
 * is done. */
bool cbx_page_handle(const struct cbx_page *page, const struct cbx_http_request *request,
                     struct cbx_http_response *out);

#endif
