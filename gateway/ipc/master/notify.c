/* SPDX-License-Identifier: MIT
 * Messages to the service manager. */
#include "gateway/ipc/master/notify.h"

#include "policies/base/auto.h"
#include "policies/base/log.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

/* `name` is a path, or a name of the abstract namespace that begins with '@'. */
static int connect_to(const char *name)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    size_t len = strlen(name);
    if ((name[0] != '/' && name[0] != '@') || len >= sizeof(address.sun_path)) {
        errno = EINVAL;
        return -1;
    }
    memcpy(address.sun_path, name, len);
    if (name[0] == '@') {
        address.sun_path[0] = '\0';
    }
    CBX_AUTO_FD fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, size) < 0) {
        return -1;
    }
    return cbx_fd_steal(&fd);
}

/* WATCHDOG_PID, if set, is the process that must send the messages. */
static int64_t watchdog_ms(void)
{
    const char *us = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    bool ours = pid == NULL || strtoll(pid, NULL, 10) == getpid();
    long long value = us != NULL && ours ? strtoll(us, NULL, 10) : 0;
    return value >= 2000 && value < INT64_C(86400000000) ? value / 2000 : 0;
}

void cbx_notify_init(struct cbx_notify *notify)
{
    const char *name = getenv("NOTIFY_SOCKET");
    *notify = (struct cbx_notify){ .fd = -1 };
    if (name == NULL || name[0] == '\0') {
        return;
    }
    notify->fd = connect_to(name);
    if (notify->fd < 0) {
        cbx_log(CBX_LOG_WARNING, "the service manager's socket '%s' cannot be reached: %s", name,
                strerror(errno));
        return;
    }
    notify->watchdog_ms = watchdog_ms();
}

void cbx_notify_done(struct cbx_notify *notify)
{
    cbx_fd_auto(&notify->fd);
}

void cbx_notify_send(const struct cbx_notify *notify, const char *state)
{
    if (notify->fd >= 0) {
        send(notify->fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

void cbx_notify_reloading(const struct cbx_notify *notify)
{
    char state[96];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%lld",
             (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    cbx_notify_send(notify, state);
}
