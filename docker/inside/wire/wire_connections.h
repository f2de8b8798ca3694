/* SPDX-License-Identifier: MIT
 * Connections that are forwarded as frames (CONNECT, PART, GRANT, CLOSE;
 * docker/inside/wire/frame.h): the supervisor has the end at the programs, the relay of a proxy
 * the end at the proxy. One table for each process. No call blocks, and at most CBX_FRAME_WINDOW
 * bytes are buffered for a connection in each direction. Frames may be hostile on both sides. */
#ifndef CBX_DOCKER_INSIDE_WIRE_WIRE_CONNECTIONS_H
#define CBX_DOCKER_INSIDE_WIRE_WIRE_CONNECTIONS_H

#include "docker/inside/wire/wire.h"

#include <poll.h>

enum { CBX_CONNECTIONS_MAX = 64 };

/* Sends frames to the host, in order. Set before any other function here is called. */
extern void (*cbx_connections_send)(uint8_t type, const void *a, size_t a_len, const void *b,
                                    size_t b_len);

/* Adds a connected or connecting socket, non-blocking; the table owns it from then on. False if
 * the table is full or has the number already: the caller closes the socket. */
bool cbx_connections_add(uint32_t number, int fd);

int cbx_connections_count(void);

/* cbx_connections_poll writes the descriptors to poll and returns their number, at most
 * CBX_CONNECTIONS_MAX. cbx_connections_serve reads and writes the ready ones, a limited number
 * of bytes of each. */
int cbx_connections_poll(struct pollfd *fds);
void cbx_connections_serve(const struct pollfd *fds, int count);

/* Takes a PART, GRANT or CLOSE of the other side. */
void cbx_connections_take(uint8_t type, const uint8_t *payload, size_t len);

/* Returns the connection's index in the table, 0..CBX_CONNECTIONS_MAX-1, until it ends; -1 = no
 * such number. */
int cbx_connections_slot(uint32_t number);

/* Writes bytes to the connection's socket, as a PART does. */
void cbx_connections_write(uint32_t number, const uint8_t *bytes, size_t len);

/* Ends the socket in both directions: bytes buffered for it, and later ones, are dropped. The
 * other side receives `last`, if its window allows, and the end. The connection stays until the
 * other side has ended too. */
void cbx_connections_end(uint32_t number, const void *last, size_t len);

/* Closes all connections, without frames. */
void cbx_connections_reset(void);

#endif
