/* SPDX-License-Identifier: MIT
 * Requests to a sandbox between runs: its files, and a new kernel. The replies are hostile, like
 * all bytes from a sandbox. */
#include "docker/engine/silence.h"
#include "docker/sandbox/sandbox_internal.h"
#include "policies/base/memory.h"
#include "policies/base/sort.h"
#include "policies/base/time/clock.h"

#include <errno.h>
#include <stdlib.h>

enum { ANSWER_TIMEOUT_MS = 30000 };

/* A request; the payload is `head` followed by `data`. */
struct request {
    uint8_t type;
    struct cbx_str head, data;
    int timeout_ms; /* 0 = ANSWER_TIMEOUT_MS */
};

/* A reply; `code` is an errno value, 0 = done. `data` is borrowed until the next request. */
struct answer {
    uint32_t code;
    struct cbx_str data;
};

static int ask(struct cbx_sandbox *sandbox, struct request request, struct answer *out,
               struct cbx_err *err)
{
    if (!sandbox->alive) {
        return cbx_fail(err, CBX_ESTATE, "the sandbox is gone");
    }
    cbx_sandbox_hear(sandbox);
    int failed = cbx_sandbox_send(sandbox, request.type, request.head, request.data, err);
    int64_t deadline =
        cbx_clock_ms() + (request.timeout_ms > 0 ? request.timeout_ms : ANSWER_TIMEOUT_MS);
    struct cbx_frame frame = { 0 };
    while (!failed && frame.type != CBX_FRAME_ANSWER) { /* other frames belong to earlier runs */
        failed = cbx_sandbox_receive(sandbox, deadline, &frame, err);
    }
    if (!failed && frame.payload.len < sizeof(out->code)) {
        failed = cbx_fail(err, CBX_EPROTO, "the sandbox sent a truncated answer");
    }
    if (failed == CBX_ETOOBIG) {
        return failed;
    }
    if (failed) {
        cbx_sandbox_note_failed(sandbox, failed);
        return failed;
    }
    memcpy(&out->code, frame.payload.p, sizeof(out->code));
    out->data = cbx_str_sub(frame.payload, sizeof(out->code), frame.payload.len);
    return 0;
}

/* Sends a request whose reply has only a code. */
static int ask_code(struct cbx_sandbox *sandbox, struct request request, uint32_t *code,
                    struct cbx_err *err)
{
    struct answer answer;
    int failed = ask(sandbox, request, &answer, err);
    if (!failed) {
        *code = answer.code;
        cbx_sandbox_trim(sandbox);
    }
    return failed;
}

int cbx_sandbox_ask(struct cbx_sandbox *sandbox, uint8_t type, struct cbx_str *out,
                    struct cbx_err *err)
{
    struct request request = { .type = type };
    struct answer answer;
    int failed = ask(sandbox, request, &answer, err);
    if (!failed && answer.code != 0) {
        failed = cbx_fail(err, CBX_EPROTO, "error %u in the sandbox", answer.code);
    }
    if (!failed) {
        *out = answer.data;
    }
    return failed;
}

/* Takes the first refusal of a reply, and the rest; false if there is none, or it is malformed. */
static bool take_refusal(struct cbx_str *rest, struct cbx_event *out)
{
    struct cbx_frame_blocked head;
    if (rest->len < sizeof(head) + 1) {
        return false;
    }
    memcpy(&head, rest->p, sizeof(head));
    size_t end = sizeof(head) + 1 + (uint8_t)rest->p[sizeof(head)];
    if (rest->len < end || head.refusal >= CBX_REFUSALS) {
        return false;
    }
    *out = (struct cbx_event){ .kind = CBX_EVENT_BLOCKED,
                               .text = cbx_str_sub(*rest, sizeof(head) + 1, end),
                               .refusal = head.refusal,
                               .count = head.count };
    *rest = cbx_str_sub(*rest, end, rest->len);
    return true;
}

