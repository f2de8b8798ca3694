/* SPDX-License-Identifier: MIT
 * The front's side of the executor: one connection per call of executor.def. */
#ifndef CBX_GATEWAY_FRONT_EXECUTOR_CLIENT_H
#define CBX_GATEWAY_FRONT_EXECUTOR_CLIENT_H

#include "gateway/front/review.h"
#include "gateway/ipc/wire/executor_calls.h"
#include "gateway/ipc/wire/ipc_wire.h"

/* cbx_call_close, cbx_call_interrupt, ...: makes the call and waits for its answer, 60 s at
 * most. `bytes` and the answer are described in executor.def; `answer` may be NULL, else it was
 * initialised by the caller. When the executor is killed meanwhile the next one gets the call,
 * unless its row says ONCE. Errors are the executor's; CBX_EENGINE when no executor answers. */
#define DECLARE_STREAM(name)
#define DECLARE_CALL(name)                                                                         \
    int cbx_call_##name(struct cbx_flow *flow, const struct cbx_##name##_args *args,               \
                        struct cbx_str bytes, struct cbx_message *answer, struct cbx_err *err);
#define DECLARE_DIRECT(name)                  DECLARE_CALL(name)
#define DECLARE_ADOPTED(name)                 DECLARE_CALL(name)
#define DECLARE_IDLE(name)                    DECLARE_CALL(name)
#define CBX_CALL(name, serve, retry, meaning) DECLARE_##serve(name)
#define CBX_ARG(call, member, type, required, max)
#define CBX_CALL_END(name)
#include "gateway/ipc/wire/executor.def"
#undef CBX_CALL
#undef CBX_ARG
#undef CBX_CALL_END
#undef DECLARE_STREAM
#undef DECLARE_CALL
#undef DECLARE_DIRECT
#undef DECLARE_ADOPTED
#undef DECLARE_IDLE

/* Submits the sealed decision about a request, with the request's approval when that is for it,
 * and follows it to its end. Fills id, audit_seq, begun, ran, result and hold of `out`. CBX_EIO
 * with an empty id: the executor was killed before it began, nothing ran. */
int cbx_client_submit(struct cbx_flow *flow, const struct cbx_request *request,
                      const struct cbx_judgement *judgement, const struct cbx_sink *sink,
                      struct cbx_outcome *out, struct cbx_err *err);

/* Follows the run out->id, of this request, again from its beginning. CBX_ENOTFOUND when it
 * never began, or its sandbox is gone. */
int cbx_client_resume(struct cbx_flow *flow, const struct cbx_request *request,
                      const struct cbx_sink *sink, struct cbx_outcome *out, struct cbx_err *err);

/* Has the denial of a source recorded that no worker could judge. `decision` is the one that
 * stands for it. */
int cbx_client_record_failure(struct cbx_flow *flow, const struct cbx_request *request,
                              const json_t *decision, struct cbx_outcome *out, struct cbx_err *err);

#endif
