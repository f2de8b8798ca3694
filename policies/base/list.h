/* SPDX-License-Identifier: MIT
 * Intrusive singly linked lists. A queue, first in, first out, is for lists with a last element and a
 * count: the owner embeds a struct cbx_link. The macros are for lists of any struct. A list
 * allocates nothing and owns nothing; an element is in at most one list of its link. Not
 * thread-safe: the caller's lock protects list and links. */
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

/* A list of any struct is a pointer to the first element (`first`, an lvalue); the member `next` of
 * the last is NULL. */

/* True if `element` was in the list, and unlinks it: linear. Its own `next` stays. */
#define CBX_LIST_REMOVE(first, element, next)                                                      \
    __extension__({                                                                                \
        __typeof__(first) *at_ = &(first);                                                         \
        while (*at_ != NULL && *at_ != (element)) {                                                \
            at_ = &(*at_)->next;                                                                   \
        }                                                                                          \
        bool found_ = *at_ != NULL;                                                                \
        if (found_) {                                                                              \
            *at_ = (*at_)->next;                                                                   \
        }                                                                                          \
        found_;                                                                                    \
    })

/* Appends `element`, whose `next` is NULL: linear. */
#define CBX_LIST_APPEND(first, element, next)                                                      \
    do {                                                                                           \
        __typeof__(first) *end_ = &(first);                                                        \
        while (*end_ != NULL) {                                                                    \
            end_ = &(*end_)->next;                                                                 \
        }                                                                                          \
        *end_ = (element);                                                                         \
    } while (0)

#endif
