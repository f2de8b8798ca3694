/* SPDX-License-Identifier: MIT
 * Folders of the host. The engine mounts them, and the host compares this report, before a
 * program runs, with the folders that it opened. */
#include "docker/inside/confine/open_places.h"
#include "docker/inside/supervisor/supervisor.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

void cbx_folders_read(void)
{
    if (!cbx_places_add_mounts(getenv(CBX_PLACES_MOUNTS))) {
        cbx_die();
    }
}

/* True if the folder is the root of a mount. */
static bool is_mounted(int fd)
{
    struct statx status = { 0 };
    return statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &status) == 0 &&
           (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

static struct cbx_frame_mount describe(const char *path)
{
    struct cbx_frame_mount mount = { 0 };
    struct stat status;
    struct statvfs flags;
    int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && is_mounted(fd) && fstat(fd, &status) == 0 && fstatvfs(fd, &flags) == 0) {
        mount.device = status.st_dev;
        mount.inode = status.st_ino;
        mount.flags = flags.f_flag;
    }
    if (fd >= 0) {
        close(fd);
    }
    return mount;
}

void cbx_folders_report(void)
{
    size_t count;
    uint32_t code = 0;
    const struct cbx_place *rows = cbx_places_mounts(&count);
    struct cbx_frame_mount mounts[CBX_PLACES_MOUNTS_MAX];
    for (size_t i = 0; i < count; i++) {
        mounts[i] = describe(rows[i].path);
    }
    cbx_reply(CBX_FRAME_ANSWER, &code, sizeof(code), mounts, count * sizeof(mounts[0]));
}
