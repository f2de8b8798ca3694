/* SPDX-License-Identifier: MIT
 * Declarations shared by the files that serve the calls of executor.def. */
#ifndef CBX_GATEWAY_EXECUTOR_REQUESTS_INTERNAL_H
#define CBX_GATEWAY_EXECUTOR_REQUESTS_INTERNAL_H

#include "docker/sandbox/sandbox.h"
#include "gateway/executor/executor_internal.h"

/* Sends a reply; takes the reference. CBX_EIO. cbx_executor_answer_done: with nothing in it. */
int cbx_executor_answer(struct cbx_executor_request *r, json_t *header, struct cbx_str bytes,
                        struct cbx_err *err);
int cbx_executor_answer_done(struct cbx_executor_request *r, struct cbx_err *err);

/* Records what has no decision, before it is done. Takes the reference. CBX_EAUDIT. */
int cbx_executor_record(struct cbx_executor *e, const char *type, json_t *body,
                        struct cbx_err *err);

/* cbx_serve_NAME serves a call of a row IDLE: the session is entered, and its sandbox is there. */
#define DECLARE_STREAM(name)
#define DECLARE_DIRECT(name)
#define DECLARE_ADOPTED(name)
#define DECLARE_IDLE(name)                                                                         \
    int cbx_serve_##name(struct cbx_executor_request *r, struct cbx_sandbox *sandbox,              \
                         const struct cbx_##name##_args *args, struct cbx_str bytes,               \
                         struct cbx_err *err);
#define CBX_CALL(name, serve, retry, meaning) DECLARE_##serve(name)
#define CBX_ARG(call, member, type, required, max)
#define CBX_CALL_END(name)
#include "gateway/ipc/wire/executor.def"
#undef CBX_CALL
#undef CBX_ARG
#undef CBX_CALL_END
#undef DECLARE_STREAM
#undef DECLARE_DIRECT
#undef DECLARE_ADOPTED
#undef DECLARE_IDLE

#endif
