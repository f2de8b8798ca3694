/* SPDX-License-Identifier: MIT
 * The clients of jobs over HTTP: one that waits for the answer, one that reads a stream of events. */
#ifndef CBX_GATEWAY_FRONT_REST_CLIENT_H
#define CBX_GATEWAY_FRONT_REST_CLIENT_H

#include "gateway/front/rest/rest.h"
#include "gateway/front/service/jobs.h"

/* A client that waits: its exchange is answered when the job is over. */
struct cbx_rest_waiting {
    struct cbx_http_exchange *exchange;
    char request_id[CBX_ID_CHARS + 1]; /* of the HTTP request, in the log */
};

/* `waiting` is the caller's, who waits in cbx_job_start. */
struct cbx_job_client cbx_rest_wait_for(struct cbx_rest_waiting *waiting);

/* Server-sent events (WHATWG HTML, 9.2), the last of which is `done`. Takes the stream when the job
 * starts. */
struct cbx_job_client cbx_rest_stream_to(struct cbx_http_stream *stream);

#endif
