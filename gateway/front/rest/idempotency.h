/* SPDX-License-Identifier: MIT
 * Requests that a client may repeat: with the header Idempotency-Key, a second one creates
 * nothing, and gets the response with the first one's object. Keys are per principal, and are
 * stored for a day. */
#ifndef CBX_GATEWAY_FRONT_REST_IDEMPOTENCY_H
#define CBX_GATEWAY_FRONT_REST_IDEMPOTENCY_H

#include "gateway/front/rest/rest.h"

/* The kind of object that a request with a key creates. */
enum cbx_once { CBX_ONCE_SESSION, CBX_ONCE_EXECUTION };

/* Stores the key of the request for the object with this id, which is created next. True,
 * without an effect, for a request without a key. False if the response is made: the object that
 * the key stands for already; 409 while the first request is still running; 422 if the key came
 * with another request; 400 for a key that is no text of 1 to 255 printable characters. */
bool cbx_rest_once(struct cbx_rest_call *call, enum cbx_once kind, const char *id);

/* Frees the key again, after creating the object failed. */
void cbx_rest_undo_once(struct cbx_rest_call *call, const char *id);

#endif
