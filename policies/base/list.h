/* SPDX-License-Identifier: MIT
 * An intrusive singly linked queue, first in, first out. The owner embeds a struct cbx_link; the
 * queue allocates nothing and owns nothing. A link is in at most one queue at a time. Not
 * thread-safe: the caller's lock protects queue and links. */
#ifndef CBX_POLICIES_BASE_LIST_H
#define CBX_POLICIES_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct cbx_link {
    struct cbx_link *next;
};

/* Zeroed memory is an empty queue. */
struct cbx_queue {
    struct cbx_link *first, *last;
    size_t count;
};

/* The struct that embeds `link` as `member`; NULL for NULL. */
#define CBX_LINK_OWNER(link, type, member)                                                         \
    __extension__({                                                                                \
        struct cbx_link *link_ = (link);                                                           \
        link_ != NULL ? (type *)(void *)((char *)link_ - offsetof(type, member)) : NULL;           \
    })

/* Appends `link`, which must be in no queue. */
void cbx_queue_push(struct cbx_queue *queue, struct cbx_link *link);

/* Removes and returns the first link; NULL if the queue is empty. */
struct cbx_link *cbx_queue_pop(struct cbx_queue *queue);

/* Removes `link` at any position: linear. False if it is not in this queue. */
bool cbx_queue_remove(struct cbx_queue *queue, struct cbx_link *link);

#endif
