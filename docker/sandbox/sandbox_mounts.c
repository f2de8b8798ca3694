/* SPDX-License-Identifier: MIT
 * Requests that a sandbox cannot fulfil, and the check that the engine mounted the judged
 * folders. */
#include "docker/sandbox/container.h"
#include "docker/sandbox/sandbox_internal.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

int cbx_sandbox_check_mounts(const struct cbx_engine *engine, const struct cbx_limits *limits,
                             struct cbx_err *err)
{
    if (cbx_container_uses_gvisor(limits)) {
        return cbx_fail(
            err, CBX_EINVAL,
            "with the isolation gvisor no folder of the host is mounted: gVisor reports "
            "other numbers of its files, so what is mounted cannot be verified");
    }
    const struct cbx_engine_abilities *able = cbx_engine_abilities(engine);
    if (!able->mounts_verified) {
        return cbx_fail(err, CBX_EINVAL,
                        "with %s no folder of the host is mounted: how it mounts volumes was "
                        "not examined",
                        able->name);
    }
    if (strncmp(cbx_engine_host(engine), "unix://", 7) != 0) {
        return cbx_fail(err, CBX_EINVAL,
                        "no folder of the host is mounted where the engine is reached over TCP: "
                        "its folders are on another host");
    }
    return 0;
}

int cbx_sandbox_check_wishes(const struct cbx_sandbox *sandbox,
                             const struct cbx_sandbox_config *config,
                             const struct cbx_sandbox_mounts *mounts, struct cbx_err *err)
{
    bool gvisor = cbx_container_uses_gvisor(&sandbox->limits), mounted = mounts != NULL;
    if (gvisor && config->gvisor_runtime == NULL) {
        return cbx_fail(
            err, CBX_EENGINE,
            "the policy or the request asks for the isolation gvisor, and this gateway has "
            "no runtime for it; the operator names one with --gvisor-runtime");
    }
    if (gvisor && strcmp(sandbox->kernel, "bash") == 0) {
        return cbx_fail(
            err, CBX_EENGINE,
            "shell does not run with the isolation gvisor: its bash can be executed and not "
            "read, and gVisor runs only what can be read");
    }
    if (mounted) {
        return cbx_sandbox_check_mounts(sandbox->engine, &sandbox->limits, err);
    }
    return 0;
}

static const struct {
    uint64_t bit;
    const char *name;
} mount_flags[] = {
    { ST_RDONLY, "ro" },
    { ST_NOSUID, "nosuid" },
    { ST_NODEV, "nodev" },
    { ST_NOEXEC, "noexec" },
};

static json_t *list_flags(uint64_t flags)
{
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof(mount_flags) / sizeof(mount_flags[0]); i++) {
        if ((flags & mount_flags[i].bit) != 0) {
            json_array_append_new(list, json_string(mount_flags[i].name));
        }
    }
    return list;
}

/* The engine sets the flags on read-only mounts; other mounts have the flags of the host's
 * mount. */
static int verify_mount(const struct cbx_container_mount *mount, const struct cbx_frame_mount *have,
                        struct cbx_err *err)
{
    struct stat want;
    if (fstat(mount->fd, &want) != 0 || have->inode == 0 || have->device != want.st_dev ||
        have->inode != want.st_ino) {
        return cbx_fail(err, CBX_EENGINE,
                        "the engine mounted another folder at '%.100s' than the one that was "
                        "judged, so nothing ran; is it on this host, and in its mount namespace?",
                        mount->container);
    }
    if (mount->writable && (have->flags & ST_RDONLY) != 0) {
        return cbx_fail(err, CBX_EENGINE,
                        "'%.100s' is mounted from a file system that is read-only",
                        mount->container);
    }
    for (size_t i = 0; i < sizeof(mount_flags) / sizeof(mount_flags[0]) && !mount->writable; i++) {
        if ((have->flags & mount_flags[i].bit) == 0) {
            return cbx_fail(err, CBX_EENGINE,
                            "the engine mounted '%.100s' without the flag %s, so nothing ran",
                            mount->container, mount_flags[i].name);
        }
    }
    return 0;
}

int cbx_sandbox_verify_mounts(struct cbx_sandbox *sandbox, const struct cbx_sandbox_mounts *mounts,
                              struct cbx_err *err)
{
    struct cbx_str answer;
    int failed = cbx_sandbox_ask(sandbox, CBX_FRAME_MOUNTS, &answer, err);
    if (failed) {
        return failed;
    }
    if (answer.len != mounts->count * sizeof(struct cbx_frame_mount)) {
        return cbx_fail(err, CBX_EPROTO, "the sandbox reports other mounts than it should have");
    }
    CBX_AUTO_JSON mounted = json_deep_copy(mounts->description);
    for (size_t i = 0; i < mounts->count && !failed; i++) {
        struct cbx_frame_mount have;
        memcpy(&have, answer.p + i * sizeof(have), sizeof(have));
        failed = verify_mount(&mounts->items[i], &have, err);
        json_object_set_new(json_array_get(mounted, i), "flags", list_flags(have.flags));
    }
    if (!failed) {
        sandbox->mounts = mounts->digest;
        sandbox->mounted = cbx_steal(&mounted);
    }
    return failed;
}
