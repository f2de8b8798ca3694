/* SPDX-License-Identifier: MIT
 * Paths of files. Landlock refuses paths outside the permitted ones, and reports nothing; an
 * audit event costs less than a notification. */
#include "docker/inside/python_guard/python_guard.h"

#include "docker/inside/confine/open_places.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool moved; /* true after the program changed the working directory */

void cbx_hook_note_moved(void)
{
    moved = true;
}

static bool begins(const char *path, const char *with)
{
    return strncmp(path, with, strlen(with)) == 0;
}

/* True if the path has no link, or the file does not exist. openat2(2) cannot be used, because
 * the filter refuses it (confine/calls.def). */
static bool has_no_link(const char *path)
{
    char part[PATH_MAX], target;
    size_t len = strlen(path);
    if (len >= sizeof(part)) {
        return false;
    }
    memcpy(part, path, len + 1);
    for (size_t i = 1; i <= len; i++) {
        if (path[i] != '/' && path[i] != '\0') {
            continue;
        }
        part[i] = '\0';
        if (readlink(part, &target, 1) >= 0) {
            return false;
        }
        if (errno != EINVAL) { /* EINVAL: it exists and is no link */
            return errno == ENOENT;
        }
        part[i] = path[i];
    }
    return true;
}

/* True for most permitted paths, without resolving them. No link in the image's libraries leads
 * outside. */
static bool is_plainly_inside(const char *path, bool writes)
{
    if (strstr(path, "..") != NULL || (path[0] != '/' && moved)) {
        return false;
    }
    if (begins(path, "/dev/fd/") || begins(path, "/dev/std") ||
        (!writes && begins(path, "/usr/"))) {
        return true;
    }
    return (path[0] != '/' || begins(path, "/workspace/") || begins(path, "/tmp/")) &&
           has_no_link(path);
}

/* Resolves the path without links; for a missing file, the path of its folder. False if neither
 * is known. */
static bool resolve(const char *path, char real[PATH_MAX], bool *exists)
{
    char folder[PATH_MAX];
    *exists = realpath(path, real) != NULL;
    if (*exists) {
        return true;
    }
    snprintf(folder, sizeof(folder), "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
        return realpath(".", real) != NULL;
    }
    slash[slash == folder ? 1 : 0] = '\0';
    return realpath(folder, real) != NULL;
}

int cbx_hook_check_file(PyObject *name, bool writes)
{
    uint32_t refusal = writes ? CBX_GUARD_WRITE : CBX_GUARD_READ;
    PyObject *bytes = NULL;
    if (!cbx_hook_refuses(refusal) || (!PyUnicode_Check(name) && !PyBytes_Check(name)) ||
        PyUnicode_FSConverter(name, &bytes) == 0) {
        PyErr_Clear(); /* the call itself reports its error */
        return 0;
    }
    const char *path = PyBytes_AsString(bytes);
    char real[PATH_MAX];
    bool exists = false;
    struct stat status;
    int result = 0;
    if (!is_plainly_inside(path, writes) && resolve(path, real, &exists) && (exists || writes) &&
        !cbx_place_is_inside(real, writes) &&
        (writes || stat(real, &status) != 0 || !S_ISDIR(status.st_mode))) {
        result = cbx_hook_refuse(refusal, path, name);
    }
    Py_DECREF(bytes);
    return result;
}
