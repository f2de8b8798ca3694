/* SPDX-License-Identifier: MIT
 * An approval of a decision that asks: a client, or a principal over REST, accepted one
 * execution of exactly the judged program. The front reports it; the executor records it before
 * the program starts. If callers are authenticated, the approval includes the approver's
 * voucher; otherwise it is a claim of the client. An approval never makes a denied program run. */
#ifndef CBX_GATEWAY_IPC_SEAL_APPROVAL_H
#define CBX_GATEWAY_IPC_SEAL_APPROVAL_H

#include "gateway/ipc/seal/subject.h"
#include "policies/base/hash.h"
#include "policies/permit.h"

/* Terminated texts (approval.def); zeroed memory is no approval. */
struct cbx_approval {
#define CBX_APPROVAL(member, max_bytes, meaning) char member[(max_bytes) + 1];
#include "gateway/ipc/seal/approval.def"
#undef CBX_APPROVAL
};

#endif
