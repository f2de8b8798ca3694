/* SPDX-License-Identifier: MIT
 * The REST API: routes, problem documents, and functions shared by its resources. */
#ifndef CBX_GATEWAY_FRONT_REST_REST_H
#define CBX_GATEWAY_FRONT_REST_REST_H

#include "gateway/front/claims.h"
#include "gateway/front/http/http_server.h"
#include "gateway/front/service/service.h"

enum { CBX_REST_PATH_MAX = CBX_PATH_MAX + 1 };

/* Handles a request with a known caller; the context is a struct cbx_service. */
void cbx_rest_handle(void *context, const struct cbx_http_request *request,
                     struct cbx_http_response *out);

/* True for a route that needs no authentication. */
bool cbx_rest_is_public(struct cbx_str method, struct cbx_str path);

/* For struct cbx_http_config: makes the problem document of a request that reaches no handler. */
void cbx_rest_refuse(int status, const char *detail, struct cbx_http_response *out);

/* Returns the pattern of a path's route ("/v1/sessions/{id}"), "other" for none: a label with a
 * bounded number of values. */
const char *cbx_rest_route(struct cbx_str path);

/* Returns the largest body that any policy's source limit can need, JSON escapes included. */
size_t cbx_rest_body_max(const struct cbx_policies *policies);

/* One request in a handler. */
struct cbx_rest_call {
    struct cbx_service *service;
    const struct cbx_http_request *request;
    struct cbx_claims claims; /* claims of its caller, for the audit log */
    char id[64];              /* {id} of the path, or empty */
    struct cbx_str rest_path; /* {path}: the rest, as sent */
    bool legacy;
    json_t *body; /* parsed by cbx_rest_body or cbx_rest_query; owned by the call */
    struct cbx_http_response *response;
};

/* Returns the principal of the request. */
const char *cbx_rest_principal(const struct cbx_rest_call *call);

/* Finds the policy of a request for `asked` (empty = the caller's first), borrowed. False if the
 * response is made. */
bool cbx_rest_policy(struct cbx_rest_call *call, struct cbx_str asked, struct cbx_str *out);

/* Responds with a problem document (RFC 9457). The status follows from the code unless it is
 * given (0). */
void cbx_rest_fail(struct cbx_rest_call *call, int status, const struct cbx_err *err);

/* Responds 410 with a problem document of the type 'gone': the object existed, and was removed. */
void cbx_rest_gone(struct cbx_rest_call *call, const char *text);

/* Responds with JSON; takes the reference. */
void cbx_rest_answer(struct cbx_rest_call *call, int status, json_t *json);

/* Returns the executor's reply to the call `health`; a new reference. NULL without a reply: the
 * response is 503 then. */
json_t *cbx_rest_ask_health(struct cbx_rest_call *call);

/* Responds with a denial: 400, each finding with the details for the agent. */
void cbx_rest_deny(struct cbx_rest_call *call, const struct cbx_outcome *outcome);

/* Parses and reads the body into `into`. False if it was refused; the response is then made. */
bool cbx_rest_body(struct cbx_rest_call *call, const struct cbx_json_field *fields, size_t count,
                   void *into);

/* The same for the query of the target, which has strings and integers. */
bool cbx_rest_query(struct cbx_rest_call *call, const struct cbx_json_field *fields, size_t count,
                    void *into);

/* The handlers of routes.def. */
#define CBX_ROUTE(method, path, handler, ...) void cbx_rest_##handler(struct cbx_rest_call *call);
#include "gateway/front/rest/routes.def"
#undef CBX_ROUTE

/* The members of a request's body, or of the query of a GET: each next to the handler that reads
 * it. */
struct cbx_rest_input {
    const struct cbx_json_field *fields;
    size_t count;
};
#define CBX_REST_INPUT(name, table)                                                                \
    const struct cbx_rest_input cbx_rest_input_##name = { table, sizeof(table) / sizeof(table[0]) }
extern const struct cbx_rest_input cbx_rest_input_create_session, cbx_rest_input_open_session,
    cbx_rest_input_execute, cbx_rest_input_stop, cbx_rest_input_create_execution,
    cbx_rest_input_answer, cbx_rest_input_feeding, cbx_rest_input_check, cbx_rest_input_decisions,
    cbx_rest_input_page, cbx_rest_input_none, cbx_rest_input_bytes;

/* The members of `execution_options` in the body of POST /sessions. */
extern const struct cbx_rest_input cbx_rest_input_options;

/* A body's requests for a session or a run (gateway/ipc/seal/asked.h): a member of the body's
 * struct, and its rows. */
struct cbx_rest_asked {
    const json_t *limits, *environment, *mounts;
};
#define CBX_REST_ASKED(type, member)                                                               \
    { "limits", CBX_JSON_OBJECT, offsetof(type, member.limits), false, true, 0, 0 },               \
        { "environment", CBX_JSON_OBJECT, offsetof(type, member.environment), false, true, 0, 0 }, \
    {                                                                                              \
        "mounts", CBX_JSON_ARRAY, offsetof(type, member.mounts), false, true, 0, 0                 \
    }

/* Adds them to *out. CBX_EINVAL, CBX_ETOOBIG. */
int cbx_rest_read_asked(const struct cbx_rest_asked *body, struct cbx_asked *out,
                        struct cbx_err *err);

/* Reads the requested limits, by the names of limits.def; absent ones are CBX_LIMIT_UNSET.
 * CBX_EINVAL. */
int cbx_rest_read_limits(const json_t *json, struct cbx_limits *out, struct cbx_err *err);

/* Installs the dependencies of a sandbox (dependencies.h). False if the response is made. */
struct cbx_dependencies;
bool cbx_rest_have_dependencies(struct cbx_rest_call *call,
                                const struct cbx_dependencies *dependencies, struct cbx_buf *set);

#endif
