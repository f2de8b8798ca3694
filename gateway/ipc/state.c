/* SPDX-License-Identifier: MIT
 * The state directory. */
#include "gateway/ipc/state.h"

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
    return n < (int)size
               ? 0
               : cbx_fail(err, CBX_ETOOBIG, "the path of the state directory is too long");
}

/* --- the way to it ---------------------------------------------------------------------------- */

/* A path while its parts are opened one after the other, each below the descriptor of the one before:
 * what was checked is what is used. */
struct walk {
    int at;              /* the directory that was reached; owned */
    char done[PATH_MAX]; /* its name, for messages; "" = the root */
    char rest[PATH_MAX]; /* what is left of the path */
    int links;           /* symbolic links that were followed */
};

static int fail_at(const struct walk *w, const char *part, struct cbx_err *err)
{
    int number = errno;
    cbx_fail(err, CBX_EAUDIT, "the state directory cannot be made: %s", strerror(number));
    cbx_err_detail(err, "'%s/%s'", w->done, part);
    return CBX_EAUDIT;
}

static int fail_too_long(struct cbx_err *err)
{
    return cbx_fail(err, CBX_EAUDIT, "the path of the state directory is too long");
}

static bool is_trusted(uid_t owner)
{
    return owner == 0 || owner == geteuid();
}

/* `what` begins the sentence. */
static int fail_owner(const char *what, const struct walk *w, uid_t owner, struct cbx_err *err)
{
    char own[32] = "";
    if (geteuid() != 0) {
        snprintf(own, sizeof(own), " and uid %u", (unsigned)geteuid());
    }
    cbx_fail(err, CBX_EAUDIT, "%s belongs to uid %u, allowed is root%s", what, (unsigned)owner,
             own);
    cbx_err_detail(err, "'%s'; choose another place with --state, or start codebox as its owner",
                   w->done);
    return CBX_EAUDIT;
}

/* A directory above the state directory. In a sticky one, only the owner of an entry, or its own, can
 * replace the entry. */
static int check_above(const struct walk *w, const struct stat *status, struct cbx_err *err)
{
    if (!is_trusted(status->st_uid)) {
        return fail_owner("a directory above the state directory", w, status->st_uid, err);
    }
    if ((status->st_mode & 022) != 0 && (status->st_mode & S_ISVTX) == 0) {
        cbx_fail(
            err, CBX_EAUDIT,
            "a directory above the state directory has mode %04o, allowed is one that only its "
            "owner can write to, or a sticky one",
            (unsigned)(status->st_mode & 07777));
        cbx_err_detail(err, "'%s'; run: chmod go-w '%s'", w->done[0] != '\0' ? w->done : "/",
                       w->done[0] != '\0' ? w->done : "/");
        return CBX_EAUDIT;
    }
    return 0;
}

static int check_last(const struct walk *w, const struct stat *status, struct cbx_err *err)
{
    if (!is_trusted(status->st_uid)) {
        return fail_owner("the state directory", w, status->st_uid, err);
    }
    if ((status->st_mode & 022) != 0) {
        cbx_fail(
            err, CBX_EAUDIT,
            "the state directory has mode %03o, allowed is a directory that only its owner can "
            "write to",
            (unsigned)(status->st_mode & 0777));
        cbx_err_detail(err, "'%s'; run: chmod go-w '%s'", w->done, w->done);
        return CBX_EAUDIT;
    }
    return 0;
}

static int begin_at_root(struct walk *w, struct cbx_err *err)
{
    struct stat status;
    cbx_fd_auto(&w->at);
    w->done[0] = '\0';
    w->at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return w->at < 0 || fstat(w->at, &status) < 0 ? fail_at(w, "", err)
                                                  : check_above(w, &status, err);
}

/* Removes the first part of the rest; false when none is left. */
static bool take_part(struct walk *w, char part[NAME_MAX + 1], bool *last)
{
    size_t from = strspn(w->rest, "/"), len = strcspn(w->rest + from, "/");
    if (len == 0 || len > NAME_MAX) {
        return false;
    }
    memcpy(part, w->rest + from, len);
    part[len] = '\0';
    memmove(w->rest, w->rest + from + len, strlen(w->rest + from + len) + 1);
    *last = w->rest[strspn(w->rest, "/")] == '\0';
    return true;
}

/* Puts the target of a link in front of the rest. */
static int follow(struct walk *w, const char *part, const struct stat *link, struct cbx_err *err)
{
    enum { LINKS_MAX = 40 };
    char target[PATH_MAX], rest[PATH_MAX];
    if (!is_trusted(link->st_uid)) {
        return fail_owner("a symbolic link above the state directory", w, link->st_uid, err);
    }
    ssize_t n = readlinkat(w->at, part, target, sizeof(target) - 1);
    if (n < 0) {
        return fail_at(w, part, err);
    }
    target[n] = '\0';
    memcpy(rest, w->rest, sizeof(rest));
    if (++w->links > LINKS_MAX ||
        snprintf(w->rest, sizeof(w->rest), "%s/%s", target, rest) >= (int)sizeof(w->rest)) {
        return fail_too_long(err);
    }
    return target[0] == '/' ? begin_at_root(w, err) : 0;
}

