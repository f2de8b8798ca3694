/* SPDX-License-Identifier: MIT
 * no_new_privs, limits, and the filter of the gateway's seccomp profile. */
#include "docker/inside/confine/harden.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static const struct sock_filter steps[] = {
#include "seccomp_steps.h"
};

/* Lowers a limit; one that is lower already stays. */
static bool lower(int resource, rlim_t value)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) {
        return false;
    }
    limit.rlim_max = limit.rlim_max < value ? limit.rlim_max : value;
    limit.rlim_cur = limit.rlim_cur < limit.rlim_max ? limit.rlim_cur : limit.rlim_max;
    return setrlimit(resource, &limit) == 0;
}

/* Returns a variable's number; `otherwise` if it is absent, or is no positive number. */
static rlim_t read_number(const char *variable, rlim_t otherwise)
{
    const char *text = getenv(variable);
    char *end = NULL;
    long long value = text != NULL ? strtoll(text, &end, 10) : 0;
    return value > 0 && *end == '\0' ? (rlim_t)value : otherwise;
}

/* True if this process is in another user namespace than the host's (user_namespaces(7)). */
static bool has_own_users(void)
{
    unsigned long inside = 0, outside = 0, count = 0;
    FILE *map = fopen("/proc/self/uid_map", "re");
    if (map == NULL) {
        return false;
    }
    bool read = fscanf(map, "%lu %lu %lu", &inside, &outside, &count) == 3;
    fclose(map);
    return read && !(inside == 0 && outside == 0 && count == UINT32_MAX);
}

static bool limit_processes(void)
{
    rlim_t most = read_number(CBX_HARDEN_PROCESSES_VARIABLE, 0);
    return most == 0 || !has_own_users() || lower(RLIMIT_NPROC, most);
}

static bool limit_resources(void)
{
    return lower(RLIMIT_CORE, 0) && lower(RLIMIT_NOFILE, 1024) && lower(RLIMIT_MEMLOCK, 65536) &&
           lower(RLIMIT_FSIZE, read_number(CBX_HARDEN_FILE_VARIABLE, CBX_HARDEN_FILE_BYTES)) &&
           limit_processes();
}

/* By prctl(2): the profile allows seccomp(2) for a filter with a listener only. */
static bool install_filter(void)
{
    const struct sock_fprog filter = { .len = sizeof(steps) / sizeof(steps[0]),
                                       .filter = (struct sock_filter *)(uintptr_t)steps };
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

bool cbx_harden(void)
{
    const char *isolation = getenv(CBX_HARDEN_ISOLATION_VARIABLE);
    bool gvisor = isolation != NULL && strcmp(isolation, "gvisor") == 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !limit_resources()) {
        return false;
    }
    unsetenv(CBX_HARDEN_FILE_VARIABLE);
    unsetenv(CBX_HARDEN_PROCESSES_VARIABLE);
    unsetenv(CBX_HARDEN_ISOLATION_VARIABLE);
    return gvisor || install_filter();
}
