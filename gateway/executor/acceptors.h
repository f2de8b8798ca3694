/* SPDX-License-Identifier: MIT
 * The threads that accept connections from the control socket. The thread that accepts a
 * connection serves it, so a call needs no switch between threads; before it serves, it makes
 * sure that another thread waits. */
#ifndef CBX_GATEWAY_EXECUTOR_ACCEPTORS_H
#define CBX_GATEWAY_EXECUTOR_ACCEPTORS_H

#include <stdbool.h>

/* Borrowed for the life of the process. */
struct cbx_acceptors_config {
    int control; /* socket that passes connections as descriptors (cbx_wire_receive_fd) */
    int max;     /* maximum number of threads; if all are busy a connection is closed at once */
    void (*serve)(void *context, int fd); /* serves a connection and closes it */
    void (*ended)(void *context); /* called once or more after the control socket was closed */
    void *context;
};

/* Starts the first thread. False if it cannot be created. The threads end with the process. */
bool cbx_acceptors_start(const struct cbx_acceptors_config *config);

#endif
