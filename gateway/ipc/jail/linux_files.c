/* SPDX-License-Identifier: MIT
 * File systems of Linux itself. */
#include "gateway/ipc/jail/linux_files.h"

#include <linux/magic.h>
#include <stddef.h>
#include <sys/vfs.h>

bool cbx_linux_files_has(int fd)
{
    static const long types[] = {
        PROC_SUPER_MAGIC,   SYSFS_MAGIC,        DEBUGFS_MAGIC,       TRACEFS_MAGIC,
        SECURITYFS_MAGIC,   CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,
        DEVPTS_SUPER_MAGIC, NSFS_MAGIC,         EFIVARFS_MAGIC,      BINFMTFS_MAGIC,
        SELINUX_MAGIC,
    };
    struct statfs status;
    if (fstatfs(fd, &status) != 0) {
        return true;
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (status.f_type == types[i]) {
            return true;
        }
    }
    return false;
}
