/* SPDX-License-Identifier: MIT
 * A container as the body of "create a container" of the Engine API. */
#include "docker/contents.h"
#include "docker/engine/docker/docker_http.h"
#include "policies/base/text/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static json_t *list_texts(const char *const items[])
{
    json_t *list = json_array();
    for (size_t i = 0; items[i] != NULL; i++) {
        json_array_append_new(list, json_string(items[i]));
    }
    return list;
}

static json_t *make_variables(const struct cbx_container_spec *spec)
{
    json_t *list = list_texts(cbx_role_traits(spec->role)->variables);
    for (size_t i = 0; i < spec->variable_count; i++) {
        json_array_append_new(list, cbx_json_text(cbx_str_of(spec->variables[i])));
    }
    return list;
}

static json_t *make_tmpfs(const struct cbx_container_spec *spec)
{
    json_t *all = json_object();
    for (size_t i = 0; i < spec->tmpfs_count; i++) {
        const struct cbx_container_tmpfs *tmpfs = &spec->tmpfs[i];
        json_object_set_new(all, tmpfs->path,
                            json_sprintf("rw,nosuid,nodev,noexec,size=%" PRId64
                                         ",nr_inodes=%" PRId64 ",mode=%04o%s",
                                         tmpfs->bytes, tmpfs->inodes, tmpfs->mode,
                                         tmpfs->owned ? ",uid=65532,gid=65532" : ""));
    }
    return all;
}

static json_t *make_ulimits(const struct cbx_container_spec *spec)
{
    struct cbx_container_ulimit limits[CBX_CONTAINER_ULIMITS];
    json_t *list = json_array();
    cbx_container_ulimits(spec, limits);
    for (size_t i = 0; i < CBX_CONTAINER_ULIMITS; i++) {
        json_int_t value = limits[i].value;
        json_array_append_new(
            list, json_pack("{s:s,s:I,s:I}", "Name", limits[i].name, "Soft", value, "Hard", value));
    }
    return list;
}

static json_t *make_security_options(const struct cbx_container_spec *spec)
{
    json_t *options = json_array();
    json_array_append_new(options, json_string("no-new-privileges:true"));
    CBX_AUTO_MEM char *profile = cbx_container_seccomp(spec);
    if (profile != NULL) {
        json_array_append_new(options, json_sprintf("seccomp=%s", profile));
    }
    if (spec->apparmor != NULL) {
        json_array_append_new(options, json_sprintf("apparmor=%s", spec->apparmor));
    }
    return options;
}

/* Makes an entry of HostConfig.Mounts. It is a volume, which the engine itself mounts and
 * removes with the container, because the engine's bind mounts take a path, which other users
 * may change, and no flags. The path here leads to the folder of the descriptor. A bind mount
 * without its submounts: `bind`, and not `rbind`. The engine copies nothing of the image into
 * it. */
static json_t *make_mount(const struct cbx_container_mount *mount)
{
    char device[64];
    snprintf(device, sizeof(device), "/proc/%d/fd/%d", (int)getpid(), mount->fd);
    const char *options =
        mount->writable ? "bind,nosuid,nodev,noexec" : "bind,ro,nosuid,nodev,noexec";
    json_t *driver = json_pack("{s:s,s:{s:s,s:s,s:s}}", "Name", "local", "Options", "type", "none",
                               "o", options, "device", device);
    return json_pack("{s:s,s:s,s:{s:b,s:o}}", "Type", "volume", "Target", mount->container,
                     "VolumeOptions", "NoCopy", 1, "DriverConfig", driver);
}

static const char *network_of(const struct cbx_container_spec *spec)
{
    if (!cbx_role_traits(spec->role)->network) {
        return "none";
    }
    return spec->network != NULL ? spec->network : "default";
}

