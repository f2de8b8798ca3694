/* SPDX-License-Identifier: MIT
 * File systems of Linux itself: what is in them is no data. */
#ifndef CBX_GATEWAY_IPC_JAIL_LINUX_FILES_H
#define CBX_GATEWAY_IPC_JAIL_LINUX_FILES_H

#include <stdbool.h>

/* Is the open file or folder (O_PATH is enough) of a file system of Linux itself: proc, sysfs, cgroup, debugfs, ...? True also when Linux
 * does not say. tmpfs is none of them, nor is /dev, which has its type. */
bool cbx_linux_files_has(int fd);

#endif
