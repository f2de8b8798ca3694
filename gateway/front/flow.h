/* SPDX-License-Identifier: MIT
 * The connections and policies of the flow (review.h): the other processes as the front reaches
 * them, and the current policies. */
#ifndef CBX_GATEWAY_FRONT_FLOW_H
#define CBX_GATEWAY_FRONT_FLOW_H

#include "gateway/front/judge.h"
#include "gateway/ipc/master/reload.h"

struct cbx_decisions;
struct cbx_identity;
struct cbx_request;
struct cbx_outcome;

/* The other processes, as the front reaches them. */
struct cbx_flow {
    /* policies of the start: cbx_flow_policies has the current ones */
    struct cbx_policies policies;
    /* NULL = none; never freed, requests borrow from it */
    const struct cbx_policies *_Atomic reloaded;
    int reload;   /* for cbx_reload_listen */
    int keys;     /* for cbx_issuer_keys_start; -1 = none */
    int replicas; /* channel to the process of links (replica_channel.h); -1 = none */
    int database; /* channel to the process of the database (database_remote.h); -1 = none */
    struct cbx_judge *judge;
    int executor;      /* control socket */
    bool small_images; /* true for the small images of kernels that have one */
    /* Called after a decision is in the audit log; the outcome has the decision, and whether it
     * was admitted. NULL = never. */
    void (*recorded)(const struct cbx_flow *flow, const struct cbx_request *request,
                     const struct cbx_outcome *outcome, bool admitted);
    struct cbx_decisions *decisions; /* for `recorded`; borrowed */
    /* folders of the host for the sandboxes of MCP over stdio; NULL = none. Borrowed */
    const json_t *mounts;
    /* principals and their policies; NULL: callers are not authenticated. Borrowed */
    const struct cbx_identity *identity;
};

/* Returns the policies for new requests. Objects borrowed from an earlier set stay valid. */
static inline const struct cbx_policies *cbx_flow_policies(const struct cbx_flow *flow)
{
    const struct cbx_policies *reloaded = flow->reloaded;
    return reloaded != NULL ? reloaded : &flow->policies;
}

/* A cbx_reload_apply whose context is the flow: applies a set of policies. */
int cbx_flow_reload(void *flow, const struct cbx_reload_part *part, uint64_t first_number,
                    struct cbx_err *err);

/* Closes the sockets, so that the other processes end, and frees the policies. */
void cbx_flow_done(struct cbx_flow *flow);

#endif
