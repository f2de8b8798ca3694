/* SPDX-License-Identifier: MIT
 * TLS between replicas (RFC 8446): both sides present a certificate of the same authority, which
 * has the DNS name of the replica (RFC 6125), and nothing below TLS 1.3 is spoken. */
#ifndef CBX_GATEWAY_REPLICAS_LINK_TLS_H
#define CBX_GATEWAY_REPLICAS_LINK_TLS_H

#include "gateway/ipc/replicas.h"
#include "policies/base/buf.h"

#include <openssl/ssl.h>

enum { CBX_LINK_PEM_MAX = 128 * 1024 /* bytes of one file */, CBX_LINK_HANDSHAKE_MS = 7000 };

/* Certificate with the certificates of its chain behind it, its private key, and the authorities
 * of all replicas; PEM, borrowed. */
struct cbx_link_pem {
    struct cbx_str certificate, key, authorities;
};

/* Checks them for the replica `own_name` and appends them for cbx_link_tls_new. CBX_EINVAL, with
 * the reason and the remedy, if one is no PEM, the key is another certificate's or encrypted, the
 * certificate is not valid now, not by these authorities, not for `own_name`, or not for both
 * sides of a connection (extended key usage); CBX_ETOOBIG. *out has the key: the caller cleanses
 * it. */
int cbx_link_write(const struct cbx_link_pem *pem, const char *own_name, struct cbx_buf *out,
                   struct cbx_err *err);

/* The settings of both sides. */
struct cbx_link_tls {
    SSL_CTX *server, *client;
    const struct cbx_replicas *replicas; /* borrowed */
};

/* Makes the settings from the bytes of cbx_link_write. CBX_EPROTO. */
int cbx_link_tls_new(struct cbx_str bytes, const struct cbx_replicas *replicas,
                     struct cbx_link_tls *out, struct cbx_err *err);

/* Connects over a non-blocking socket to a replica, and waits until it says that it accepts this
 * one. *out is owned: SSL_free. CBX_EIO with the reason, within CBX_LINK_HANDSHAKE_MS. */
int cbx_link_connect(const struct cbx_link_tls *tls, int fd, const struct cbx_replica *replica,
                     SSL **out, struct cbx_err *err);

/* Accepts over a non-blocking socket a replica of the table. The same errors. */
int cbx_link_accept(const struct cbx_link_tls *tls, int fd, SSL **out, struct cbx_err *err);

#endif
