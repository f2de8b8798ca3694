/* SPDX-License-Identifier: MIT
 * What the flow (review.h) passes through: the other processes as the front reaches them, and the policies in use. */
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
    struct cbx_policies policies; /* of the start: cbx_flow_policies has those that are in use */
    const struct cbx_policies
        *_Atomic reloaded; /* NULL = none; never freed, requests borrow from it */
    int reload;            /* for cbx_reload_listen */
    int keys;              /* for cbx_issuer_keys_start; -1 = none */
    struct cbx_judge *judge;
    int executor;      /* control socket */
    bool small_images; /* of kernels that have one */
    /* Called when a decision is in the audit log, which is what the outcome has then, and whether it was admitted; NULL = never. */
    void (*recorded)(const struct cbx_flow *flow, const struct cbx_request *request,
                     const struct cbx_outcome *outcome, bool admitted);
    struct cbx_decisions *decisions; /* for `recorded`; borrowed */
    const json_t
        *mounts; /* folders of the host in the sandboxes of MCP over stdio; NULL = none. Borrowed */
    const struct cbx_identity *identity; /* who may run under which policy; NULL: nobody is
                                            authenticated. Borrowed */
};

/* The policies that new requests are judged by. What a request has borrowed from an earlier set stays. */
static inline const struct cbx_policies *cbx_flow_policies(const struct cbx_flow *flow)
{
    const struct cbx_policies *reloaded = flow->reloaded;
    return reloaded != NULL ? reloaded : &flow->policies;
}

/* A cbx_reload_apply whose context is the flow: takes a set of policies over. */
int cbx_flow_reload(void *flow, const struct cbx_reload_part *part, uint64_t first_number,
                    struct cbx_err *err);

/* Closes the sockets, so that the other processes end, and frees the policies. */
void cbx_flow_done(struct cbx_flow *flow);

#endif
