/* SPDX-License-Identifier: MIT
 * The limit of open descriptors. */
#include "gateway/ipc/wire/descriptors.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/resource.h>

void cbx_descriptors_raise(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < CBX_DESCRIPTORS) {
        limit.rlim_cur = limit.rlim_max < CBX_DESCRIPTORS ? limit.rlim_max : CBX_DESCRIPTORS;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int cbx_descriptors_limit(void)
{
    struct rlimit limit;
    bool known = getrlimit(RLIMIT_NOFILE, &limit) == 0;
    return known && limit.rlim_cur < INT_MAX ? (int)limit.rlim_cur : INT_MAX;
}
