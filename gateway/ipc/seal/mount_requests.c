/* SPDX-License-Identifier: MIT
 * Lists of mounts. */
#include "gateway/ipc/seal/mount_requests.h"

#include <stdlib.h>
#include <unistd.h>

static void append(json_t *list, const struct cbx_mount_request *request)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_MOUNT_TEXT_MAX);
    cbx_mount_write(request, &text);
    json_array_append_new(list, cbx_json_text(cbx_buf_str(&text)));
}

/* Reads an entry of CodeBox-AI's mount_points. */
static int read_point(const json_t *object, struct cbx_mount_request *out, struct cbx_err *err)
{
    struct point {
        struct cbx_str host, container;
        bool read_only;
    } point = { .read_only = true };
    static const struct cbx_json_field fields[] = {
        { "host_path", CBX_JSON_STR, offsetof(struct point, host), true, false, 1, 4096 },
        { "container_path", CBX_JSON_STR, offsetof(struct point, container), true, false, 1, 4096 },
        { "read_only", CBX_JSON_BOOL, offsetof(struct point, read_only), false, false, 0, 0 },
    };
    int failed = cbx_json_read(object, fields, sizeof(fields) / sizeof(fields[0]), &point, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 2 * 4096 + 8);
    cbx_buf_printf(&text, "%.*s:%.*s:%s", CBX_STR_ARG(point.host), CBX_STR_ARG(point.container),
                   point.read_only ? "ro" : "rw");
    return cbx_mount_parse(cbx_buf_str(&text), out, err);
}

int cbx_mounts_read(const json_t *asked, json_t **out, struct cbx_err *err)
{
    CBX_AUTO_JSON list = json_array();
    size_t i;
    json_t *item;
    if (json_array_size(asked) > CBX_MOUNTS_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "%zu folders are to be mounted, allowed are %d",
                        json_array_size(asked), CBX_MOUNTS_MAX);
    }
    json_array_foreach((json_t *)(uintptr_t)asked, i, item)
    {
        struct cbx_mount_request request = { 0 };
        int failed;
        if (json_is_string(item)) {
            failed = cbx_mount_parse(cbx_json_str(item), &request, err);
        } else if (json_is_object(item)) {
            failed = read_point(item, &request, err);
        } else {
            failed = cbx_fail(err, CBX_EINVAL, "mount %zu is no text and no object", i + 1);
        }
        if (failed) {
            return cbx_wrap(err, "mounts");
        }
        append(list, &request);
    }
    *out = json_array_size(list) > 0 ? cbx_steal(&list) : NULL;
    return 0;
}

int cbx_mounts_add_option(const char *text, json_t **list, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) full;
    CBX_AUTO_MEM char *folder = text[0] != '/' && text[0] != '~' ? getcwd(NULL, 0) : NULL;
    cbx_buf_init(&full, CBX_MOUNT_TEXT_MAX);
    if (folder != NULL) {
        cbx_buf_printf(&full, "%s/", folder);
    }
    cbx_buf_add_cstr(&full, text);
    if (strchr(text, ':') == NULL) {
        size_t len = full.len;
        cbx_buf_add_char(&full, ':');
        cbx_buf_add(&full, cbx_str_sub(cbx_buf_str(&full), 0, len));
    }
    struct cbx_mount_request request = { 0 };
    int failed;
    if (full.overflow) {
        failed = cbx_fail(err, CBX_ETOOBIG, "its paths have more than %d bytes each",
                          CBX_MOUNT_PATH_MAX - 1);
    } else {
        failed = cbx_mount_parse(cbx_buf_str(&full), &request, err);
    }
    if (failed) {
        return cbx_wrap(err, "--mount");
    }
    *list = *list != NULL ? *list : json_array();
    append(*list, &request);
    return 0;
}

/* --- judging ---------------------------------------------------------------------------------- */

