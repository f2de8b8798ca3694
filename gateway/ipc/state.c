/* SPDX-License-Identifier: MIT
 * The state directory. */
#include "gateway/ipc/state.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int cbx_state_default(char *out, size_t size, struct cbx_err *err)
{
    const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int n;
    if (geteuid() == 0) {
        n = snprintf(out, size, "/var/lib/codebox");
    } else if (base != NULL && base[0] == '/') {
        n = snprintf(out, size, "%s/codebox", base);
    } else if (home != NULL && home[0] == '/') {
        n = snprintf(out, size, "%s/.local/state/codebox", home);
    } else {
        return cbx_fail(
            err, CBX_EINVAL,
            "no place for state: neither XDG_STATE_HOME nor HOME is set; say --state DIR");
    }
    return n < (int)size
               ? 0
               : cbx_fail(err, CBX_ETOOBIG, "the path of the state directory is too long");
}

int cbx_state_make(const char *path, struct cbx_err *err)
{
    char part[PATH_MAX];
    if ((size_t)snprintf(part, sizeof(part), "%s", path) >= sizeof(part)) {
        return cbx_fail(err, CBX_EAUDIT, "the path of the state directory is too long");
    }
    for (char *slash = strchr(part + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0755) < 0 && errno != EEXIST) {
            cbx_fail(err, CBX_EAUDIT, "the state directory cannot be made: %s", strerror(errno));
            cbx_err_detail(err, "'%s'", part);
            return CBX_EAUDIT;
        }
        *slash = '/';
    }
    struct stat status;
    if ((mkdir(part, 0700) < 0 && errno != EEXIST) || stat(part, &status) < 0) {
        cbx_fail(err, CBX_EAUDIT, "the state directory cannot be made: %s", strerror(errno));
        cbx_err_detail(err, "'%s'", path);
        return CBX_EAUDIT;
    }
    if (!S_ISDIR(status.st_mode) || (status.st_mode & 022) != 0) {
        cbx_fail(
            err, CBX_EAUDIT,
            "the state directory has mode %03o, allowed is a directory that only its owner can "
            "write to",
            status.st_mode & 0777);
        cbx_err_detail(err, "'%s'", path);
        return CBX_EAUDIT;
    }
    return 0;
}
