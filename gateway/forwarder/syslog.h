/* SPDX-License-Identifier: MIT
 * The form of a record as a syslog message (RFC 5424), its framing (RFC 6587, RFC 5425), and the
 * addresses of servers. Pure. */
#ifndef CBX_GATEWAY_FORWARDER_SYSLOG_H
#define CBX_GATEWAY_FORWARDER_SYSLOG_H

#include "policies/base/buf.h"
#include "policies/base/err.h"

#include <limits.h>

enum cbx_syslog_transport { CBX_SYSLOG_UDP, CBX_SYSLOG_TCP, CBX_SYSLOG_TLS, CBX_SYSLOG_UNIX };

struct cbx_syslog_url {
    enum cbx_syslog_transport transport;
    char host[256], port[6]; /* of network transports */
    char path[108];          /* path of CBX_SYSLOG_UNIX */
};

/* Reads "udp://HOST:PORT", "tcp://HOST:PORT", "tls://HOST:PORT" (HOST may be [IPv6]) or
 * "unix:///PATH". CBX_EINVAL. */
int cbx_syslog_parse(const char *url, struct cbx_syslog_url *out, struct cbx_err *err);

/* Largest datagram: a longer message is cut, and marked as cut. */
enum { CBX_SYSLOG_UDP_MAX = 2048, CBX_SYSLOG_LOCAL_MAX = 65536 };

/* Appends the message of the record on this line: facility 13 (log audit), a severity by its
 * type, the record's time, its number and hash as structured data, and the line itself.
 * `max_bytes` > 0 is the maximum of its bytes: a longer line is cut at a whole character, the
 * structured data has cut="BYTES" with the line's length, and the text ends in "...". CBX_EINVAL
 * if the line is no record. */
int cbx_syslog_format(struct cbx_str line, const char *host, size_t max_bytes, struct cbx_buf *out,
                      struct cbx_err *err);

/* The same with its number of bytes before it, which separates messages in a stream. */
int cbx_syslog_frame(struct cbx_str line, const char *host, struct cbx_buf *out,
                     struct cbx_err *err);

#endif
