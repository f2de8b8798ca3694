/* SPDX-License-Identifier: MIT
 * Acceptance (service/accept.h), with the response to a refused caller. */
#ifndef CBX_GATEWAY_FRONT_REST_ACCEPTANCE_H
#define CBX_GATEWAY_FRONT_REST_ACCEPTANCE_H

#include "gateway/front/rest/rest.h"
#include "gateway/front/service/accept.h"

/* Makes a job of the caller, with a new id; owned by the caller until cbx_job_start. */
struct cbx_job *cbx_rest_job(struct cbx_rest_call *call);

/* Adds the job to this session (cbx_job_join). False if the response is made. */
bool cbx_rest_find_session(struct cbx_rest_call *call, struct cbx_job *job, struct cbx_str session);

/* Judges the job and puts it into its queue (cbx_job_accept). False if the response is made. */
bool cbx_rest_accept(struct cbx_rest_call *call, struct cbx_job *job);

#endif