static json_t *make_host_config(const struct cbx_container_spec *spec)
{
    const struct cbx_role_traits *role = cbx_role_traits(spec->role);
    json_t *h = json_object();
    json_object_set_new(h, "AutoRemove", json_boolean(role->removed));
    json_object_set_new(h, "CapDrop", json_pack("[s]", "ALL"));
    if (role->capabilities[0] != NULL) {
        json_object_set_new(h, "CapAdd", list_texts(role->capabilities));
    }
    json_object_set_new(h, "SecurityOpt", make_security_options(spec));
    json_object_set_new(h, "MaskedPaths", list_texts(cbx_container_masked_paths));
    json_object_set_new(h, "ReadonlyPaths", list_texts(cbx_container_readonly_paths));
    json_object_set_new(h, "ReadonlyRootfs", json_boolean(role->read_only));
    json_object_set_new(h, "Tmpfs", make_tmpfs(spec));
    json_object_set_new(h, "NetworkMode", json_string(network_of(spec)));
    json_object_set_new(h, "IpcMode", json_string("private"));
    json_object_set_new(h, "CgroupnsMode", json_string("private"));
    json_object_set_new(h, "ShmSize", json_integer(CBX_CONTAINER_SHM_BYTES));
    json_object_set_new(h, "PidsLimit", json_integer(cbx_container_pids(spec)));
    json_object_set_new(h, "Memory", json_integer(spec->limits.memory_bytes));
    json_object_set_new(h, "MemorySwap", json_integer(spec->limits.memory_bytes));
    json_object_set_new(h, "OomScoreAdj", json_integer(CBX_CONTAINER_OOM_SCORE));
    json_object_set_new(h, "NanoCpus", json_integer(spec->limits.cpu_milli * 1000000));
    json_object_set_new(h, "Ulimits", make_ulimits(spec));
    json_object_set_new(h, "LogConfig", json_pack("{s:s}", "Type", "none"));
    json_object_set_new(h, "Privileged", json_false());
    if (spec->runtime != NULL) {
        json_object_set_new(h, "Runtime", json_string(spec->runtime));
    }
    if (spec->mount_count > 0) {
        json_t *mounts = json_array();
        for (size_t i = 0; i < spec->mount_count; i++) {
            json_array_append_new(mounts, make_mount(&spec->mounts[i]));
        }
        json_object_set_new(h, "Mounts", mounts);
    }
    return h;
}

/* The label of the image's contents is emptied, because containers inherit it: listings of
 * containers would include it. Labels do not name the owner: a sandbox may be created before it
 * has an owner, and labels are visible to all users who can list containers. The audit log and
 * the tag name the owner. */
static json_t *make_labels(const struct cbx_container_spec *spec)
{
    json_t *labels = json_pack("{s:s,s:s,s:s,s:s,s:s}", CBX_LABEL_CONTENTS, "", CBX_LABEL_OWNED,
                               "1", CBX_LABEL_INSTANCE, spec->instance, CBX_LABEL_KERNEL,
                               spec->kernel, CBX_LABEL_ISOLATION, cbx_container_isolation(spec));
    json_object_set_new(labels, CBX_LABEL_CREATED, json_sprintf("%lld", (long long)time(NULL)));
    if (spec->lease_s != 0) {
        json_object_set_new(labels, CBX_LABEL_LEASE, json_sprintf("%" PRId64, spec->lease_s));
    }
    return labels;
}

json_t *cbx_docker_body(const struct cbx_container_spec *spec)
{
    const struct cbx_role_traits *role = cbx_role_traits(spec->role);
    json_t *body = json_object();
    json_object_set_new(body, "Image", json_string(spec->image));
    json_object_set_new(body, "Entrypoint", json_pack("[s]", spec->command[0]));
    json_object_set_new(body, "Cmd", list_texts(spec->command + 1));
    json_object_set_new(body, "User", json_sprintf("%u:%u", role->user, role->user));
    json_object_set_new(body, "WorkingDir", json_string(role->folder));
    json_object_set_new(body, "Hostname", json_string(role->hostname));
    json_object_set_new(body, "Env", make_variables(spec));
    json_object_set_new(body, "Labels", make_labels(spec));
    json_object_set_new(body, "AttachStdin", json_true());
    json_object_set_new(body, "AttachStdout", json_true());
    json_object_set_new(body, "AttachStderr", json_true());
    json_object_set_new(body, "OpenStdin", json_true());
    json_object_set_new(body, "StdinOnce", json_boolean(!role->reattached));
    json_object_set_new(body, "Tty", json_false());
    json_object_set_new(body, "NetworkDisabled", json_boolean(!role->network));
    json_object_set_new(body, "StopTimeout", json_integer(0));
    json_object_set_new(body, "HostConfig", make_host_config(spec));
    return body;
}
