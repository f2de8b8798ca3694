/* SPDX-License-Identifier: MIT
 * Opening paths that no other user can replace. */
#include "gateway/ipc/jail/trusted.h"

#include "gateway/ipc/jail/linux_files.h"
#include "policies/base/auto.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* State of opening a path part by part, each part relative to the descriptor of the previous
 * one: the checked object is the used one. */
struct walk {
    const struct cbx_trusted_kind *kind;
    int at;              /* descriptor of the current directory; owned */
    char done[PATH_MAX]; /* name of the current directory, for messages; "" = the root */
    char rest[PATH_MAX]; /* remaining part of the path */
    int links;           /* number of symbolic links followed */
    bool missing;        /* with kind->tries: true if the current directory lacks the next part */
};

static int fail_at(const struct walk *w, const char *part, struct cbx_err *err)
{
    int number = errno;
    bool absent = number == ENOENT && !w->kind->makes;
    cbx_fail(err, absent ? CBX_ENOTFOUND : w->kind->code, "%s cannot be %s: %s", w->kind->what,
             w->kind->makes ? "made" : "opened", strerror(number));
    return cbx_err_detail(err, "'%s/%s'", w->done, part);
}

static int fail_too_long(const struct walk *w, struct cbx_err *err)
{
    return cbx_fail(err, w->kind->code, "the path of %s is too long", w->kind->what);
}

static bool is_trusted(uid_t owner)
{
    return owner == 0 || owner == geteuid();
}

/* `prefix` precedes the name of the opened object in the message. */
static int fail_owner(const char *prefix, const struct walk *w, uid_t owner, struct cbx_err *err)
{
    char own[32] = "";
    if (geteuid() != 0) {
        snprintf(own, sizeof(own), " and uid %u", (unsigned)geteuid());
    }
    cbx_fail(err, w->kind->code, "%s%s belongs to uid %u, allowed is root%s", prefix, w->kind->what,
             (unsigned)owner, own);
    return cbx_err_detail(err, "'%s'; %s", w->done, w->kind->advice);
}

/* `allowed` is the description of the permitted modes. */
static int fail_mode(const char *prefix, const struct walk *w, const char *mode,
                     const char *allowed, struct cbx_err *err)
{
    const char *path = w->done[0] != '\0' ? w->done : "/";
    cbx_fail(err, w->kind->code, "%s%s has mode %s, allowed is %s", prefix, w->kind->what, mode,
             allowed);
    return cbx_err_detail(err, "'%s'; run: chmod go-w '%s'", path, path);
}

/* Checks a directory above the opened one. In a sticky directory, only the owner of an entry or
 * of the directory can replace the entry. */
static int check_above(const struct walk *w, const struct stat *status, struct cbx_err *err)
{
    static const char above[] = "a directory above ";
    char mode[8];
    if (!is_trusted(status->st_uid)) {
        return fail_owner(above, w, status->st_uid, err);
    }
    if ((status->st_mode & 022) != 0 && (status->st_mode & S_ISVTX) == 0) {
        snprintf(mode, sizeof(mode), "%04o", (unsigned)(status->st_mode & 07777));
        return fail_mode(above, w, mode, "one that only its owner can write to, or a sticky one",
                         err);
    }
    return 0;
}

static int check_last(const struct walk *w, const struct stat *status, struct cbx_err *err)
{
    char mode[8];
    if (!is_trusted(status->st_uid)) {
        return fail_owner("", w, status->st_uid, err);
    }
    if (w->kind->file && !S_ISREG(status->st_mode)) {
        cbx_fail(err, w->kind->code, "%s is not a regular file", w->kind->what);
        return cbx_err_detail(err, "'%s'", w->done);
    }
    if ((status->st_mode & 022) != 0) {
        snprintf(mode, sizeof(mode), "%03o", (unsigned)(status->st_mode & 0777));
        return fail_mode("", w, mode,
                         w->kind->file ? "a file that only its owner can write to"
                                       : "a directory that only its owner can write to",
                         err);
    }
    return 0;
}

static int begin_at_root(struct walk *w, struct cbx_err *err)
{
    struct stat status;
    cbx_fd_auto(&w->at);
    w->done[0] = '\0';
    w->at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (w->at < 0 || fstat(w->at, &status) < 0) {
        return fail_at(w, "", err);
    }
    return check_above(w, &status, err);
}

/* Removes the first part of the remaining path; false if no part is left. */
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

