/* SPDX-License-Identifier: MIT
 * Messages to the service manager that started the gateway: datagrams to the socket in
 * $NOTIFY_SOCKET, as in systemd's sd_notify(3). Without that variable the functions have no
 * effect. */
#ifndef CBX_GATEWAY_IPC_MASTER_NOTIFY_H
#define CBX_GATEWAY_IPC_MASTER_NOTIFY_H

#include <stdint.h>

struct cbx_notify {
    int fd; /* connected socket; -1 = none */
    /* longest time between two messages, half of the service manager's timeout; 0 = no watchdog */
    int64_t watchdog_ms;
};

/* Connects, before the process is confined. A socket that cannot be reached is a warning. */
void cbx_notify_init(struct cbx_notify *notify);
void cbx_notify_done(struct cbx_notify *notify);

/* Sends one state, a list of lines: "READY=1", "STOPPING=1", "WATCHDOG=1". Never blocks. */
void cbx_notify_send(const struct cbx_notify *notify, const char *state);

/* Sends "RELOADING=1" with the time, as Type=notify-reload requires; READY=1 ends the reload. */
void cbx_notify_reloading(const struct cbx_notify *notify);

#endif
