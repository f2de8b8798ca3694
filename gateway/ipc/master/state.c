/* SPDX-License-Identifier: MIT
 * The state directory. */
#include "gateway/ipc/master/state.h"

#include "gateway/ipc/jail/trusted.h"
#include "policies/base/auto.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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
    if (n >= (int)size) {
        return cbx_fail(err, CBX_ETOOBIG, "the path of the state directory is too long");
    }
    return 0;
}

/* The rules for the state directory and the texts of its errors. */
#define STATE_DIRECTORY                                                                            \
    .what = "the state directory",                                                                 \
    .advice = "choose another place with --state, or start codebox as its owner",                  \
    .code = CBX_EAUDIT, .makes = true
static const struct cbx_trusted_kind state_directory = { STATE_DIRECTORY };
static const struct cbx_trusted_kind tried_directory = { STATE_DIRECTORY, .tries = true };

int cbx_state_open(const char *path, int *out, struct cbx_err *err)
{
    return cbx_trusted_open(&state_directory, path, out, err);
}

int cbx_state_try(const char *path, int *out, struct cbx_err *err)
{
    return cbx_trusted_open(&tried_directory, path, out, err);
}

int cbx_state_make(const char *path, struct cbx_err *err)
{
    CBX_AUTO_FD fd = -1;
    return cbx_state_open(path, &fd, err);
}

FILE *cbx_state_read(const char *dir, const char *name)
{
    char path[PATH_MAX];
    struct stat status;
    if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path)) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    CBX_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status) < 0) {
        return NULL;
    }
    if (!S_ISREG(status.st_mode)) {
        errno = EINVAL;
        return NULL;
    }
    FILE *file = fdopen(fd, "r");
    fd = file != NULL ? -1 : fd;
    return file;
}

/* In the order of the move: while the database is in the old place, its other files are there
 * too. */
static const char *const front_files[] = { "codebox.db-wal", "codebox.db-shm", "codebox.begun",
                                           "codebox.db", "codebox.lock" };
#define OLD_DATABASE "codebox.db"
#define OLD_LOCK     "codebox.lock"

static bool exists(int folder, const char *name)
{
    struct stat status;
    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

static int fail_both(const char *path, struct cbx_err *err)
{
    return cbx_fail(err, CBX_EINVAL,
                    "'%s' has " OLD_DATABASE " itself and in its folder front, allowed is one; "
                    "remove the older",
                    path);
}

static int move_front_files(int from, int to, const char *path, struct cbx_err *err)
{
    if (!exists(from, OLD_DATABASE)) {
        return 0;
    }
    if (exists(to, OLD_DATABASE)) {
        return fail_both(path, err);
    }
    CBX_AUTO_FD lock = openat(from, OLD_LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0) {
        return cbx_fail(err, CBX_EBUSY,
                        "another gateway serves from the state directory '%s'; stop it, or give "
                        "this one its own with --state",
                        path);
    }
    for (size_t i = 0; i < sizeof(front_files) / sizeof(front_files[0]); i++) {
        if (renameat(from, front_files[i], to, front_files[i]) < 0 && errno != ENOENT) {
            return cbx_fail(err, CBX_EIO, "'%s/%s' cannot be moved to its folder front: %s", path,
                            front_files[i], strerror(errno));
        }
    }
    return 0;
}

/* Gives an open file or folder to its user. A file with a second link is refused: another user
 * may have it. */
static int give(int fd, uid_t owner, mode_t kind)
{
    struct stat status;
    if (fstat(fd, &status) < 0) {
        return -1;
    }
    if ((status.st_mode & S_IFMT) != kind || (kind == S_IFREG && status.st_nlink != 1)) {
        errno = EINVAL;
        return -1;
    }
    return status.st_uid == owner ? 0 : fchown(fd, owner, owner == geteuid() ? getegid() : owner);
}

/* The files before the folder: an owner of the folder could replace its files. */
static int give_front_files(int folder, uid_t owner, struct cbx_err *err)
{
    for (size_t i = 0; i < sizeof(front_files) / sizeof(front_files[0]); i++) {
        CBX_AUTO_FD fd =
            openat(folder, front_files[i], O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 ? give(fd, owner, S_IFREG) < 0 : errno != ENOENT) {
            return cbx_fail(err, CBX_EIO,
                            "'front/%s' of the state directory cannot be given to user %u, allowed "
                            "is a file with one name: %s",
                            front_files[i], (unsigned)owner, strerror(errno));
        }
    }
    if (give(folder, owner, S_IFDIR) < 0) {
        return cbx_fail(err, CBX_EIO, "the folder 'front' cannot be given to user %u: %s",
                        (unsigned)owner, strerror(errno));
    }
    return 0;
}

int cbx_state_make_front(const char *path, uid_t owner, char *out, size_t size, struct cbx_err *err)
{
    CBX_AUTO_FD from = -1;
    int failed = cbx_state_open(path, &from, err);
    if (failed) {
        return failed;
    }
    if ((size_t)snprintf(out, size, "%s/front", path) >= size) {
        return cbx_fail(err, CBX_EAUDIT, "the path of the state directory is too long");
    }
    bool made = (mkdirat(from, "front", 0700) == 0 || errno == EEXIST);
    CBX_AUTO_FD to =
        made ? openat(from, "front", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    struct stat status;
    if (to < 0 || fstat(to, &status) < 0 || (status.st_mode & 022) != 0) {
        cbx_fail(err, CBX_EAUDIT,
                 "the folder 'front' of the state directory cannot be used, allowed is a folder "
                 "that only its owner can write to: %s",
                 to < 0 ? strerror(errno) : "others may write to it");
        cbx_err_detail(err, "'%s'", out);
        return CBX_EAUDIT;
    }
    failed = move_front_files(from, to, path, err);
    if (failed) {
        return failed;
    }
    return give_front_files(to, owner, err);
}

int cbx_state_find_front(const char *path, char *out, size_t size, struct cbx_err *err)
{
    CBX_AUTO_FD dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 && errno != ENOENT) {
        return cbx_fail(err, CBX_EIO, "'%s': %s", path, strerror(errno));
    }
    bool old = dir >= 0 && exists(dir, OLD_DATABASE);
    if (old && exists(dir, "front/" OLD_DATABASE)) {
        return fail_both(path, err);
    }
    if (snprintf(out, size, "%s%s", path, old ? "" : "/front") >= (int)size) {
        return cbx_fail(err, CBX_ETOOBIG, "the path of the state directory is too long");
    }
    return 0;
}
