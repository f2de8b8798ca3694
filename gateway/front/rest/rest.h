/* SPDX-License-Identifier: MIT
 * The REST API: routes, problem documents, and what its resources share. */
#ifndef CBX_GATEWAY_FRONT_REST_REST_H
#define CBX_GATEWAY_FRONT_REST_REST_H

#include "gateway/front/http/server.h"
#include "gateway/front/review.h"
#include "gateway/front/store.h"
#include "gateway/ipc/threads.h"

#include <pthread.h>
#include <stdatomic.h>

/* The principal of every caller, until callers have identities. */
#define CBX_REST_PRINCIPAL CBX_STR("local")

enum { CBX_REST_PASTS = 128, CBX_REST_PATH_MAX = CBX_PATH_MAX + 1 };

struct cbx_rest_job;

/* What was accepted for one session so far, for the judgement of the next (subject.h). */
struct cbx_rest_past {
    char session[65];
    uint64_t used;  /* number of its last use */
    uint64_t state; /* a number for what it holds; every change gives a new one */
    struct cbx_buf sealed, entries;
};

/* Everything behind the API. Flow and store are borrowed. */
struct cbx_rest {
    struct cbx_flow *flow;
    struct cbx_store *store;
    pthread_mutex_t lock;
    pthread_cond_t queue_changed;
    struct cbx_rest_job *queue; /* jobs that have not begun (queue.h) */
    struct cbx_rest_job
        *backlog;             /* jobs of an earlier gateway that did not start yet (recovery.h) */
    int backlog_jobs;         /* its length */
    int starting;             /* jobs of the backlog that were started and not admitted yet */
    struct cbx_threads *jobs; /* threads of the jobs that no client waits for */
    int64_t jobs_begun, jobs_ended; /* executions of this process */
    int jobs_max;
    int64_t fresh_ms; /* a decision that waited longer in the queue is made again */
    bool stopping;
    struct cbx_rest_past pasts[CBX_REST_PASTS];
    uint64_t past_uses, past_states;
    int64_t turns; /* of all jobs, in the order of acceptance */
    atomic_int sessions_opened;
};

/* Starts an API over a flow and a store, both borrowed, that runs at most `jobs_max` executions
 * at a time; what an earlier gateway accepted beyond that waits. End it with cbx_rest_stop and cbx_rest_done. */
void cbx_rest_init(struct cbx_rest *rest, struct cbx_flow *flow, struct cbx_store *store,
                   int jobs_max);

/* Refuses new jobs and detaches the running ones: their runs continue in their sandboxes, their
 * clients are answered 503, and their rows stay for the next gateway. */
void cbx_rest_stop(struct cbx_rest *rest);

/* Waits until all jobs have ended, then frees what cbx_rest_init made. The flow must outlive
 * this call. */
void cbx_rest_done(struct cbx_rest *rest);

/* Frees the pasts of all sessions. */
void cbx_rest_pasts_done(struct cbx_rest *rest);

/* Forgets the past of a session that is in memory: it is read from the store when it is needed
 * next. */
void cbx_rest_past_drop(struct cbx_rest *rest, const char *session);

/* For struct cbx_http_config; the context is a struct cbx_rest. */
void cbx_rest_handle(void *context, const struct cbx_http_request *request,
                     struct cbx_http_response *out);

/* For struct cbx_http_config: the problem document of a request that reaches no handler. */
void cbx_rest_refuse(int status, const char *detail, struct cbx_http_response *out);

/* The largest body that any policy's source limit can need, JSON escapes included. */
size_t cbx_rest_body_max(const struct cbx_policies *policies);

/* One request while a handler serves it. */
struct cbx_rest_call {
    struct cbx_rest *rest;
    const struct cbx_http_request *request;
    char id[64];              /* {id} of the path, or empty */
    struct cbx_str rest_path; /* {path}: what follows, as sent */
    bool legacy;
    json_t *body; /* parsed by cbx_rest_body or cbx_rest_query; owned by the call */
    struct cbx_http_response *response;
};

/* Answers with a problem document (RFC 9457). The status follows from the code unless it is given
 * (0). */
void cbx_rest_fail(struct cbx_rest_call *call, int status, const struct cbx_err *err);

/* Answers 410 with a problem document of the type 'gone': there was such a thing, and it was removed. */
void cbx_rest_gone(struct cbx_rest_call *call, const char *text);

/* Answers with JSON; takes the reference. */
void cbx_rest_answer(struct cbx_rest_call *call, int status, json_t *json);

/* The executor's answer to the call `health`; a new reference. NULL when it gave none: the call is
 * answered 503 then. */
json_t *cbx_rest_ask_health(struct cbx_rest_call *call);

/* Answers a denial: 400, each finding as the agent needs it. */
void cbx_rest_deny(struct cbx_rest_call *call, const struct cbx_outcome *outcome);

/* Parses and reads the body into `into`. False when it was refused, the answer is then made. */
bool cbx_rest_body(struct cbx_rest_call *call, const struct cbx_json_field *fields, size_t count,
                   void *into);

/* The same for the query of the target, which holds strings and integers. */
bool cbx_rest_query(struct cbx_rest_call *call, const struct cbx_json_field *fields, size_t count,
                    void *into);

/* "2026-11-21T06:00:00.123456", UTC without a zone as CodeBox-AI writes it. */
void cbx_rest_now(char out[32]);

/* A request to the flow in the name of CBX_REST_PRINCIPAL. `session` may be empty, `limits`
 * (borrowed) NULL. */
struct cbx_request cbx_rest_request(enum cbx_action action, const char *language,
                                    struct cbx_str policy, struct cbx_str session,
                                    struct cbx_str source, const struct cbx_limits *limits);

/* The handlers of routes.def. */
#define CBX_ROUTE(method, path, handler, legacy, sentence)                                         \
    void cbx_rest_##handler(struct cbx_rest_call *call);
#include "gateway/front/rest/routes.def"
#undef CBX_ROUTE

/* Reads the requested limits, by the names of limits.def; absent ones are CBX_LIMIT_UNSET.
 * CBX_EINVAL. */
int cbx_rest_read_limits(const json_t *json, struct cbx_limits *out, struct cbx_err *err);

/* True when a session can have all of them; false when the answer is made: 400 with what is wrong,
 * denied or missing. NULL is none. */
bool cbx_rest_check_dependencies(struct cbx_rest_call *call, struct cbx_str policy,
                                 const json_t *dependencies);

#endif
