/* SPDX-License-Identifier: MIT
 * Arguments of calls as JSON, by the rows of executor.def. */
#include "gateway/ipc/wire/executor_calls.h"

#include "policies/packages.h"

#include <string.h>

static const struct {
    const char *name;
    bool may_retry;
} calls[] = {
#define RETRY                                 true
#define ONCE                                  false
#define CBX_CALL(name, serve, retry, meaning) { #name, retry },
#define CBX_ARG(call, member, type, required, max)
#define CBX_CALL_END(name)
#include "gateway/ipc/wire/executor.def"
#undef CBX_CALL
#undef CBX_ARG
#undef CBX_CALL_END
#undef RETRY
#undef ONCE
};

const char *cbx_call_name(enum cbx_executor_call call)
{
    return call < CBX_CALLS ? calls[call].name : "";
}

bool cbx_call_may_retry(enum cbx_executor_call call)
{
    return call < CBX_CALLS && calls[call].may_retry;
}

enum cbx_executor_call cbx_call_of(const json_t *header)
{
    struct cbx_str name = cbx_json_str(json_object_get(header, "call"));
    enum cbx_executor_call call = 0;
    while (call < CBX_CALLS && !cbx_str_is(name, calls[call].name)) {
        call++;
    }
    return call;
}

/* --- writing ---------------------------------------------------------------------------------- */

static json_t *write_TEXT(struct cbx_str value)
{
    return cbx_json_text(value);
}

static json_t *write_FLAG(bool value)
{
    return json_boolean(value);
}

static json_t *write_LIST(const json_t *value)
{
    return json_incref((json_t *)(uintptr_t)value);
}

#define CBX_CALL(name, serve, retry, meaning)                                                      \
    json_t *cbx_##name##_args_json(const struct cbx_##name##_args *args)                           \
    {                                                                                              \
        json_t *header = json_object();                                                            \
        (void)args;                                                                                \
        json_object_set_new(header, "call", json_string(#name));
#define CBX_ARG(call, member, type, required, max)                                                 \
    json_object_set_new(header, #member, write_##type(args->member));
#define CBX_CALL_END(name)                                                                         \
    return header;                                                                                 \
    }
/* clang-format off */
#include "gateway/ipc/wire/executor.def"
/* clang-format on */
#undef CBX_CALL
#undef CBX_ARG
#undef CBX_CALL_END

/* --- reading ---------------------------------------------------------------------------------- */

/* One argument of a call: its offset in the struct, its type and its limits. */
struct argument {
    enum cbx_executor_call call;
    struct cbx_json_field field;
};

#define READ_TEXT CBX_JSON_STR
#define READ_FLAG CBX_JSON_BOOL
#define READ_LIST CBX_JSON_ARRAY
static const struct argument arguments[] = {
#define CBX_CALL(name, serve, retry, meaning)
#define CBX_ARG(call, member, type, required, max)                                                 \
    { CBX_CALL_##call,                                                                             \
      { #member, READ_##type, offsetof(struct cbx_##call##_args, member), required, false, 0,      \
        max } },
#define CBX_CALL_END(name)
#include "gateway/ipc/wire/executor.def"
#undef CBX_CALL
#undef CBX_ARG
#undef CBX_CALL_END
};
enum { ARGUMENTS = sizeof(arguments) / sizeof(arguments[0]), ARGUMENTS_OF_ONE_MAX = 32 };

/* Number of arguments of each call. */
#define CBX_CALL(name, serve, retry, meaning)      enum { COUNT_##name = 0
#define CBX_ARG(call, member, type, required, max) +1
#define CBX_CALL_END(name)                                                                         \
    }                                                                                              \
    ;                                                                                              \
    _Static_assert((int)COUNT_##name <= (int)ARGUMENTS_OF_ONE_MAX, #name " has more arguments");
#include "gateway/ipc/wire/executor.def"
#undef CBX_CALL
#undef CBX_ARG
#undef CBX_CALL_END

/* Texts become C strings later, so none may have a NUL. */
static int check_text(struct cbx_str *text, const char *name, struct cbx_err *err)
{
    if (text->p == NULL) {
        *text = CBX_STR("");
    }
    if (memchr(text->p, '\0', text->len) != NULL) {
        return cbx_fail(err, CBX_EINVAL, "field '%s' has a NUL in it", name);
    }
    return 0;
}

static int check_list(const json_t *list, const char *name, struct cbx_err *err)
{
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item)
    {
        if (!json_is_string(item)) {
            return cbx_fail(err, CBX_EINVAL, "field '%s' is not a list of strings", name);
        }
    }
    return 0;
}

static int read_arguments(enum cbx_executor_call call, const json_t *header, void *out,
                          struct cbx_err *err)
{
    /* Replace `call` by a separate variable: arguments begin at offset 0. */
    CBX_AUTO_JSON bare = json_copy((json_t *)(uintptr_t)header);
    json_object_del(bare, "call");
    struct cbx_json_field fields[ARGUMENTS_OF_ONE_MAX];
    size_t count = 0;
    for (size_t i = 0; i < ARGUMENTS; i++) {
        if (arguments[i].call == call) {
            fields[count++] = arguments[i].field;
        }
    }
    int failed = cbx_json_read(bare, fields, count, out, err);
    for (size_t i = 0; i < count && !failed; i++) {
        void *member = (char *)out + fields[i].offset;
        if (fields[i].type == CBX_JSON_STR) {
            failed = check_text(member, fields[i].name, err);
        } else if (fields[i].type == CBX_JSON_ARRAY) {
            failed = check_list(*(const json_t **)member, fields[i].name, err);
        }
    }
    if (failed) {
        cbx_wrap(err, "%s", cbx_call_name(call));
        if (err != NULL) {
            err->code = CBX_EPROTO;
        }
        return CBX_EPROTO;
    }
    return 0;
}

#define CBX_CALL(name, serve, retry, meaning)                                                      \
    int cbx_##name##_args_read(const json_t *header, struct cbx_##name##_args *out,                \
                               struct cbx_err *err)                                                \
    {                                                                                              \
        memset(out, 0, sizeof(*out));                                                              \
        return read_arguments(CBX_CALL_##name, header, out, err);                                  \
    }
#define CBX_ARG(call, member, type, required, max)
#define CBX_CALL_END(name)
#include "gateway/ipc/wire/executor.def"
#undef CBX_CALL
#undef CBX_ARG
#undef CBX_CALL_END

/* --- answers ---------------------------------------------------------------------------------- */

static const char *const replies[] = {
    [CBX_REPLY_OTHER] = "",
#define CBX_REPLY(id, text, meaning) [CBX_REPLY_##id] = (text),
#include "gateway/ipc/wire/replies.def"
#undef CBX_REPLY
};
enum { REPLIES = sizeof(replies) / sizeof(replies[0]) };

enum cbx_reply cbx_reply_of(const json_t *header)
{
    struct cbx_str type = cbx_json_str(json_object_get(header, "type"));
    for (unsigned i = 1; i < REPLIES; i++) {
        if (cbx_str_is(type, replies[i])) {
            return (enum cbx_reply)i;
        }
    }
    return CBX_REPLY_OTHER;
}

json_t *cbx_reply_json(enum cbx_reply reply)
{
    json_t *header = json_object();
    json_object_set_new(header, "type", json_string(replies[reply]));
    return header;
}
