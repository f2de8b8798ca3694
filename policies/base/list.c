/* SPDX-License-Identifier: MIT
 * An intrusive singly linked queue. */
#include "policies/base/list.h"

void cbx_queue_push(struct cbx_queue *queue, struct cbx_link *link)
{
    link->next = NULL;
    *(queue->last != NULL ? &queue->last->next : &queue->first) = link;
    queue->last = link;
    queue->count++;
}

struct cbx_link *cbx_queue_pop(struct cbx_queue *queue)
{
    struct cbx_link *link = queue->first;
    if (link != NULL) {
        cbx_queue_remove(queue, link);
    }
    return link;
}

bool cbx_queue_remove(struct cbx_queue *queue, struct cbx_link *link)
{
    struct cbx_link *before = NULL, **at = &queue->first;
    while (*at != NULL && *at != link) {
        before = *at;
        at = &before->next;
    }
    if (*at == NULL) {
        return false;
    }
    *at = link->next;
    queue->last = queue->last == link ? before : queue->last;
    queue->count--;
    link->next = NULL;
    return true;
}
