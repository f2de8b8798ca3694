/* SPDX-License-Identifier: MIT
 * The channel between the front and the process of links (gateway/replicas): connected sockets,
 * passed as descriptors (ipc_wire.h). The front passes a socket with the number of the replica
 * that it wants to reach; the process connects, then writes one line to the socket: CBX_LINK_UP,
 * or a reason, and closes it. Behind the line both carry bytes of HTTP. The process passes a
 * socket with CBX_LINK_INBOUND for each link that another replica has opened. */
#ifndef CBX_GATEWAY_IPC_WIRE_REPLICA_CHANNEL_H
#define CBX_GATEWAY_IPC_WIRE_REPLICA_CHANNEL_H

#include "gateway/ipc/replicas.h"

#define CBX_LINK_UP "+\n"

enum {
    CBX_LINK_INBOUND = CBX_REPLICAS_MAX, /* tag of a passed socket; smaller: index of a replica */
    CBX_LINK_LINE_MAX = 256,             /* bytes of the line with its end */
    CBX_LINK_WAIT_MS = 15000,            /* of the front, until it has the line */
};

/* In the front: opens a connection to the replica with this index. Waits until it is connected,
 * and no longer than `goes_on` returns true (NULL = always), which is called twice a second.
 * *out is the descriptor, owned by the caller. Of threads at the same time, each call passes its
 * socket alone. CBX_EIO with the reason: the replica received nothing. */
int cbx_link_open(int channel, size_t index, bool (*goes_on)(const void *context),
                  const void *context, int *out, struct cbx_err *err);

#endif