int cbx_sandbox_take_refusals(struct cbx_sandbox *sandbox, const struct cbx_sink *sink,
                              struct cbx_err *err)
{
    enum { TIMEOUT_MS = 2000 };
    struct request request = { .type = CBX_FRAME_REFUSALS, .timeout_ms = TIMEOUT_MS };
    struct answer answer;
    int failed = ask(sandbox, request, &answer, err);
    if (failed) {
        return failed;
    }
    struct cbx_event event;
    while (answer.code == 0 && take_refusal(&answer.data, &event)) {
        sink->event(sink->context, &event);
    }
    cbx_sandbox_trim(sandbox);
    if (answer.code != 0) {
        return cbx_fail(err, CBX_ESTATE, "a program runs in the sandbox");
    }
    return 0;
}

static const struct {
    int number, code;
    const char *text;
} reasons[] = {
    { ENOENT, CBX_ENOTFOUND, "there is no such file in the workspace" },
    { ENOTDIR, CBX_EINVAL, "a part of the path is no folder" },
    { EISDIR, CBX_EINVAL, "it is a folder" },
    { EXDEV, CBX_EINVAL, "the path leaves the workspace" },
    { ELOOP, CBX_EINVAL, "the path leads through a link, or is nested too deeply" },
    { EINVAL, CBX_EINVAL, "it is no regular file, or the path is invalid" },
    { ENXIO, CBX_EINVAL, "it is no regular file" },
    { ENAMETOOLONG, CBX_EINVAL, "a name has more than 255 bytes" },
    { EFBIG, CBX_ETOOBIG, "the file is larger than allowed" },
    { E2BIG, CBX_ETOOBIG, "the folder has too many entries" },
    { ENOSPC, CBX_ETOOBIG, "the workspace is full" },
    { EDQUOT, CBX_ETOOBIG, "the workspace is full" },
    { EACCES, CBX_EINVAL, "the program removed the permission" },
};

static int refuse(uint32_t number, struct cbx_str path, struct cbx_err *err)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if ((uint32_t)reasons[i].number == number) {
            return cbx_fail(err, reasons[i].code, "'%.*s': %s",
                            CBX_STR_SHOWN(cbx_str_sub(path, 0, 200)), reasons[i].text);
        }
    }
    return cbx_fail(err, CBX_EIO, "'%.*s': error %u in the sandbox",
                    CBX_STR_SHOWN(cbx_str_sub(path, 0, 200)), number);
}

static int check_path(struct cbx_str path, bool may_be_empty, struct cbx_err *err)
{
    if (path.len > CBX_FRAME_PATH_MAX || (path.len > 0 && memchr(path.p, '\0', path.len) != NULL) ||
        (path.len == 0 && !may_be_empty)) {
        return cbx_fail(err, CBX_EINVAL, "a path has %zu bytes, allowed is 1 to %d without a NUL",
                        path.len, CBX_FRAME_PATH_MAX);
    }
    return 0;
}

int cbx_sandbox_put(struct cbx_sandbox *sandbox, struct cbx_str path, struct cbx_str bytes,
                    struct cbx_err *err)
{
    sandbox->touched = true;
    int failed = check_path(path, false, err);
    if (failed) {
        return failed;
    }
    if ((int64_t)bytes.len > sandbox->limits.files_bytes) {
        return cbx_fail(err, CBX_ETOOBIG, "the file has %zu bytes, allowed are %lld", bytes.len,
                        (long long)sandbox->limits.files_bytes);
    }
    uint32_t len = (uint32_t)path.len;
    CBX_AUTO_DONE(buf) head;
    cbx_buf_init(&head, sizeof(len) + CBX_FRAME_PATH_MAX);
    cbx_buf_add_bytes(&head, &len, sizeof(len));
    cbx_buf_add(&head, path);
    struct request request = { .type = CBX_FRAME_PUT, .head = cbx_buf_str(&head), .data = bytes };
    uint32_t code = 0;
    failed = ask_code(sandbox, request, &code, err);
    if (failed) {
        return failed;
    }
    if (code != 0) {
        return refuse(code, path, err);
    }
    return 0;
}

