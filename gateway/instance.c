/* SPDX-License-Identifier: MIT
 * Which gateway owns a container. */
#include "gateway/instance.h"

#include "docker/sandbox.h"
#include "gateway/state.h"
#include "policies/base/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int cbx_instance_make(const char *state_dir, struct cbx_instance *out, struct cbx_err *err)
{
    uint8_t random[16];
    cbx_random(random, sizeof(random));
    for (size_t i = 0; i < sizeof(random); i++) {
        snprintf(out->name + 2 * i, 3, "%02x", random[i]);
    }
    int failed = cbx_state_make(state_dir, err);
    if (failed) {
        return failed;
    }
    snprintf(out->path, sizeof(out->path), "%s/instances", state_dir);
    mkdir(out->path, 0700);
    snprintf(out->path, sizeof(out->path), "%s/instances/%s", state_dir, out->name);
    out->fd = open(out->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (out->fd < 0 || flock(out->fd, LOCK_EX | LOCK_NB) < 0) {
        return cbx_fail(err, CBX_EIO, "'%s': %s", out->path, strerror(errno));
    }
    return 0;
}

void cbx_instance_done(struct cbx_instance *instance)
{
    if (instance->name[0] != '\0') {
        unlink(instance->path);
        close(instance->fd);
        instance->name[0] = '\0';
    }
}

static bool is_name(const char *name)
{
    return strlen(name) == 32 && strspn(name, "0123456789abcdef") == 32;
}

size_t cbx_instance_reap(const char *state_dir, struct cbx_engine *engine)
{
    char folder[4096];
    snprintf(folder, sizeof(folder), "%s/instances", state_dir);
    DIR *dir = opendir(folder);
    size_t total = 0;
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        if (!is_name(entry->d_name)) {
            continue;
        }
        CBX_AUTO_FD fd = openat(dirfd(dir), entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        size_t removed = 0;
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
            cbx_sandbox_reap(engine, entry->d_name, &removed, NULL) == 0) {
            unlinkat(dirfd(dir), entry->d_name, 0);
            total += removed;
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return total;
}
