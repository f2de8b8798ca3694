/* SPDX-License-Identifier: MIT
 * The routes. */
#include "gateway/front/rest/rest.h"

#include "gateway/front/access.h"
#include "gateway/identity/caller.h"

#include <stdio.h>

struct route {
    const char *method, *path;
    void (*handle)(struct cbx_rest_call *);
    bool legacy;
    enum cbx_right right;
};

static const struct route routes[] = {
#define CBX_ROUTE(method, path, handler, legacy, right, ...)                                       \
    { method, path, cbx_rest_##handler, legacy, CBX_RIGHT_##right },
#include "gateway/front/rest/routes.def"
#undef CBX_ROUTE
};
enum { ROUTES = sizeof(routes) / sizeof(routes[0]) };

/* --- routing ---------------------------------------------------------------------------------- */

/* Takes {id} and {path} of the pattern from the path. An id is one of the gateway's, or the name
 * of a policy: letters, digits, '-', '.' and '_'. */
static bool match_path(const char *pattern, struct cbx_str path, char id[64], struct cbx_str *rest)
{
    size_t at = 0, len = 0;
    id[0] = '\0';
    *rest = (struct cbx_str){ 0 };
    while (*pattern != '\0') {
        if (strcmp(pattern, "{path}") == 0) {
            *rest = cbx_str_sub(path, at, path.len);
            return true;
        }
        if (strncmp(pattern, "{id}", 4) == 0) {
            for (; at < path.len && path.p[at] != '/'; at++) {
                char c = path.p[at], low = (char)(c | 32);
                if (len == 63 || !((low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') ||
                                   strchr("-._", c) != NULL)) {
                    return false;
                }
                id[len++] = c;
            }
            id[len] = '\0';
            pattern += 4;
            if (len == 0) {
                return false;
            }
            continue;
        }
        if (at == path.len) {
            /* A folder may be named without its final slash. */
            return strcmp(pattern, "/{path}") == 0;
        }
        if (path.p[at++] != *pattern++) {
            return false;
        }
    }
    return at == path.len;
}

const char *cbx_rest_route(struct cbx_str path)
{
    char id[64];
    struct cbx_str rest;
    for (size_t i = 0; i < ROUTES; i++) {
        if (match_path(routes[i].path, path, id, &rest)) {
            return routes[i].path;
        }
    }
    return cbx_str_is(path, "/mcp") ? "/mcp" : "other";
}

/* Names the methods of every route that has this path. */
static void refuse_method(struct cbx_rest_call *call, struct cbx_str path)
{
    struct cbx_err err;
    char methods[64] = "";
    for (size_t i = 0; i < ROUTES; i++) {
        size_t used = strlen(methods);
        if (match_path(routes[i].path, path, call->id, &call->rest_path)) {
            snprintf(methods + used, sizeof(methods) - used, "%s%s", used > 0 ? ", " : "",
                     routes[i].method);
        }
    }
    cbx_fail(&err, CBX_EINVAL, "%.*s takes %s, not %.*s", CBX_STR_SHOWN(path), methods,
             CBX_STR_SHOWN(call->request->method));
    snprintf(call->response->allow, sizeof(call->response->allow), "%s", methods);
    cbx_rest_fail(call, 405, &err);
}

/* No part of a request is read before its caller is authorised. */
static void serve(struct cbx_rest_call *call, const struct route *route)
{
    const struct cbx_caller *caller = call->request->caller;
    cbx_claims_read_http(call->request, &call->claims);
    cbx_claims_prove(caller, &call->claims);
    if (route->right != CBX_RIGHT_PUBLIC && !cbx_caller_may(caller, route->right)) {
        struct cbx_err err;
        cbx_fail(&err, CBX_EFORBIDDEN, "principal '%s' lacks the right '%s', which this needs",
                 caller->principal, cbx_right_name(route->right));
        cbx_access_note(
            call->service->flow, CBX_ACCESS_REFUSED_RIGHT,
            &(struct cbx_access_entry){ .principal = caller->principal, .reason = err.text },
            &call->claims);
        cbx_rest_fail(call, 403, &err);
        return;
    }
    route->handle(call);
    json_decref(call->body);
}

bool cbx_rest_is_public(struct cbx_str method, struct cbx_str path)
{
    char id[64];
    struct cbx_str rest;
    for (size_t i = 0; i < ROUTES; i++) {
        if (routes[i].right == CBX_RIGHT_PUBLIC && cbx_str_is(method, routes[i].method) &&
            match_path(routes[i].path, path, id, &rest)) {
            return true;
        }
    }
    return false;
}

void cbx_rest_handle(void *context, const struct cbx_http_request *request,
                     struct cbx_http_response *out)
{
    struct cbx_rest_call call = { .service = context, .request = request, .response = out };
    bool known = false;
    for (size_t i = 0; i < ROUTES; i++) {
        if (!match_path(routes[i].path, request->path, call.id, &call.rest_path)) {
            continue;
        }
        call.legacy = routes[i].legacy;
        if (cbx_str_is(request->method, routes[i].method)) {
            serve(&call, &routes[i]);
            return;
        }
        known = true;
    }
    struct cbx_err err;
    if (known) {
        refuse_method(&call, request->path);
        return;
    }
    cbx_fail(&err, CBX_ENOTFOUND, "nothing is at %.*s", CBX_STR_SHOWN(request->path));
    cbx_rest_fail(&call, 404, &err);
}