int cbx_sandbox_get(struct cbx_sandbox *sandbox, struct cbx_str path, struct cbx_buf *out,
                    struct cbx_err *err)
{
    int failed = check_path(path, false, err);
    if (failed) {
        return failed;
    }
    int64_t most = sandbox->limits.files_bytes < CBX_FRAME_DATA_MAX - 4
                       ? sandbox->limits.files_bytes
                       : CBX_FRAME_DATA_MAX - 4;
    uint32_t number = (uint32_t)most;
    struct cbx_str head = { .p = (const char *)&number, .len = sizeof(number) };
    struct answer answer;
    failed = ask(sandbox, (struct request){ .type = CBX_FRAME_GET, .head = head, .data = path },
                 &answer, err);
    if (failed) {
        return failed;
    }
    if (answer.code != 0) {
        failed = refuse(answer.code, path, err);
    } else if (cbx_buf_add(out, answer.data) != 0) {
        failed = cbx_fail(err, CBX_ETOOBIG, "the file has %zu bytes", answer.data.len);
    }
    cbx_sandbox_trim(sandbox);
    return failed;
}

int cbx_sandbox_delete(struct cbx_sandbox *sandbox, struct cbx_str path, struct cbx_err *err)
{
    sandbox->touched = true;
    struct request request = { .type = CBX_FRAME_DELETE, .data = path };
    uint32_t code = 0;
    int failed = check_path(path, false, err);
    if (failed) {
        return failed;
    }
    failed = ask_code(sandbox, request, &code, err);
    if (failed) {
        return failed;
    }
    if (code != 0) {
        return refuse(code, path, err);
    }
    return 0;
}

/* Adds an entry that the sandbox has completed to its ledger. */
static int add_to_ledger(struct cbx_sandbox *sandbox, const struct cbx_sha256 *entry,
                         struct cbx_err *err)
{
    struct cbx_sha256 after = cbx_ledger_add(&sandbox->ledger, entry);
    CBX_AUTO_DONE(buf) frames;
    cbx_buf_init(&frames, CBX_FRAME_TAG_MAX + CBX_FRAME_HEAD_BYTES);
    int failed = cbx_sandbox_set_ledger(sandbox, &after, &frames, err);
    if (failed) {
        return failed;
    }
    return cbx_sandbox_send_bytes(sandbox, cbx_buf_str(&frames), err);
}

int cbx_sandbox_put_judged(struct cbx_sandbox *sandbox, const struct cbx_permit *permit,
                           struct cbx_str bytes, struct cbx_err *err)
{
    sandbox->touched = true;
    int failed = cbx_sandbox_check_permit(sandbox, permit, CBX_ACTION_FILE, bytes, err);
    if (failed) {
        return failed;
    }
    failed = cbx_sandbox_put(sandbox, cbx_str_of(permit->path), bytes, err);
    if (failed) {
        return failed;
    }
    return add_to_ledger(sandbox, &permit->entry, err);
}

int cbx_sandbox_reset(struct cbx_sandbox *sandbox, const struct cbx_sha256 *ledger,
                      struct cbx_err *err)
{
    sandbox->touched = true;
    const struct cbx_entry reset = { .kind = CBX_ENTRY_RESET };
    struct cbx_sha256 entry = cbx_entry_hash(&reset), after = cbx_ledger_add(ledger, &entry);
    bool done = cbx_sha256_equal(&after, &sandbox->ledger);
    if (!done && !cbx_sha256_equal(ledger, &sandbox->ledger)) {
        return cbx_fail(err, CBX_ESTALE, "the session has another state than the caller expects");
    }
    uint32_t code = 0;
    int failed = ask_code(sandbox, (struct request){ .type = CBX_FRAME_RESET }, &code, err);
    if (!failed && code != 0) {
        failed = cbx_fail(err, CBX_EIO, "the sandbox could not start a new kernel");
    }
    if (failed || done) {
        return failed;
    }
    return add_to_ledger(sandbox, &entry, err);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(json_string_value(json_object_get(*(json_t *const *)a, "name")),
                  json_string_value(json_object_get(*(json_t *const *)b, "name")));
}

