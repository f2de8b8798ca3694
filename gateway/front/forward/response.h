/* SPDX-License-Identifier: MIT
 * Reads a response of HTTP/1.1 (RFC 9112) in pieces. The sender is another replica: what a replica
 * does not send is refused. */
#ifndef CBX_GATEWAY_FRONT_FORWARD_RESPONSE_H
#define CBX_GATEWAY_FRONT_FORWARD_RESPONSE_H

#include "policies/base/auto.h"
#include "policies/base/buf.h"
#include "policies/base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { CBX_RESPONSE_HEAD_MAX = 64 * 1024 };

/* Receives the parts of a response. `field` is called for each field of the header, then `begin`
 * once, then `body` for each piece of the body. Each returns 0, or an error that ends the
 * reading. */
struct cbx_response_sink {
    int (*field)(void *context, struct cbx_str name, struct cbx_str value);
    int (*begin)(void *context, int status);
    int (*body)(void *context, struct cbx_str piece);
    void *context;
};

enum cbx_response_state {
    CBX_RESPONSE_HEAD, /* the first line and the fields */
    CBX_RESPONSE_LENGTH,
    CBX_RESPONSE_CHUNK_SIZE,
    CBX_RESPONSE_CHUNK,
    CBX_RESPONSE_CHUNK_END,
    CBX_RESPONSE_TRAILER,
    CBX_RESPONSE_TO_END, /* the body ends with the connection */
    CBX_RESPONSE_DONE,
};

/* A response that is read. Zero-initialise it, with the sink; cbx_response_done. */
struct cbx_response {
    const struct cbx_response_sink *sink;
    enum cbx_response_state state;
    struct cbx_buf line; /* the head, or a line of the chunked body, as far as it has arrived */
    uint64_t left;       /* bytes of the body, or of the chunk, that have not arrived */
    size_t fields_bytes; /* bytes of the heads, interim ones too, and of the trailer */
    int status;
    bool has_length, chunked, closes;
};
void cbx_response_init(struct cbx_response *response, const struct cbx_response_sink *sink);
void cbx_response_done(struct cbx_response *response);
CBX_DEFINE_AUTO_DONE(response)

/* Takes bytes of the connection. CBX_EPROTO for a malformed response, and for bytes behind its
 * end; errors of the sink. */
int cbx_response_take(struct cbx_response *response, struct cbx_str bytes, struct cbx_err *err);

/* The connection has ended. CBX_EPROTO if the response is not complete. */
int cbx_response_end(struct cbx_response *response, struct cbx_err *err);

/* True if a byte of the response has arrived. */
bool cbx_response_has_begun(const struct cbx_response *response);

/* True if the response is complete. */
bool cbx_response_is_done(const struct cbx_response *response);

/* True if the connection can be used for another request. */
bool cbx_response_leaves_open(const struct cbx_response *response);

#endif