/* Accepts only a text that cbx_mounts_read made. */
static int read_text(const json_t *item, struct cbx_mount_request *out, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_MOUNT_TEXT_MAX);
    int failed = cbx_mount_parse(cbx_json_str(item), out, err);
    if (!failed) {
        cbx_mount_write(out, &text);
        if (!cbx_str_equal(cbx_buf_str(&text), cbx_json_str(item))) {
            failed = cbx_fail(err, CBX_EINVAL, "a mount is not in its canonical form");
        }
    }
    return failed;
}

static int judge(const struct cbx_policy *policy, const struct cbx_mount_request *request,
                 struct cbx_err *err)
{
    char why[CBX_MOUNT_WHY_MAX];
    if (cbx_mount_allowed(&policy->mounts, request, why)) {
        return 0;
    }
    bool listed = cbx_mount_is_denied(&policy->mounts, request);
    cbx_fail(err, CBX_EINVAL, "policy '%.*s' mounts no '%.80s': %s", CBX_STR_SHOWN(policy->name),
             request->host,
             listed ? "it is, holds or lies in a folder that is never mounted" : why);
    if (listed) { /* the entry is for the operator: its path may differ from the caller's */
        cbx_err_detail(err, "%s", why);
    }
    return CBX_EINVAL;
}

/* The engine would create the mount point of a nested mount in the folder of the host. */
static bool overlap(const struct cbx_mount_request *a, const struct cbx_mount_request *b)
{
    return cbx_mount_lies_in(a->container, b->container) ||
           cbx_mount_lies_in(b->container, a->container);
}

int cbx_mounts_check(const struct cbx_policy *policy, const json_t *mounts, struct cbx_err *err)
{
    size_t count = json_array_size(mounts);
    if (mounts != NULL && (!json_is_array(mounts) || count > CBX_MOUNTS_MAX)) {
        return cbx_fail(err, CBX_ETOOBIG, "%zu folders are to be mounted, allowed are %d", count,
                        CBX_MOUNTS_MAX);
    }
    struct cbx_mount_request *requests = calloc(count + 1, sizeof(*requests));
    int failed = 0;
    if (requests == NULL) {
        failed = cbx_fail(err, CBX_ETOOBIG, "out of memory");
    }
    for (size_t i = 0; i < count && !failed; i++) {
        failed = read_text(json_array_get(mounts, i), &requests[i], err);
        if (!failed) {
            failed = judge(policy, &requests[i], err);
        }
        for (size_t k = 0; k < i && !failed; k++) {
            if (overlap(&requests[i], &requests[k])) {
                failed = cbx_fail(err, CBX_EINVAL,
                                  "two mounts overlap in the sandbox: '%.100s' and '%.100s'",
                                  requests[k].container, requests[i].container);
            }
        }
    }
    free(requests);
    return failed;
}

struct cbx_strs cbx_mounts_writable(const json_t *mounts, struct cbx_arena *arena)
{
    struct cbx_strs out = { .items = cbx_arena_array(arena, CBX_MOUNTS_MAX, sizeof(*out.items)) };
    size_t i;
    const json_t *item;
    json_array_foreach((json_t *)(uintptr_t)mounts, i, item)
    {
        struct cbx_mount_request request;
        bool writable = out.items != NULL && out.count < CBX_MOUNTS_MAX &&
                        cbx_mount_parse(cbx_json_str(item), &request, NULL) == 0 &&
                        request.writable;
        struct cbx_str path =
            writable ? cbx_arena_copy(arena, cbx_str_of(request.container)) : (struct cbx_str){ 0 };
        if (path.len > 0) {
            ((struct cbx_str *)(uintptr_t)out.items)[out.count++] = path;
        }
    }
    return out;
}

struct cbx_sha256 cbx_mounts_digest(const json_t *mounts)
{
    if (json_array_size(mounts) == 0) {
        return (struct cbx_sha256){ 0 };
    }
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_MOUNTS_MAX * (2 * CBX_MOUNT_TEXT_MAX));
    cbx_json_write(&text, mounts);
    return cbx_sha256_of(cbx_buf_str(&text));
}
