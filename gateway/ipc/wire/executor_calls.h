/* SPDX-License-Identifier: MIT
 * The calls of the front to the executor as types: one struct of arguments per row of
 * executor.def, and its conversion to JSON and back. */
#ifndef CBX_GATEWAY_IPC_WIRE_EXECUTOR_CALLS_H
#define CBX_GATEWAY_IPC_WIRE_EXECUTOR_CALLS_H

#include "gateway/ipc/seal/seal.h"

enum cbx_executor_call {
#define CBX_CALL(name, serve, retry, meaning) CBX_CALL_##name,
#define CBX_ARG(call, member, type, required, max)
#define CBX_CALL_END(name)
#include "gateway/ipc/wire/executor.def"
#undef CBX_CALL
#undef CBX_ARG
#undef CBX_CALL_END
    CBX_CALLS, /* number of calls; also "no call" */
};

/* struct cbx_submit_args, struct cbx_resume_args, ... Texts and lists are borrowed. A text from
 * cbx_*_args_read is terminated and has no NUL; an absent one is empty. */
#define CBX_ARG_TEXT                               struct cbx_str
#define CBX_ARG_FLAG                               bool
#define CBX_ARG_LIST                               const json_t *
#define CBX_CALL(name, serve, retry, meaning)      struct cbx_##name##_args {
#define CBX_ARG(call, member, type, required, max) CBX_ARG_##type member;
#define CBX_CALL_END(name)                                                                         \
    }                                                                                              \
    ;
#include "gateway/ipc/wire/executor.def"
#undef CBX_CALL
#undef CBX_ARG
#undef CBX_CALL_END
#undef CBX_ARG_TEXT
#undef CBX_ARG_FLAG
#undef CBX_ARG_LIST

/* For each call: returns its header (new reference), and reads its arguments back. CBX_EPROTO,
 * with the name of the call, for a malformed header. */
#define CBX_CALL(name, serve, retry, meaning)                                                      \
    json_t *cbx_##name##_args_json(const struct cbx_##name##_args *args);                          \
    int cbx_##name##_args_read(const json_t *header, struct cbx_##name##_args *out,                \
                               struct cbx_err *err);
#define CBX_ARG(call, member, type, required, max)
#define CBX_CALL_END(name)
#include "gateway/ipc/wire/executor.def"
#undef CBX_CALL
#undef CBX_ARG
#undef CBX_CALL_END

/* Return the call of a header, CBX_CALLS for a header without a call; and the name of a call, ""
 * for CBX_CALLS. */
enum cbx_executor_call cbx_call_of(const json_t *header);
const char *cbx_call_name(enum cbx_executor_call call);

/* True if the next executor may serve the call after this one was killed. */
bool cbx_call_may_retry(enum cbx_executor_call call);

enum cbx_reply {
    CBX_REPLY_OTHER = 0, /* an event of a run, or no reply */
#define CBX_REPLY(id, text, meaning) CBX_REPLY_##id,
#include "gateway/ipc/wire/replies.def"
#undef CBX_REPLY
};

/* Return the type of a reply; and a new header of that type. */
enum cbx_reply cbx_reply_of(const json_t *header);
json_t *cbx_reply_json(enum cbx_reply reply);

#endif
