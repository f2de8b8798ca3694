/* SPDX-License-Identifier: MIT
 * The process of links between replicas (cbx-replicas). It has the network, the key of this
 * replica's certificate and a channel to the front, and no file of the gateway; it parses TLS and
 * carries bytes, which it does not read. */
#ifndef CBX_GATEWAY_REPLICAS_REPLICA_PROCESS_H
#define CBX_GATEWAY_REPLICAS_REPLICA_PROCESS_H

#include "gateway/ipc/replicas.h"
#include "gateway/ipc/wire/replica_channel.h"

struct cbx_replicas_config {
    const struct cbx_replicas *replicas; /* borrowed for the life of the process */
    int listening;      /* socket that accepts links of other replicas; owned by the process */
    struct cbx_str pem; /* result of cbx_link_write; cleansed when it is read */
};

/* The main function. On SIGTERM, which a reload sends, the process accepts no more links and ends
 * with its last one; the process that follows has the same channel and listening socket. */
_Noreturn void cbx_replicas_main(int channel, const struct cbx_replicas_config *config);

#endif
