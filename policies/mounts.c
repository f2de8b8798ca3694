/* SPDX-License-Identifier: MIT
 * Mount requests. */
#include "policies/mounts.h"

#include "policies/base/text/printable.h"

/* Makes a path straight: no ".", "..", doubled or trailing slashes. */
static int straighten(struct cbx_str path, const char *what, char *out, struct cbx_err *err)
{
    if (path.len == 0 || path.p[0] != '/') {
        return cbx_fail(err, CBX_EINVAL, "the %s is '%.*s', allowed is an absolute path%s", what,
                        CBX_STR_SHOWN(path),
                        path.len > 0 && path.p[0] == '~' ? " ('~' means nothing here)" : "");
    }
    if (path.len >= CBX_MOUNT_PATH_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "the %s has %zu bytes, allowed are %d", what, path.len,
                        CBX_MOUNT_PATH_MAX - 1);
    }
    if (!cbx_printable_has_no_control(path)) {
        return cbx_fail(err, CBX_EINVAL, "the %s holds a control character", what);
    }
    size_t n = cbx_path_append(out, 0, path);
    out[n > 0 ? n : 1] = '\0';
    out[0] = '/';
    return 0;
}

int cbx_mount_parse(struct cbx_str text, struct cbx_mount_request *out, struct cbx_err *err)
{
    struct cbx_str parts[3] = { { 0 } };
    size_t count = 0, from = 0;
    for (size_t i = 0; i <= text.len; i++) {
        if (i == text.len || text.p[i] == ':') {
            if (count == 3) {
                return cbx_fail(err, CBX_EINVAL,
                                "a mount is HOST:CONTAINER or HOST:CONTAINER:MODE; paths with ':' "
                                "cannot be mounted");
            }
            parts[count++] = cbx_str_sub(text, from, i);
            from = i + 1;
        }
    }
    bool writable = cbx_str_is(parts[2], "rw");
    if (count < 2) {
        return cbx_fail(err, CBX_EINVAL,
                        "a mount is HOST:CONTAINER or HOST:CONTAINER:MODE, found is '%.*s'",
                        CBX_STR_SHOWN(text));
    }
    if (count == 3 && !writable && !cbx_str_is(parts[2], "ro")) {
        return cbx_fail(err, CBX_EINVAL, "the mode is '%.*s', allowed are ro and rw",
                        CBX_STR_SHOWN(parts[2]));
    }
    out->writable = writable;
    int failed = straighten(parts[0], "host's path", out->host, err);
    if (failed) {
        return failed;
    }
    return straighten(parts[1], "container's path", out->container, err);
}

void cbx_mount_write(const struct cbx_mount_request *request, struct cbx_buf *out)
{
    cbx_buf_printf(out, "%s:%s:%s", request->host, request->container,
                   request->writable ? "rw" : "ro");
}

/* True if `path` is the folder, or is in it. "/" contains only itself here. */
static bool lies_in(struct cbx_str path, struct cbx_str folder)
{
    if (folder.len <= 1) {
        return cbx_str_equal(path, folder);
    }
    folder.len -= folder.p[folder.len - 1] == '/';
    return cbx_str_starts(path, folder) && (path.len == folder.len || path.p[folder.len] == '/');
}

bool cbx_mount_lies_in(const char *path, const char *folder)
{
    return lies_in(cbx_str_of(path), cbx_str_of(folder));
}

/* True if the glob matches the path, or a folder that contains it. */
static bool covers(struct cbx_str glob, struct cbx_str path)
{
    for (size_t end = path.len; end > 0; end--) {
        bool border = end == path.len || path.p[end] == '/';
        if (border && cbx_str_glob_path(glob, cbx_str_sub(path, 0, end))) {
            return true;
        }
    }
    return lies_in(path, glob);
}

static bool is_denied(const struct cbx_mounts *mounts, struct cbx_str host, char *why)
{
    for (size_t i = 0; i < mounts->deny.count; i++) {
        struct cbx_str entry = mounts->deny.items[i];
        bool root = cbx_str_is(entry, "/");
        bool in = root ? cbx_str_is(host, "/") : covers(entry, host),
             holds = !root && (cbx_str_is(host, "/") || lies_in(entry, host));
        if (in || holds) {
            snprintf(why, CBX_MOUNT_WHY_MAX,
                     "mounts.deny has '%.*s', which the host's path '%.*s' %s", CBX_STR_ARG(entry),
                     CBX_STR_ARG(host),
                     cbx_str_equal(entry, host) ? "is"
                     : in                       ? "matches or lies in"
                                                : "holds");
            return true;
        }
    }
    return false;
}

bool cbx_mount_is_denied(const struct cbx_mounts *mounts, const struct cbx_mount_request *request)
{
    char why[CBX_MOUNT_WHY_MAX];
    return is_denied(mounts, cbx_str_of(request->host), why);
}

static bool is_own(struct cbx_str container, char *why)
{
    static const char *const own[] = {
#define CBX_OWN_FOLDER(path) path,
#include "policies/mounts.def"
    };
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        struct cbx_str folder = cbx_str_of(own[i]);
        if (lies_in(container, folder) || lies_in(folder, container) || container.len <= 1) {
            snprintf(why, CBX_MOUNT_WHY_MAX,
                     "the container's path '%.*s' is, holds or lies in a folder that the sandbox "
                     "has itself: '%s'",
                     CBX_STR_ARG(container), own[i]);
            return true;
        }
    }
    return false;
}

static bool fits_container(const struct cbx_mounts *mounts, struct cbx_str container, char *why)
{
    for (size_t i = 0; i < mounts->container.count; i++) {
        if (lies_in(container, mounts->container.items[i])) {
            return true;
        }
    }
    snprintf(why, CBX_MOUNT_WHY_MAX,
             "the container's path '%.*s' lies in no folder of mounts.container",
             CBX_STR_ARG(container));
    return false;
}

bool cbx_mount_allowed(const struct cbx_mounts *mounts, const struct cbx_mount_request *request,
                       char why[CBX_MOUNT_WHY_MAX])
{
    struct cbx_str host = cbx_str_of(request->host), container = cbx_str_of(request->container);
    if (is_denied(mounts, host, why) || !fits_container(mounts, container, why) ||
        is_own(container, why)) {
        return false;
    }
    const struct cbx_mount_rule *read_only = NULL;
    for (size_t i = 0; i < mounts->allow_count; i++) {
        const struct cbx_mount_rule *rule = &mounts->allow[i];
        if (!covers(rule->host, host)) {
            continue;
        }
        if (rule->writable || !request->writable) {
            snprintf(why, CBX_MOUNT_WHY_MAX, "mounts.allow has '%.*s' (%s)",
                     CBX_STR_ARG(rule->host), rule->writable ? "rw" : "ro");
            return true;
        }
        read_only = rule;
    }
    if (read_only != NULL) {
        snprintf(why, CBX_MOUNT_WHY_MAX, "mounts.allow has '%.*s' for reading only",
                 CBX_STR_ARG(read_only->host));
    } else {
        snprintf(why, CBX_MOUNT_WHY_MAX, "no entry of mounts.allow covers the host's path '%.*s'",
                 CBX_STR_ARG(host));
    }
    return false;
}
