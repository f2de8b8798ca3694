/* SPDX-License-Identifier: MIT
 * Requests that a client may repeat: with the header Idempotency-Key, a second one makes nothing, and is answered with
 * what the first one made. Keys are a principal's own, and are remembered for a day. */
#ifndef CBX_GATEWAY_FRONT_REST_IDEMPOTENCY_H
#define CBX_GATEWAY_FRONT_REST_IDEMPOTENCY_H

#include "gateway/front/rest/rest.h"

/* What a request with a key is about to make. */
enum cbx_once { CBX_ONCE_SESSION, CBX_ONCE_EXECUTION };

/* Takes the key of the request for the thing with this id, which is made next. True, without an effect, for a request
 * without a key. False when the answer is made: what the key stands for already; 409 while the first request is still
 * at work; 422 when the key came with another request; 400 for a key that is no text of 1 to 255 printable characters. */
bool cbx_rest_once(struct cbx_rest_call *call, enum cbx_once kind, const char *id);

/* Nothing was made after all: the key is free again. */
void cbx_rest_undo_once(struct cbx_rest_call *call, const char *id);

#endif
