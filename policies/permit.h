/* SPDX-License-Identifier: MIT
 * A permit: the proof, as a type, that a decision was checked and that its audit record is on disk.
 * docker/ creates and enters containers only with one. Only gateway/executor/audit.c calls
 * cbx_permit_new
 * (`make check-layers` greps). */
#ifndef CBX_POLICIES_PERMIT_H
#define CBX_POLICIES_PERMIT_H

#include "policies/policy.h"

enum { CBX_NAME_MAX = 64 };

/* What a decision is about. */
enum cbx_action {
    CBX_ACTION_CHECK = 0, /* judge only; never gives a permit */
    CBX_ACTION_OPEN,      /* create a session's sandbox */
    CBX_ACTION_RUN,       /* run code, in a session or in a fresh sandbox */
};

/* What runs it: `python` is a plain file, `ipython` a notebook cell that was rewritten to plain
 * Python already (the kernel transforms nothing), `javascript` Node. */
struct cbx_permit {
    char decision[CBX_ID_CHARS + 1];
    char session[CBX_NAME_MAX + 1]; /* empty = one-shot */
    char principal[CBX_NAME_MAX + 1];
    char language[16]; /* "python", "ipython", "javascript", "shell" */
    char policy[CBX_NAME_MAX + 1];
    enum cbx_action action;
    struct cbx_sha256 source_sha256; /* of exactly the bytes that may run; of no bytes for OPEN */
    struct cbx_sha256 policy_sha256;
    struct cbx_limits limits; /* already the smaller of policy and request */
    enum cbx_network network;
    uint64_t audit_seq; /* the record that allows it */
};

/* A copy on the heap. */
struct cbx_permit *cbx_permit_new(const struct cbx_permit *fields);
void cbx_permit_free(struct cbx_permit *permit);
CBX_DEFINE_AUTO(permit)

#endif