static int enter(struct walk *w, const char *part, bool last, struct cbx_err *err)
{
    struct stat status;
    size_t len = strlen(w->done);
    int fd = openat(w->at, part, (last ? O_RDONLY : O_PATH) | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0) {
        return fail_at(w, part, err);
    }
    close(w->at);
    w->at = fd;
    if (strcmp(part, "..") == 0) {
        char *slash = strrchr(w->done, '/');
        w->done[slash != NULL ? slash - w->done : 0] = '\0';
    } else if (snprintf(w->done + len, sizeof(w->done) - len, "/%s", part) >=
               (int)(sizeof(w->done) - len)) {
        return fail_too_long(err);
    }
    return last ? check_last(w, &status, err) : check_above(w, &status, err);
}

static int step(struct walk *w, const char *part, bool last, struct cbx_err *err)
{
    struct stat status;
    int found = fstatat(w->at, part, &status, AT_SYMLINK_NOFOLLOW);
    if (found < 0 && errno == ENOENT) {
        found = mkdirat(w->at, part, 0700) < 0 && errno != EEXIST
                    ? -1
                    : fstatat(w->at, part, &status, AT_SYMLINK_NOFOLLOW);
    }
    if (found < 0) {
        return fail_at(w, part, err);
    }
    if (!S_ISLNK(status.st_mode)) {
        return enter(w, part, last, err);
    }
    if (last) {
        cbx_fail(err, CBX_EAUDIT, "the state directory is a symbolic link, allowed is a directory");
        cbx_err_detail(err, "'%s/%s'; give the directory that it leads to with --state", w->done,
                       part);
        return CBX_EAUDIT;
    }
    return follow(w, part, &status, err);
}

/* The rest of a relative path begins with the working directory. */
static int begin(struct walk *w, const char *path, struct cbx_err *err)
{
    char here[PATH_MAX] = "";
    if (path[0] != '/' && getcwd(here, sizeof(here)) == NULL) {
        return fail_at(w, path, err);
    }
    return snprintf(w->rest, sizeof(w->rest), "%s/%s", here, path) < (int)sizeof(w->rest)
               ? begin_at_root(w, err)
               : fail_too_long(err);
}

int cbx_state_open(const char *path, int *out, struct cbx_err *err)
{
    struct walk w = { .at = -1 };
    char part[NAME_MAX + 1];
    bool last = false;
    int failed = path[0] == '\0' ? cbx_fail(err, CBX_EAUDIT, "the state directory has no name")
                                 : begin(&w, path, err);
    while (!failed && take_part(&w, part, &last)) {
        failed = strcmp(part, ".") == 0 && !last ? 0 : step(&w, part, last, err);
    }
    if (!failed && w.rest[strspn(w.rest, "/")] != '\0') {
        failed = fail_too_long(err);
    }
    if (!failed && !last) { /* the root itself */
        failed = cbx_fail(err, CBX_EAUDIT, "the state directory cannot be the root directory");
    }
    if (failed) {
        cbx_fd_auto(&w.at);
        return failed;
    }
    *out = w.at;
    return 0;
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

/* In the order in which they move: while the database is in the old place, so is what it needs. */
static const char *const front_files[] = { "codebox.db-wal", "codebox.db-shm", "codebox.begun",
                                           "codebox.db", "codebox.lock" };
#define OLD_DATABASE "codebox.db"
#define OLD_LOCK     "codebox.lock"

static bool exists(int folder, const char *name)
{
    struct stat status;
    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

static int move_front_files(int from, int to, const char *path, struct cbx_err *err)
{
    if (!exists(from, OLD_DATABASE)) {
        return 0;
    }
    if (exists(to, OLD_DATABASE)) {
        return cbx_fail(err, CBX_EINVAL,
                        "'%s' has " OLD_DATABASE " itself and in its folder front, allowed is one; "
                        "remove the older",
                        path);
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

/* Gives an open file or folder to its user; one that has another name elsewhere is not the front's
 * alone. */
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

/* The files first: their owner could put others in their places. */
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
    return give(folder, owner, S_IFDIR) < 0
               ? cbx_fail(err, CBX_EIO, "the folder 'front' cannot be given to user %u: %s",
                          (unsigned)owner, strerror(errno))
               : 0;
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
    return failed ? failed : give_front_files(to, owner, err);
}
