/* SPDX-License-Identifier: MIT
 * Messages to the service manager that started the gateway: datagrams to the socket that
 * $NOTIFY_SOCKET names, as systemd's sd_notify(3) describes. Does nothing where there is none. */
#ifndef CBX_GATEWAY_IPC_MASTER_NOTIFY_H
#define CBX_GATEWAY_IPC_MASTER_NOTIFY_H

#include <stdint.h>

struct cbx_notify {
    int fd; /* connected; -1 = none */
    int64_t
        watchdog_ms; /* between two messages at most, half of what the manager allows; 0 = none wanted */
};

/* Connects, before the process is confined. A socket that cannot be reached is a warning. */
void cbx_notify_init(struct cbx_notify *notify);
void cbx_notify_done(struct cbx_notify *notify);

/* Sends one state: "READY=1", "STOPPING=1", "WATCHDOG=1", lines. Never blocks. */
void cbx_notify_send(const struct cbx_notify *notify, const char *state);

/* "RELOADING=1" with the time, as Type=notify-reload wants it; READY=1 ends it. */
void cbx_notify_reloading(const struct cbx_notify *notify);

#endif
