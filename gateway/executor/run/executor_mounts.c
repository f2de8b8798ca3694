/* SPDX-License-Identifier: MIT
 * Opening folders of the host. openat2(2) cannot be used: its flags are in memory, where the
 * executor's seccomp filter cannot check that the call creates no setuid file. openat(2) of one
 * component at a time, with O_NOFOLLOW, follows no link either. */
#include "gateway/executor/run/executor_mounts.h"

#include "gateway/ipc/jail/linux_files.h"
#include "gateway/ipc/seal/mount_requests.h"
#include "policies/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(((struct cbx_sandbox_mounts *)0)->items) /
                       sizeof(struct cbx_container_mount) >=
                   CBX_MOUNTS_MAX,
               "a sandbox takes as many mounts as a decision has");

void cbx_host_mounts_done(struct cbx_host_mounts *mounts)
{
    for (size_t i = 0; i < mounts->mounts.count; i++) {
        close(mounts->mounts.items[i].fd);
    }
    free(mounts->requests);
    json_decref(mounts->description);
    *mounts = (struct cbx_host_mounts){ 0 };
}

/* --- walking ---------------------------------------------------------------------------------- */

static bool is_link(int folder, const char *name)
{
    struct stat status;
    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
}

/* Returns a descriptor of the folder; -1 and errno, ELOOP for a link. */
static int walk(const char *path)
{
    int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && *path != '\0') {
        char name[NAME_MAX + 1];
        path += strspn(path, "/");
        size_t len = strcspn(path, "/");
        if (len > NAME_MAX) {
            errno = ENAMETOOLONG;
            close(fd);
            return -1;
        }
        snprintf(name, sizeof(name), "%.*s", (int)len, path);
        path += len;
        if (len == 0) {
            continue;
        }
        int next = openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), error = errno;
        error = next < 0 && error == ENOTDIR && is_link(fd, name) ? ELOOP : error;
        close(fd);
        fd = next;
        errno = error;
    }
    return fd;
}

/* --- folders that are never mounted ----------------------------------------------------------- */

static bool is_folder(const char *path, const struct stat *folder)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_dev == folder->st_dev &&
           status.st_ino == folder->st_ino;
}

/* True if `host`, which is open as `folder`, is this place, is in it, or contains it. Compares
 * the place's path without links, and identities: a bind mount has another path. */
static bool touches(const char *host, const struct stat *folder, const char *place)
{
    char real[PATH_MAX];
    return place != NULL && realpath(place, real) != NULL &&
           (cbx_mount_lies_in(host, real) || cbx_mount_lies_in(real, host) ||
            strcmp(host, "/") == 0 || is_folder(real, folder));
}

static int check_place(const char *host, int fd, const struct cbx_policy *policy,
                       const struct cbx_host_rules *rules, struct cbx_err *err)
{
    char socket[PATH_MAX] = "";
    if (rules->engine_host != NULL && strncmp(rules->engine_host, "unix://", 7) == 0) {
        snprintf(socket, sizeof(socket), "%s", rules->engine_host + 7);
        char *slash = strrchr(socket, '/');
        socket[slash != NULL && slash != socket ? slash - socket : 0] = '\0';
    }
    const struct {
        const char *path, *what;
    } places[] = {
        { "/proc", "/proc" },
        { "/sys", "/sys" },
        { "/dev", "/dev" },
        { "/run", "/run" },
        { rules->state_dir, "the gateway's state directory" },
        { socket[0] != '\0' ? socket : NULL, "the folder of the engine's socket" },
        { rules->engine_root, "the engine's data" },
    };
    struct stat folder;
    if (fstat(fd, &folder) != 0 || cbx_linux_files_has(fd)) {
        return cbx_fail(err, CBX_EINVAL,
                        "the host's folder '%.160s' is of a file system of Linux itself", host);
    }
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (touches(host, &folder, places[i].path)) {
            return cbx_fail(err, CBX_EINVAL, "the host's folder '%.120s' is, holds or lies in %s",
                            host, places[i].what);
        }
    }
    for (size_t i = 0; i < policy->mounts.deny.count; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "%.*s", CBX_STR_ARG(policy->mounts.deny.items[i]));
        if (path[0] == '/' && is_folder(path, &folder)) {
            cbx_fail(err, CBX_EINVAL,
                     "the host's folder '%.160s' is, by another path, one that mounts.deny has",
                     host);
            cbx_err_detail(err, "'%s'", path); /* the place is not for callers */
            return CBX_EINVAL;
        }
    }
    return 0;
}

/* --- opening ---------------------------------------------------------------------------------- */

static const char *why_not_opened(int error)
{
    switch (error) {
    case ENOENT:
        return "does not exist";
    case ENOTDIR:
        return "is no folder";
    case EACCES:
        return "cannot be reached by the gateway's user";
    case ELOOP:
        return "is being changed while it is opened";
    default:
        return strerror(error);
    }
}

static int fail_walk(const char *host, struct cbx_err *err)
{
    return cbx_fail(err, CBX_EINVAL, "the host's folder '%.160s' %s", host, why_not_opened(errno));
}

