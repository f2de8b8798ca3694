/* SPDX-License-Identifier: MIT
 * Forwards the audit log to a syslog server. Two processes: the reader can open the files and has
 * no network, the sender has the connection and can open no file of the gateway. No decision waits
 * for them. The log is the store: the reader keeps in a cursor the position that the server has
 * received, and sends every later record in order, however long the server was away. A record may
 * arrive twice; none is left out. */
#ifndef CBX_GATEWAY_FORWARDER_FORWARDER_H
#define CBX_GATEWAY_FORWARDER_FORWARDER_H

#include "gateway/forwarder/syslog.h"

#include <limits.h>

struct cbx_forwarder_config {
    struct cbx_syslog_url url;
    char state_dir[PATH_MAX];
    void *tls; /* settings of the library; NULL = none */
};

/* Reads the options and certificates. CBX_EINVAL. */
int cbx_forwarder_read_options(const char *url, const char *ca_file,
                               struct cbx_forwarder_config *out, struct cbx_err *err);

/* Makes the cursor's folder (CBX_AUDIT_CURSOR) in the state directory. CBX_EAUDIT. */
int cbx_forwarder_prepare(const char *state_dir, struct cbx_forwarder_config *out,
                          struct cbx_err *err);

/* The main functions of the two processes, which first confine themselves. They never return. */
_Noreturn void cbx_forwarder_read(int channel, const struct cbx_forwarder_config *config);
_Noreturn void cbx_forwarder_send(int channel, const struct cbx_forwarder_config *config);

/* Messages of the channel. To the sender: a frame, then the record's line. Back: the number of
 * the last record that the server received. */
struct cbx_forwarder_frame {
    uint64_t seq;
    uint32_t bytes;
};
enum { CBX_FORWARDER_LINE_MAX = 512 * 1024 };

/* Reads or writes all bytes; false if the channel was closed. */
bool cbx_forwarder_take(int channel, void *p, size_t bytes);
bool cbx_forwarder_put(int channel, const void *p, size_t bytes);

#endif
