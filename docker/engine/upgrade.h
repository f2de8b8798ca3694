/* SPDX-License-Identifier: MIT
 * An HTTP/1.1 connection that a request has upgraded (RFC 9110, section 7.8): bytes in both
 * directions. libcurl connects (with TLS); this file writes the request, and reads and writes all
 * bytes after it. Without TLS it takes the socket over from libcurl, because libcurl's handle
 * needs a hundred times the memory of the remaining state. */
#ifndef CBX_DOCKER_ENGINE_UPGRADE_H
#define CBX_DOCKER_ENGINE_UPGRADE_H

#include "policies/base/auto.h"
#include "policies/base/buf.h"
#include "policies/base/err.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdint.h>

struct cbx_upgrade {
    /* handle of a connection with TLS; NULL: bytes are sent through the socket unchanged */
    CURL *curl;
    int socket;           /* -1 = not connected */
    pthread_mutex_t lock; /* a libcurl handle must not be used by two threads at once */
    int64_t received_ms;  /* time when bytes last arrived */
    /* With TLS: bytes that the TLS library has taken, of which a part may be on its way. Only a
     * call with the same bytes can continue */
    struct cbx_buf held;
    bool broken; /* another call followed: the peer gets a part of the held bytes */
};
void cbx_upgrade_init(struct cbx_upgrade *upgrade);
void cbx_upgrade_done(struct cbx_upgrade *upgrade);

/* Connects with a configured handle, which it owns from then on in any case, before any byte is
 * sent. */
CURLcode cbx_upgrade_connect(struct cbx_upgrade *upgrade, CURL *curl, const char *url);

/* Sends as many bytes as the peer accepts now, at least one; waits up to timeout_ms for that.
 * CBX_ETIMEDOUT, CBX_EIO. May be called while another thread receives.
 *
 * A TLS record that was begun must be completed. After CBX_ETIMEDOUT the next call may therefore
 * have to bring the same bytes (cbx_upgrade_holds); with other bytes it fails with CBX_EIO, and so
 * do all later calls, as the peer could not tell where the next message begins. */
int cbx_upgrade_send_some(struct cbx_upgrade *upgrade, const void *bytes, size_t len,
                          int timeout_ms, size_t *sent, struct cbx_err *err);

/* True if only a call with the bytes of the call before can continue. */
bool cbx_upgrade_holds(const struct cbx_upgrade *upgrade);

/* Receives bytes until the deadline (cbx_clock_ms; -1 = no limit); 0 bytes at the end of the
 * connection. CBX_ETIMEDOUT, CBX_EIO. */
int cbx_upgrade_receive(struct cbx_upgrade *upgrade, void *to, size_t size, int64_t deadline,
                        size_t *received, struct cbx_err *err);

/* True after *head has received a complete response head; bytes after it are then in `rest`,
 * which the caller initialised. One call receives once. CBX_EPROTO for a head over the buffer's
 * cap, CBX_EIO at the end of the connection; CBX_ETIMEDOUT. */
int cbx_upgrade_receive_head(struct cbx_upgrade *upgrade, struct cbx_buf *head,
                             struct cbx_buf *rest, int64_t deadline, bool *complete,
                             struct cbx_err *err);

/* As cbx_attach_silent_ms (engine.h). */
int64_t cbx_upgrade_silent_ms(const struct cbx_upgrade *upgrade);

#endif
