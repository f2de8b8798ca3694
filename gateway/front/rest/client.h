/* SPDX-License-Identifier: MIT
 * The clients of jobs over HTTP: one that waits for the response, one that reads a stream of
 * events. */
#ifndef CBX_GATEWAY_FRONT_REST_CLIENT_H
#define CBX_GATEWAY_FRONT_REST_CLIENT_H

#include "gateway/front/jobs/jobs.h"
#include "gateway/front/rest/rest.h"

/* A waiting client: its response is sent when the job has ended. */
struct cbx_rest_waiting {
    struct cbx_http_exchange *exchange;
    char request_id[CBX_ID_CHARS + 1]; /* id of the HTTP request, in the log */
};

/* `waiting` is owned by the caller, which waits in cbx_job_start. */
struct cbx_job_client cbx_rest_wait_for(struct cbx_rest_waiting *waiting);

/* The beginning of a stream. Packages are installed before a job is accepted, which may take
 * minutes: the response begins with the first line about the install, as an event `progress`. A
 * later error is an event `error` with the problem document, because the status was sent. */
struct cbx_rest_opening {
    struct cbx_rest_call *call;
    struct cbx_http_stream *stream; /* NULL: the response is JSON */
    char id[37];                    /* id of the execution */
    bool begun; /* true after the response has begun; `request` is the call's request */
    struct cbx_http_request request;
    char request_id[CBX_ID_CHARS + 1];
};

/* Returns the client of the job until it is accepted; `opening` is owned by the caller, and has
 * no stream if the response is JSON. No progress with an Idempotency-Key, which is needed after
 * the request has ended. */
struct cbx_job_client cbx_rest_opening_client(struct cbx_rest_opening *opening);

/* Called after the job was accepted: returns the client of its run, which takes the stream when
 * the job starts. Server-sent events (WHATWG HTML, 9.2), the last of which is `done`. */
struct cbx_job_client cbx_rest_opening_run(struct cbx_rest_opening *opening);

/* Called after the job has started: sends the stream as response, unless the response has begun. */
void cbx_rest_opening_answer(struct cbx_rest_opening *opening);

/* Called if the job was not accepted, or does not start: the call has the response. The stream
 * ends. */
void cbx_rest_opening_fail(struct cbx_rest_opening *opening);

#endif
