/* SPDX-License-Identifier: MIT
 * Pods of this instance that have ended and are still there: a removal may have failed, or its
 * gateway was killed meanwhile. They are kept for a while, because their state says why a run
 * ended. Used by the thread of the watch alone. */
#ifndef CBX_DOCKER_ENGINE_KUBERNETES_KUBE_ENDED_H
#define CBX_DOCKER_ENGINE_KUBERNETES_KUBE_ENDED_H

#include "docker/engine/engine.h"

#include <jansson.h>
#include <stdint.h>

/* Time from the moment when an ended Pod is seen until it is removed. */
enum { CBX_KUBE_ENDED_KEEP_MS = 60000 };

struct cbx_kube_ended_pod {
    char name[64];
    int64_t seen_ms;
};
struct cbx_kube_ended {
    struct cbx_kube_ended_pod *pods;
    size_t count;
};
void cbx_kube_ended_done(struct cbx_kube_ended *ended);

/* Notes a Pod if it has ended and it has the label of this instance. The Pod comes from a reply or
 * an event; the server's selection is not relied upon. Further Pods than a cap are noted when
 * they are listed again. */
void cbx_kube_ended_note(struct cbx_kube_ended *ended, const char *instance, const json_t *pod,
                         int64_t now_ms);
void cbx_kube_ended_forget(struct cbx_kube_ended *ended, const char *name);

/* True if a Pod was seen at least keep_ms ago. */
bool cbx_kube_ended_is_due(const struct cbx_kube_ended *ended, int64_t keep_ms, int64_t now_ms);

/* Removes these Pods. A removal that fails is logged, and tried again after keep_ms. */
void cbx_kube_ended_remove(struct cbx_kube_ended *ended, struct cbx_engine *engine, int64_t keep_ms,
                           int64_t now_ms);

#endif
