/* SPDX-License-Identifier: MIT
 * The guard's decisions without the rest of the supervisor, for its unit tests. Include it once.
 * The calls are calls of the test's own process, whose memory has their paths. */
#ifndef CBX_TESTS_UNIT_DOCKER_GUARD_RIG_H
#define CBX_TESTS_UNIT_DOCKER_GUARD_RIG_H

#include "docker/inside/supervisor/guard_notifier.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "docker/inside/confine/confine.c"
#include "docker/inside/confine/filter.c"
#include "docker/inside/confine/open_places.c"
#include "docker/inside/supervisor/guard_calls.c"
#include "docker/inside/supervisor/guard_files.c"

/* --- the rest of the supervisor --------------------------------------------------------------- */

struct cbx_guard_state cbx_guard;
struct cbx_kernel cbx_kernel;
static char noted[CBX_FRAME_BLOCKED_MAX];
static int notes;

static uint32_t noted_row __attribute__((unused));

void cbx_guard_note(uint32_t refusal, const char *what)
{
    noted_row = refusal;
    snprintf(noted, sizeof(noted), "%s", what);
    notes++;
}

void cbx_guard_printable(char *text)
{
    (void)text;
}

static uint64_t frame_offset; /* where the rig sent a RUN */

bool cbx_kernel_sent(uint8_t type, uint64_t offset)
{
    return type == CBX_FRAME_RUN && offset == frame_offset;
}

enum { ALL = (1 << CBX_GUARD_COUNT) - 1 };

static inline int decide_with(unsigned kind, pid_t pid, int number, const uint64_t args[6])
{
    struct cbx_listener listener = { .fd = -1, .kind = kind };
    struct seccomp_notif call = { .pid = (uint32_t)pid, .data = { .nr = number } };
    memcpy(call.data.args, args, sizeof(call.data.args));
    noted[0] = '\0';
    notes = 0;
    return cbx_guard_decide(&listener, &call);
}

static inline int decide_as(unsigned kind, int number, uint64_t a, uint64_t b, uint64_t c)
{
    return decide_with(kind, getpid(), number, (uint64_t[6]){ a, b, c });
}

static inline uint64_t at(const char *text)
{
    return (uint64_t)(uintptr_t)text;
}

static inline int exec_as(unsigned kind, const char *path)
{
    return decide_as(kind, SYS_execve, at(path), 0, 0);
}

static inline void refuse(uint32_t bits, const char *programs, size_t len)
{
    static char list[256];
    memcpy(list, programs, len);
    cbx_guard = (struct cbx_guard_state){ .refused = bits, .programs = list, .programs_len = len };
    cbx_kernel.pid = getpid() + 100000;
}

#endif