/* Puts the target of a link in front of the remaining path. */
static int follow(struct walk *w, const char *part, const struct stat *link, struct cbx_err *err)
{
    enum { LINKS_MAX = 40 };
    char target[PATH_MAX], rest[PATH_MAX];
    if (!is_trusted(link->st_uid)) {
        return fail_owner(w->kind->file ? "a symbolic link on the way to "
                                        : "a symbolic link above ",
                          w, link->st_uid, err);
    }
    ssize_t n = readlinkat(w->at, part, target, sizeof(target) - 1);
    if (n < 0) {
        return fail_at(w, part, err);
    }
    target[n] = '\0';
    memcpy(rest, w->rest, sizeof(rest));
    if (++w->links > LINKS_MAX ||
        snprintf(w->rest, sizeof(w->rest), "%s/%s", target, rest) >= (int)sizeof(w->rest)) {
        return fail_too_long(w, err);
    }
    if (target[0] == '/') {
        return begin_at_root(w, err);
    }
    return 0;
}

static int enter(struct walk *w, const char *part, bool last, struct cbx_err *err)
{
    struct stat status;
    size_t len = strlen(w->done);
    int kind = last && w->kind->file ? O_NONBLOCK : O_DIRECTORY;
    int fd = openat(w->at, part, (last ? O_RDONLY : O_PATH) | kind | O_NOFOLLOW | O_CLOEXEC);
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
        return fail_too_long(w, err);
    }
    if (last) {
        return check_last(w, &status, err);
    }
    return check_above(w, &status, err);
}

/* True if an entry may be created in the current directory. */
static bool may_make(const struct walk *w)
{
    return faccessat(w->at, ".", W_OK | X_OK, AT_EACCESS) == 0;
}

/* Checks a directory or file to create entries in or to write to. */
static int check_data(const struct walk *w, struct cbx_err *err)
{
    if (!w->kind->makes || !cbx_linux_files_has(w->at)) {
        return 0;
    }
    cbx_fail(err, w->kind->code,
             "%s would be in a file system of Linux itself, which keeps no data", w->kind->what);
    return cbx_err_detail(err, "'%s'", w->done[0] != '\0' ? w->done : "/");
}

static int step(struct walk *w, const char *part, bool last, struct cbx_err *err)
{
    struct stat status;
    int found = fstatat(w->at, part, &status, AT_SYMLINK_NOFOLLOW);
    if (found < 0 && errno == ENOENT) {
        int failed = check_data(w, err);
        if (failed) {
            return failed;
        }
        errno = ENOENT;
    }
    if (found < 0 && errno == ENOENT && w->kind->tries) {
        w->missing = may_make(w);
        if (!w->missing) {
            return fail_at(w, part, err);
        }
        return 0;
    }
    if (found < 0 && errno == ENOENT && w->kind->makes) {
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
    if (last && !w->kind->file) {
        cbx_fail(err, w->kind->code, "%s is a symbolic link, allowed is a directory",
                 w->kind->what);
        return cbx_err_detail(err, "'%s/%s'; give the directory that it leads to", w->done, part);
    }
    return follow(w, part, &status, err);
}

/* The remaining path of a relative path begins with the working directory. */
static int begin(struct walk *w, const char *path, struct cbx_err *err)
{
    char here[PATH_MAX] = "";
    if (path[0] != '/' && getcwd(here, sizeof(here)) == NULL) {
        return fail_at(w, path, err);
    }
    if (snprintf(w->rest, sizeof(w->rest), "%s/%s", here, path) < (int)sizeof(w->rest)) {
        return begin_at_root(w, err);
    }
    return fail_too_long(w, err);
}

int cbx_trusted_open(const struct cbx_trusted_kind *kind, const char *path, int *out,
                     struct cbx_err *err)
{
    struct walk w = { .kind = kind, .at = -1 };
    char part[NAME_MAX + 1];
    bool last = false;
    int failed;
    if (path[0] == '\0') {
        failed = cbx_fail(err, kind->code, "%s has no name", kind->what);
    } else {
        failed = begin(&w, path, err);
    }
    while (!failed && !w.missing && take_part(&w, part, &last)) {
        if (strcmp(part, ".") != 0 || last) {
            failed = step(&w, part, last, err);
        }
    }
    if (w.missing) {
        cbx_fd_auto(&w.at);
        *out = -1;
        return 0;
    }
    if (!failed && w.rest[strspn(w.rest, "/")] != '\0') {
        failed = fail_too_long(&w, err);
    }
    if (!failed && !last) { /* the path is the root directory */
        failed = cbx_fail(err, kind->code, "%s cannot be the root directory", kind->what);
    }
    if (!failed) {
        failed = check_data(&w, err);
    }
    if (!failed && kind->tries && !may_make(&w)) {
        failed =
            cbx_fail(err, kind->code, "%s cannot be written to: %s", kind->what, strerror(errno));
        cbx_err_detail(err, "'%s'", w.done);
    }
    if (failed) {
        cbx_fd_auto(&w.at);
        return failed;
    }
    *out = w.at;
    return 0;
}
