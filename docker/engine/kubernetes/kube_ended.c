/* SPDX-License-Identifier: MIT
 * Removes Pods that have ended. */
#include "docker/engine/kubernetes/kube_ended.h"

#include "docker/engine/kubernetes/kube.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/text/json.h"

#include <stdlib.h>
#include <string.h>

enum { ENDED_MAX = 1024 };

void cbx_kube_ended_done(struct cbx_kube_ended *ended)
{
    free(ended->pods);
    *ended = (struct cbx_kube_ended){ 0 };
}

static struct cbx_kube_ended_pod *find(const struct cbx_kube_ended *ended, const char *name)
{
    for (size_t i = 0; i < ended->count; i++) {
        if (strcmp(ended->pods[i].name, name) == 0) {
            return &ended->pods[i];
        }
    }
    return NULL;
}

void cbx_kube_ended_note(struct cbx_kube_ended *ended, const char *instance, const json_t *pod,
                         int64_t now_ms)
{
    const json_t *metadata = json_object_get(pod, "metadata"),
                 *labels = json_object_get(metadata, "labels");
    struct cbx_str name = cbx_json_str(json_object_get(metadata, "name"));
    struct cbx_kube_pod state;
    bool owned = cbx_str_is(cbx_json_str(json_object_get(labels, CBX_LABEL_INSTANCE)), instance);
    cbx_kube_pod_read(pod, &state);
    if (!owned || state.phase != CBX_POD_ENDED || name.len == 0 ||
        name.len >= sizeof(ended->pods->name) || ended->count == ENDED_MAX ||
        find(ended, name.p) != NULL) {
        return;
    }
    ended->pods = cbx_grow(ended->pods, ended->count, sizeof(*ended->pods));
    struct cbx_kube_ended_pod *one = &ended->pods[ended->count++];
    *one = (struct cbx_kube_ended_pod){ .seen_ms = now_ms };
    snprintf(one->name, sizeof(one->name), "%s", name.p);
    /* one that is being removed was there before */
    bool removed = json_object_get(metadata, "deletionTimestamp") != NULL;
    if (state.taken && !removed && state.reason[0] != '\0') {
        cbx_log(CBX_LOG_WARNING, "the cluster has ended pod %s on node %s: %s: %s", one->name,
                state.node, state.reason, state.message);
    }
}

void cbx_kube_ended_forget(struct cbx_kube_ended *ended, const char *name)
{
    struct cbx_kube_ended_pod *one = find(ended, name);
    if (one != NULL) {
        *one = ended->pods[--ended->count];
    }
}

bool cbx_kube_ended_is_due(const struct cbx_kube_ended *ended, int64_t keep_ms, int64_t now_ms)
{
    for (size_t i = 0; i < ended->count; i++) {
        if (now_ms - ended->pods[i].seen_ms >= keep_ms) {
            return true;
        }
    }
    return false;
}

void cbx_kube_ended_remove(struct cbx_kube_ended *ended, struct cbx_engine *engine, int64_t keep_ms,
                           int64_t now_ms)
{
    for (size_t i = 0; i < ended->count;) {
        struct cbx_kube_ended_pod *one = &ended->pods[i];
        struct cbx_err err = { 0 };
        if (now_ms - one->seen_ms < keep_ms) {
            i++;
            continue;
        }
        if (cbx_engine_container_remove(engine, one->name, &err) != 0) {
            cbx_log(CBX_LOG_WARNING, "pod %s, which has ended, is not removed: %s", one->name,
                    cbx_err_full(&err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
            one->seen_ms = now_ms;
            i++;
            continue;
        }
        *one = ended->pods[--ended->count]; /* which is looked at next */
    }
}
