/* SPDX-License-Identifier: MIT
 * The socket between the supervisor and the bridge, a program that an engine starts in the
 * sandbox for each host: it forwards its standard streams. */
#ifndef CBX_DOCKER_INSIDE_BRIDGE_BRIDGE_H
#define CBX_DOCKER_INSIDE_BRIDGE_BRIDGE_H

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Variable of the container: with "1" the supervisor listens for bridges, and does not use its
 * own standard streams. */
#define CBX_BRIDGE_VARIABLE "CODEBOX_BRIDGE"
#define CBX_BRIDGE_PROGRAM  "/codebox/bridge"

/* Writes the address and returns its length. It is abstract (unix(7)): no program can remove or
 * replace it. */
static inline socklen_t cbx_bridge_address(struct sockaddr_un *out)
{
    static const char name[] = "codebox-bridge";
    *out = (struct sockaddr_un){ .sun_family = AF_UNIX };
    memcpy(out->sun_path + 1, name, sizeof(name) - 1);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(name));
}

#endif
