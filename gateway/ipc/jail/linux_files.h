/* SPDX-License-Identifier: MIT
 * File systems of Linux itself: their files are no stored data. */
#ifndef CBX_GATEWAY_IPC_JAIL_LINUX_FILES_H
#define CBX_GATEWAY_IPC_JAIL_LINUX_FILES_H

#include <stdbool.h>

/* True if the open file or folder (O_PATH is enough) is in a file system of Linux itself: proc,
 * sysfs, cgroup, debugfs, ... True also if Linux does not tell its type. False for tmpfs, and
 * for /dev, which has the type of tmpfs. */
bool cbx_linux_files_has(int fd);

#endif
