/* SPDX-License-Identifier: MIT
 * Adapts requests to Podman, whose compatible interface differs in details. */
#include "docker/engine/docker/docker_http.h"
#include "policies/base/text/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char inline_profile[] = "seccomp={";

static char scratch[CBX_PODMAN_PATH_MAX] = "/tmp";

void cbx_podman_scratch(const char *folder)
{
    snprintf(scratch, sizeof(scratch), "%s", folder);
}

static int write_profile(const char *text, char path[static CBX_PODMAN_PATH_MAX],
                         struct cbx_err *err)
{
    snprintf(path, CBX_PODMAN_PATH_MAX, "%.*s/codebox-seccomp-XXXXXX", CBX_PODMAN_PATH_MAX - 32,
             scratch);
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) {
        path[0] = '\0';
        cbx_fail(err, CBX_EENGINE, "the gateway cannot hand over the seccomp profile");
        cbx_err_detail(err, "a file for Podman in '%s': %s", scratch, strerror(errno));
        return CBX_EENGINE;
    }
    size_t len = strlen(text);
    bool written = write(fd, text, len) == (ssize_t)len;
    close(fd);
    if (!written) {
        cbx_fail(err, CBX_EENGINE, "the gateway cannot hand over the seccomp profile");
        cbx_err_detail(err, "'%s' cannot be written", path);
    }
    return written ? 0 : CBX_EENGINE;
}

/* Podman has no option for the number of files of a tmpfs; they count as memory of the sandbox,
 * which is limited. It has no option for the owner either: "U" makes the sandbox's user the
 * owner. */
static json_t *change_tmpfs(const char *options)
{
    char text[512] = "notmpcopyup";
    for (const char *at = options; *at != '\0';) {
        size_t len = strcspn(at, ","), used = strlen(text);
        if (strncmp(at, "uid=", 4) == 0) {
            snprintf(text + used, sizeof(text) - used, ",U");
        } else if (strncmp(at, "nr_inodes=", 10) != 0 && strncmp(at, "gid=", 4) != 0) {
            snprintf(text + used, sizeof(text) - used, ",%.*s", (int)len, at);
        }
        at += len + (at[len] == ',');
    }
    return json_string(text);
}

/* With a read-only root, Podman adds these mounts, writable and executable. */
static void close_its_own_tmpfs(json_t *tmpfs)
{
    static const char *const points[] = { "/run", "/var/tmp" };
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        json_object_set_new(tmpfs, points[i],
                            json_string("ro,nosuid,nodev,noexec,size=4096,mode=0555,notmpcopyup"));
    }
}

/* Podman has its own list of masked paths, and accepts additional ones as an option. */
static void mask_paths(const json_t *host, json_t *options)
{
    char text[1024] = "mask=";
    size_t i;
    const json_t *path;
    json_array_foreach(json_object_get(host, "MaskedPaths"), i, path)
    {
        size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%s%s", i > 0 ? ":" : "",
                 json_string_value(path));
    }
    json_array_append_new(options, json_string(text));
}

int cbx_podman_body(const json_t *body, json_t **out, char path[static CBX_PODMAN_PATH_MAX],
                    struct cbx_err *err)
{
    CBX_AUTO_JSON copy = json_deep_copy(body);
    json_t *host = json_object_get(copy, "HostConfig");
    json_t *options = json_object_get(host, "SecurityOpt");
    path[0] = '\0';
    /* Without it Podman sets a million processes, which requires CAP_SYS_RESOURCE. All sandboxes
     * of a host count together towards this limit; the limit of one sandbox is PidsLimit. */
    enum { PROCESSES = 32768 };
    json_array_append_new(
        json_object_get(host, "Ulimits"),
        json_pack("{s:s,s:i,s:i}", "Name", "nproc", "Soft", PROCESSES, "Hard", PROCESSES));
    const char *point;
    json_t *tmpfs;
    json_object_foreach(json_object_get(host, "Tmpfs"), point, tmpfs)
    {
        json_t *changed = change_tmpfs(json_string_value(tmpfs));
        json_string_set(tmpfs, json_string_value(changed));
        json_decref(changed);
    }
    close_its_own_tmpfs(json_object_get(host, "Tmpfs"));
    mask_paths(host, options);
    for (size_t i = 0; i < json_array_size(options); i++) {
        const char *option = json_string_value(json_array_get(options, i));
        if (option == NULL || strncmp(option, inline_profile, sizeof(inline_profile) - 1) != 0) {
            continue;
        }
        int failed = write_profile(option + strlen("seccomp="), path, err);
        if (failed) {
            return failed;
        }
        json_array_set_new(options, i, json_sprintf("seccomp=%s", path));
    }
    *out = json_incref(copy);
    return 0;
}