static json_t *sort(json_t *list)
{
    size_t count = json_array_size(list);
    json_t **items = cbx_new_array(count + 1, sizeof(json_t *));
    for (size_t i = 0; i < count; i++) {
        items[i] = json_incref(json_array_get(list, i));
    }
    cbx_sort_heap(items, count, sizeof(json_t *), by_name);
    json_t *sorted = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(sorted, items[i]);
    }
    free(items);
    json_decref(list);
    return sorted;
}

static int read_entries(struct cbx_str answer, json_t **out, struct cbx_err *err)
{
    CBX_AUTO_JSON list = json_array();
    while (answer.len > 0) {
        struct cbx_frame_entry entry;
        if (answer.len < sizeof(entry)) {
            return cbx_fail(err, CBX_EPROTO, "the sandbox sent a truncated answer");
        }
        memcpy(&entry, answer.p, sizeof(entry));
        struct cbx_str name =
            cbx_str_sub(answer, sizeof(entry), sizeof(entry) + (size_t)entry.name_len);
        if (name.len != entry.name_len || name.len == 0 || name.len > 255 ||
            memchr(name.p, '/', name.len) != NULL || memchr(name.p, '\0', name.len) != NULL) {
            return cbx_fail(err, CBX_EPROTO, "the sandbox sent an invalid file name");
        }
        uint64_t size = entry.size_bytes > INT64_MAX ? INT64_MAX : entry.size_bytes;
        json_array_append_new(list,
                              json_pack("{s:o,s:I,s:I,s:b}", "name", cbx_json_text(name), "size",
                                        (json_int_t)size, "modified", (json_int_t)entry.modified_s,
                                        "folder", entry.is_folder == 1));
        answer = cbx_str_sub(answer, sizeof(entry) + name.len, answer.len);
    }
    *out = sort(cbx_steal(&list));
    return 0;
}

int cbx_sandbox_list(struct cbx_sandbox *sandbox, struct cbx_str path, json_t **out, bool *complete,
                     struct cbx_err *err)
{
    struct request request = { .type = CBX_FRAME_LIST, .data = path };
    struct answer answer;
    int failed = check_path(path, true, err);
    if (failed) {
        return failed;
    }
    failed = ask(sandbox, request, &answer, err);
    if (failed) {
        return failed;
    }
    *complete = answer.code == 0;
    if (answer.code == 0 || answer.code == E2BIG) {
        failed = read_entries(answer.data, out, err);
    } else {
        failed = refuse(answer.code, path, err);
    }
    cbx_sandbox_trim(sandbox);
    return failed;
}

bool cbx_sandbox_ping(struct cbx_sandbox *sandbox)
{
    if (!sandbox->alive) {
        return false;
    }
    cbx_sandbox_hear(sandbox);
    int64_t deadline = cbx_clock_ms() + CBX_SILENCE_MAX_MS;
    int failed = cbx_sandbox_send(sandbox, CBX_FRAME_PING, CBX_STR(""), CBX_STR(""), NULL);
    sandbox->link.stage = CBX_LINK_PINGED;
    struct cbx_frame frame = { 0 };
    while (!failed && frame.type != CBX_FRAME_PONG) {
        failed = cbx_sandbox_receive(sandbox, deadline, &frame, NULL);
    }
    cbx_sandbox_trim(sandbox);
    sandbox->alive = !failed;
    return sandbox->alive;
}
