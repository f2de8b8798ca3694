/* SPDX-License-Identifier: MIT
 * The certificate that the HTTPS servers of a process present (RFC 8446, section 4.4.2).
 * libmicrohttpd requests it in each handshake through a callback of GnuTLS without a context, so
 * there is one for each process; it can be replaced while the servers run. */
#ifndef CBX_GATEWAY_FRONT_HTTP_TLS_H
#define CBX_GATEWAY_FRONT_HTTP_TLS_H

#include "policies/base/buf.h"
#include "policies/base/err.h"

#include <gnutls/abstract.h>
#include <stdint.h>

enum { CBX_TLS_PEM_MAX = 128 * 1024 }; /* bytes of one file */

/* Checks a certificate, the certificates of its chain after it, and its private key, all PEM,
 * and appends them for cbx_tls_use. CBX_EINVAL if the key is another certificate's or encrypted,
 * the key or the signature is weaker than GnuTLS's level medium (RSA of 2048 bits), or `now_s`
 * of the wall clock is outside its validity; CBX_ETOOBIG. */
int cbx_tls_write(struct cbx_str chain, struct cbx_str key, int64_t now_s, struct cbx_buf *out,
                  struct cbx_err *err);

/* Sets the certificate of later handshakes, from cbx_tls_write. The bytes are copied.
 * CBX_EPROTO: the current one stays. By one thread at a time; handshakes may continue meanwhile. */
int cbx_tls_use(struct cbx_str bytes, struct cbx_err *err);

/* Returns the expiry of the current certificate, in seconds of the wall clock; 0 = there is
 * none. Thread-safe. */
int64_t cbx_tls_expires_s(void);

/* The callback, and the priority string of GnuTLS: TLS 1.2 and 1.3. For http_server.c. */
gnutls_certificate_retrieve_function2 cbx_tls_give;
extern const char cbx_tls_priorities[];

#endif
