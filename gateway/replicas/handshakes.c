/* SPDX-License-Identifier: MIT
 * The list: a socket is shut down under the lock, so not after its descriptor was used again. */
#include "gateway/replicas/handshakes.h"

#include <string.h>
#include <sys/socket.h>

void cbx_handshakes_init(struct cbx_handshakes *h)
{
    *h = (struct cbx_handshakes){ .count = 0 };
    pthread_mutex_init(&h->lock, NULL);
}

/* With the lock. */
static void remove_at(struct cbx_handshakes *h, size_t at)
{
    h->count--;
    memmove(h->fds + at, h->fds + at + 1, (h->count - at) * sizeof(h->fds[0]));
}

/* With the lock. */
static void end_oldest(struct cbx_handshakes *h)
{
    shutdown(h->fds[0], SHUT_RDWR);
    remove_at(h, 0);
}

bool cbx_handshakes_evict(struct cbx_handshakes *h)
{
    pthread_mutex_lock(&h->lock);
    bool found = h->count > 0;
    if (found) {
        end_oldest(h);
    }
    pthread_mutex_unlock(&h->lock);
    return found;
}

void cbx_handshakes_begin(struct cbx_handshakes *h, int fd)
{
    pthread_mutex_lock(&h->lock);
    if (h->count == CBX_HANDSHAKES_MAX) {
        end_oldest(h);
    }
    h->fds[h->count++] = fd;
    pthread_mutex_unlock(&h->lock);
}

void cbx_handshakes_end(struct cbx_handshakes *h, int fd)
{
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < h->count; i++) {
        if (h->fds[i] == fd) {
            remove_at(h, i);
            break;
        }
    }
    pthread_mutex_unlock(&h->lock);
}