/* The path has a link: judges its target, and stores it in the request. */
static int resolve(const struct cbx_policy *policy, struct cbx_mount_request *request,
                   struct cbx_err *err)
{
    char real[PATH_MAX], why[CBX_MOUNT_WHY_MAX];
    struct cbx_mount_request target = *request;
    if (realpath(request->host, real) == NULL) {
        return fail_walk(request->host, err);
    }
    if (strlen(real) >= sizeof(target.host) || strchr(real, ':') != NULL) {
        return cbx_fail(err, CBX_EINVAL,
                        "the host's folder '%.160s' leads to a path that cannot be mounted",
                        request->host);
    }
    memcpy(target.host, real, strlen(real) + 1);
    if (!cbx_mount_allowed(&policy->mounts, &target, why)) {
        cbx_fail(err, CBX_EINVAL,
                 "the host's path '%.160s' is a link that leads out of what the policy mounts",
                 request->host);
        cbx_err_detail(err, "%s", why); /* the link's target is not for callers */
        return CBX_EINVAL;
    }
    *request = target;
    return 0;
}

static int open_one(const struct cbx_policy *policy, const struct cbx_host_rules *rules,
                    struct cbx_mount_request *request, int *out, struct cbx_err *err)
{
    int failed = 0;
    *out = walk(request->host);
    if (*out < 0 && errno == ELOOP) {
        failed = resolve(policy, request, err);
        if (failed) {
            return failed;
        }
        *out = walk(request->host);
    }
    if (*out < 0) {
        return fail_walk(request->host, err);
    }
    return check_place(request->host, *out, policy, rules, err);
}

/* Programs have the user id 65532, or the id that the engine maps it to. The folder may have an
 * access control list with more rights, so this is no error. */
static void note_unwritable(const struct cbx_mount_request *request, int fd)
{
    enum { USER = 65532 };
    struct stat status;
    if (request->writable && fstat(fd, &status) == 0 && (status.st_mode & S_IWOTH) == 0 &&
        status.st_uid != USER && (status.st_gid != USER || (status.st_mode & S_IWGRP) == 0)) {
        cbx_log(CBX_LOG_WARNING,
                "'%.160s' is mounted for writing, and its mode lets no program of a sandbox write "
                "to it: they run as user %d (chown or chmod decide)",
                request->host, USER);
    }
}

static json_t *describe(const struct cbx_mount_request *request, const char *asked)
{
    json_t *json = json_object();
    json_object_set_new(json, "host", cbx_json_text(cbx_str_of(request->host)));
    json_object_set_new(json, "container", cbx_json_text(cbx_str_of(request->container)));
    json_object_set_new(json, "mode", json_string(request->writable ? "rw" : "ro"));
    if (strcmp(request->host, asked) != 0) {
        json_object_set_new(json, "asked", cbx_json_text(cbx_str_of(asked)));
    }
    return json;
}

int cbx_host_mounts_open(const struct cbx_policy *policy, const struct cbx_host_rules *rules,
                         const json_t *sealed, struct cbx_host_mounts *out, struct cbx_err *err)
{
    CBX_AUTO_DONE(host_mounts) opened = { 0 };
    int failed = cbx_mounts_check(policy, sealed, err);
    if (failed) {
        return failed;
    }
    opened.requests = calloc(CBX_MOUNTS_MAX, sizeof(*opened.requests));
    opened.description = json_array();
    opened.mounts.digest = cbx_mounts_digest(sealed);
    opened.mounts.description = opened.description;
    for (size_t i = 0; i < json_array_size(sealed) && !failed && opened.requests != NULL; i++) {
        struct cbx_mount_request *request = &opened.requests[i];
        char asked[CBX_MOUNT_PATH_MAX];
        int fd = -1;
        failed = cbx_mount_parse(cbx_json_str(json_array_get(sealed, i)), request, err);
        snprintf(asked, sizeof(asked), "%s", request->host);
        if (!failed) {
            failed = open_one(policy, rules, request, &fd, err);
        }
        if (fd >= 0) {
            opened.mounts.items[opened.mounts.count++] = (struct cbx_container_mount){
                .fd = fd, .container = request->container, .writable = request->writable
            };
            json_array_append_new(opened.description, describe(request, asked));
            note_unwritable(request, fd);
        }
    }
    if (!failed) {
        *out = opened;
        opened = (struct cbx_host_mounts){ 0 };
    }
    return failed;
}

/* --- on an engine ----------------------------------------------------------------------------- */

/* SELinux: the engine would change the labels of the host's files. Rootless: the engine cannot
 * open the folders of the executor's descriptors. */
static int check_kind(const json_t *info, struct cbx_err *err)
{
    static const struct {
        const char *option, *why;
    } kinds[] = {
        { "name=selinux", "labels what it mounts (SELinux), and would label files of the host" },
        { "name=rootless", "runs without root, in a mount namespace of its own" },
    };
    size_t i;
    const json_t *option;
    json_array_foreach(json_object_get(info, "SecurityOptions"), i, option)
    {
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
            if (cbx_str_starts(cbx_json_str(option), cbx_str_of(kinds[k].option))) {
                return cbx_fail(err, CBX_EINVAL, "no folder of the host is mounted: the engine %s",
                                kinds[k].why);
            }
        }
    }
    return 0;
}

int cbx_host_mounts_open_on(struct cbx_engine *engine, const char *state_dir,
                            const struct cbx_policy *policy, const json_t *sealed,
                            struct cbx_host_mounts *out, struct cbx_err *err)
{
    CBX_AUTO_JSON info = NULL;
    int failed = cbx_engine_info(engine, &info, err);
    if (failed) {
        return failed;
    }
    failed = check_kind(info, err);
    if (failed) {
        return failed;
    }
    const struct cbx_host_rules rules = {
        .state_dir = state_dir,
        .engine_host = cbx_engine_host(engine),
        .engine_root = json_string_value(json_object_get(info, "DockerRootDir")),
    };
    return cbx_host_mounts_open(policy, &rules, sealed, out, err);
}
