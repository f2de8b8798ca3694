/* SPDX-License-Identifier: MIT
 * Threads that take connections. */
#include "gateway/executor/acceptors.h"

#include "gateway/ipc/wire/ipc_wire.h"
#include "policies/base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* Maximum number of waiting threads: a burst creates more, and the additional ones end after
 * their call. */
enum { WAITING_MAX = 4, STACK_BYTES = 1024 * 1024 };

struct acceptors {
    struct cbx_acceptors_config config;
    pthread_mutex_t lock;
    int threads, waiting;
};

static void *accept_connections(void *context);

/* Starts one more thread and counts it as waiting. Call it with the lock held. */
static bool start_thread(struct acceptors *a)
{
    pthread_attr_t attributes;
    pthread_t id;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    bool started =
        a->threads < a->config.max && pthread_create(&id, &attributes, accept_connections, a) == 0;
    pthread_attr_destroy(&attributes);
    a->threads += started;
    a->waiting += started;
    return started;
}

/* Leaves the waiting state if another thread waits or can be started. */
static bool leave_waiting(struct acceptors *a)
{
    pthread_mutex_lock(&a->lock);
    bool may_serve = a->waiting > 1 || start_thread(a);
    a->waiting -= may_serve;
    pthread_mutex_unlock(&a->lock);
    return may_serve;
}

/* Enters the waiting state again; false if enough other threads wait. */
static bool enter_waiting(struct acceptors *a)
{
    pthread_mutex_lock(&a->lock);
    bool waits = a->waiting < WAITING_MAX;
    a->waiting += waits;
    a->threads -= !waits;
    pthread_mutex_unlock(&a->lock);
    return waits;
}

static void *accept_connections(void *context)
{
    struct acceptors *a = context;
    int fd;
    char tag;
    while (cbx_wire_receive_fd(a->config.control, &fd, &tag, NULL) == 0) {
        if (fd < 0) {
            continue;
        }
        if (!leave_waiting(a)) {
            /* the front treats this call as lost with a killed executor: nothing ran */
            close(fd);
            continue;
        }
        a->config.serve(a->config.context, fd);
        if (!enter_waiting(a)) {
            return NULL;
        }
    }
    a->config.ended(a->config.context);
    return NULL;
}

bool cbx_acceptors_start(const struct cbx_acceptors_config *config)
{
    struct acceptors *a = cbx_new(sizeof(*a));
    a->config = *config;
    pthread_mutex_init(&a->lock, NULL);
    pthread_mutex_lock(&a->lock);
    bool started = start_thread(a);
    pthread_mutex_unlock(&a->lock);
    return started;
}
