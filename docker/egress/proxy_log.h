/* SPDX-License-Identifier: MIT
 * A line of the proxy's log as an event. The program chose method, host and port, so a line is
 * hostile; its format is configured by docker/egress/proxy_config.c, or written by
 * docker/egress/relay/proxy_relay.c. Pure. */
#ifndef CBX_DOCKER_EGRESS_PROXY_LOG_H
#define CBX_DOCKER_EGRESS_PROXY_LOG_H

#include "policies/base/err.h"
#include "policies/base/str.h"

enum { CBX_PROXY_LINE_MAX_BYTES = 1024 }; /* of a line, without its end */

enum cbx_proxy_outcome { CBX_PROXY_REFUSED = 0, CBX_PROXY_FAILED, CBX_PROXY_SERVED };

/* Texts are borrowed from the line, except `reason`, which is one of proxy_reasons.def,
 * "client-gone", "failed", or "" if the request was served. They are printable ASCII without
 * blanks; other bytes are URL-encoded, and the encoding may be cut at the end. Absent texts are
 * empty, absent numbers 0. */
struct cbx_proxy_event {
    enum cbx_proxy_outcome outcome;
    struct cbx_str reason;
    struct cbx_str method, host;
    uint16_t port;
    struct cbx_str address; /* address of the last connection or attempt */
    /* name in the client's TLS for a tunnel to `host`, if the request was refused because of it */
    struct cbx_str tls_name;
    /* bytes received and sent by the program, headers and error pages included */
    uint64_t received_bytes, sent_bytes;
    uint32_t status; /* status of the reply to the program; 0 = none */
    uint32_t duration_ms;
};

/* Reads a line without its end. CBX_EPROTO for a malformed line. */
int cbx_proxy_log_read(struct cbx_str line, struct cbx_proxy_event *out, struct cbx_err *err);

#endif
