/* SPDX-License-Identifier: MIT
 * The threads that take connections from the control socket. The thread that takes one serves
 * it, so that a call costs no change of threads; before it serves, it makes sure that another
 * one waits. */
#ifndef CBX_GATEWAY_EXECUTOR_ACCEPTORS_H
#define CBX_GATEWAY_EXECUTOR_ACCEPTORS_H

#include <stdbool.h>

/* Borrowed for the life of the process. */
struct cbx_acceptors_config {
    int control; /* connections come as descriptors (cbx_wire_receive_fd) */
    int max;     /* threads; with all of them busy a connection is closed at once */
    void (*serve)(void *context, int fd); /* serves a connection and closes it */
    void (*ended)(void *context);         /* the control socket was closed; called once or more */
    void *context;
};

/* Starts the first thread. False when there is none. They end with the process. */
bool cbx_acceptors_start(const struct cbx_acceptors_config *config);

#endif
