/* SPDX-License-Identifier: MIT
 * The event loop's side of a response body that is produced while it is sent. */
#ifndef CBX_GATEWAY_FRONT_HTTP_STREAM_H
#define CBX_GATEWAY_FRONT_HTTP_STREAM_H

#include "gateway/front/http/server.h"

#include <microhttpd.h>

/* Where it is sent; before the response is queued. */
void cbx_http_stream_connect(struct cbx_http_stream *stream, struct MHD_Connection *connection);

/* For MHD_create_response_from_callback. */
ssize_t cbx_http_stream_read(void *stream, uint64_t position, char *to, size_t size);

/* Drops the event loop's reference: the client has all, or is gone. */
void cbx_http_stream_drop(void *stream);

#endif
