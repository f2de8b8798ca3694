/* SPDX-License-Identifier: MIT
 * One HTTPS request for keys, by libcurl: GET, TLS 1.2 or newer, a certificate that the
 * authorities certify for the host's name; no redirect, no proxy, no cookie, no compression, no
 * HTTP/2. It ends after CBX_KEY_FETCH_MS in all. */
#ifndef CBX_GATEWAY_KEYS_TRANSFER_H
#define CBX_GATEWAY_KEYS_TRANSFER_H

#include "gateway/ipc/wire/key_fetch.h"

#include <curl/curl.h>

/* A request. Zero-initialise; `body` is initialised with CBX_JWKS_MAX as its maximum. */
struct cbx_transfer {
    CURL *curl; /* NULL = none in progress */
    struct cbx_buf body;
    size_t header_bytes;
    char words[CURL_ERROR_SIZE]; /* of libcurl */
};

/* Loads the files that the libraries read; call it before the process is confined. CBX_EIO. */
int cbx_transfer_prepare(struct cbx_err *err);

/* Adds the request to `multi`, which carries it out. `source` is borrowed until the end of the
 * request. */
void cbx_transfer_begin(struct cbx_transfer *transfer, CURLM *multi,
                        const struct cbx_key_source *source);

/* Call it after libcurl reported the end of the request with `code`: removes it. True if the
 * status was 200 and transfer->body has all bytes; else `reason` has the cause. */
bool cbx_transfer_end(struct cbx_transfer *transfer, CURLM *multi, CURLcode code, char *reason,
                      size_t reason_bytes);

#endif
