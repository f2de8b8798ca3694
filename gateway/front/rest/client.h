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

/* The beginning of a stream. Packages are installed before a job is accepted, which may take minutes: the response begins with the first
 * line about that, as an event `progress`. An error after that is an event `error` with the problem document, because the status was sent. */
struct cbx_rest_opening {
    struct cbx_rest_call *call;
    struct cbx_http_stream *stream; /* NULL: the answer is JSON */
    char id[37];                    /* of the execution */
    bool begun;                     /* the response has begun; `request` is the call's request */
    struct cbx_http_request request;
    char request_id[CBX_ID_CHARS + 1];
};

/* The client of the job until it is accepted; `opening` is the caller's, and without a stream when the answer is JSON. No progress with an Idempotency-Key, which is needed after the
 * request has ended. */
struct cbx_job_client cbx_rest_opening_client(struct cbx_rest_opening *opening);

/* The job was accepted: the client of its run, which takes the stream when the job starts. Server-sent events (WHATWG HTML, 9.2), the last of
 * which is `done`. */
struct cbx_job_client cbx_rest_opening_run(struct cbx_rest_opening *opening);

/* The job has started: answers the call with the stream, unless the response has begun. */
void cbx_rest_opening_answer(struct cbx_rest_opening *opening);

/* The job was not accepted, or does not start: the call has the answer. The stream is over. */
void cbx_rest_opening_fail(struct cbx_rest_opening *opening);

#endif
