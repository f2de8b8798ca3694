/* SPDX-License-Identifier: MIT
 * The event loop's side of a response body that is produced while it is sent. */
#ifndef CBX_GATEWAY_FRONT_HTTP_HTTP_STREAM_H
#define CBX_GATEWAY_FRONT_HTTP_HTTP_STREAM_H

#include "gateway/front/http/http_server.h"
#include "policies/base/list.h"

#include <microhttpd.h>
#include <pthread.h>

/* The streams that a server sends; thread-safe. */
struct cbx_http_streams {
    pthread_mutex_t lock;
    struct cbx_queue open;
    int stall_ms;      /* time that a client may block its producer (http_limits.def) */
    int64_t looked_ms; /* time of the last cbx_http_streams_drop_gone */
    bool cut;
};
void cbx_http_streams_init(struct cbx_http_streams *streams, int stall_ms);
void cbx_http_streams_done(struct cbx_http_streams *streams);

/* Ends the open streams and later ones: their clients receive an incomplete body, and
 * cbx_http_stream_add fails. No connection is suspended by a stream afterwards. */
void cbx_http_streams_cut(struct cbx_http_streams *streams);

/* Ends the streams whose clients closed their connections. Without this call a silent stream
 * ends with its producer, because the event loop does not poll its connection. No effect within
 * 100 ms of the last call. */
void cbx_http_streams_drop_gone(struct cbx_http_streams *streams);

/* Sets the connection and the server's streams; called before the response is queued. */
void cbx_http_stream_connect(struct cbx_http_stream *stream, struct MHD_Connection *connection,
                             struct cbx_http_streams *streams);

/* True if the client closed its end (poll(2): POLLRDHUP). The event loop does not poll a
 * suspended connection. */
bool cbx_http_connection_is_gone(struct MHD_Connection *connection);

/* For MHD_create_response_from_callback. */
ssize_t cbx_http_stream_read(void *stream, uint64_t position, char *to, size_t size);

/* Drops the event loop's reference: the client has received all, or has disconnected. */
void cbx_http_stream_drop(void *stream);

#endif
