/* SPDX-License-Identifier: MIT
 * A configuration file of another program: reading and replacing it. */
#include "gateway/cli/settings/config_file.h"

#include "gateway/cli/cli.h"
#include "policies/base/auto.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fail_errno(const char *path, struct cbx_err *err)
{
    return cbx_fail(err, CBX_EIO, "'%s': %s", path, strerror(errno));
}

static bool is_below(const char *path, const char *folder)
{
    size_t len = strlen(folder);
    return strcmp(folder, "/") == 0 || (strncmp(path, folder, len) == 0 && path[len] == '/');
}

/* Returns true if the existing part of the path, which leads to no file, lies in the working
 * directory. A folder may be a link. */
static bool is_missing_within(const char *path, const char *here)
{
    char part[PATH_MAX], real[PATH_MAX];
    snprintf(part, sizeof(part), "%s", path);
    for (char *slash = strrchr(part, '/'); slash != NULL && slash != part;
         slash = strrchr(part, '/')) {
        *slash = '\0';
        if (realpath(part, real) != NULL) {
            return strcmp(real, here) == 0 || is_below(real, here);
        }
    }
    return true;
}

/* Finds the file behind the links on the way to it. */
static int follow(const char *path, bool within, struct cbx_config_file *out, struct cbx_err *err)
{
    char real[PATH_MAX], here[PATH_MAX];
    struct stat link, target;
    if (snprintf(out->path, sizeof(out->path), "%s", path) >= (int)sizeof(out->path)) {
        return cbx_fail(err, CBX_ETOOBIG, "the path is too long");
    }
    if (within && getcwd(here, sizeof(here)) == NULL) {
        return fail_errno(path, err);
    }
    if (lstat(path, &link) < 0) {
        if (errno != ENOENT) {
            return fail_errno(path, err);
        }
        if (within && !is_missing_within(path, here)) {
            return cbx_fail(err, CBX_EINVAL,
                            "a folder of '%s' leads out of the project, so it is not followed",
                            path);
        }
        return 0;
    }
    bool linked = S_ISLNK(link.st_mode);
    if (realpath(path, real) == NULL || stat(real, &target) < 0) {
        if (linked && errno == ENOENT) {
            return cbx_fail(err, CBX_EINVAL, "'%s' is a symbolic link that leads nowhere", path);
        }
        return fail_errno(path, err);
    }
    if (within && !is_below(real, here)) {
        return cbx_fail(err, CBX_EINVAL,
                        "'%s' leads to '%s', which is not in the project, so it is not followed",
                        path, real);
    }
    if (!linked) {
        return 0;
    }
    if (link.st_uid != geteuid() || target.st_uid != geteuid()) {
        return cbx_fail(err, CBX_EINVAL,
                        "'%s' is a symbolic link to '%s', and one of them belongs to another user, "
                        "so it is not followed",
                        path, real);
    }
    snprintf(out->path, sizeof(out->path), "%s", real);
    return 0;
}

/* *fd is -1 if there is no such file. */
static int open_regular(const char *path, int *fd, struct stat *status, struct cbx_err *err)
{
    *fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (*fd < 0) {
        if (errno != ENOENT) {
            return fail_errno(path, err);
        }
        return 0;
    }
    if (fstat(*fd, status) != 0 || !S_ISREG(status->st_mode)) {
        return cbx_fail(err, CBX_EINVAL, "'%s' is not a regular file", path);
    }
    return 0;
}

int cbx_config_file_read(const char *path, bool within, struct cbx_config_file *out,
                         struct cbx_buf *text, struct cbx_err *err)
{
    enum { CHUNK_BYTES = 16 * 1024 };
    struct cbx_config_file file = { 0 };
    CBX_AUTO_FD fd = -1;
    int failed = follow(path, within, &file, err);
    if (failed) {
        return failed;
    }
    failed = open_regular(file.path, &fd, &file.before, err);
    if (failed) {
        return failed;
    }
    file.exists = fd >= 0;
    for (ssize_t n = file.exists ? 1 : 0; n > 0;) {
        char chunk[CHUNK_BYTES];
        n = read(fd, chunk, sizeof(chunk));
        if (n < 0) {
            return fail_errno(path, err);
        }
        if (cbx_buf_add_bytes(text, chunk, (size_t)n) != 0) {
            return cbx_fail(err, CBX_ETOOBIG, "'%s' has more than %zu bytes", path,
                            text->max_bytes);
        }
    }
    *out = file;
    return 0;
}

/* --- replacing -------------------------------------------------------------------------------- */

/* Makes the missing folders of the path. */
static int make_folders(const char *path, mode_t mode, struct cbx_err *err)
{
    char folder[PATH_MAX];
    if (snprintf(folder, sizeof(folder), "%s", path) >= (int)sizeof(folder)) {
        return cbx_fail(err, CBX_ETOOBIG, "the path is too long");
    }
    mode_t search = mode | (mode & 0444) >> 2;
    for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0700) == 0) {
            if (chmod(folder, search) < 0) {
                return fail_errno(folder, err);
            }
        } else if (errno != EEXIST) {
            return fail_errno(folder, err);
        }
        *slash = '/';
    }
    return 0;
}

static bool is_unchanged(const struct cbx_config_file *file)
{
    struct stat now;
    const struct stat *then = &file->before;
    if (lstat(file->path, &now) < 0) {
        return errno == ENOENT && !file->exists;
    }
    return file->exists && now.st_dev == then->st_dev && now.st_ino == then->st_ino &&
           now.st_size == then->st_size && now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == then->st_mtim.tv_nsec;
}

static int write_temporary(const struct cbx_config_file *file, int fd, struct cbx_str text,
                           mode_t mode, struct cbx_err *err)
{
    const struct stat *before = &file->before;
    bool is_ours = !file->exists || (before->st_uid == geteuid() && before->st_gid == getegid());
    if (!is_ours && fchown(fd, before->st_uid, before->st_gid) < 0) {
        return cbx_fail(err, CBX_EIO, "'%s' belongs to another user or group", file->path);
    }
    if (fchmod(fd, file->exists ? before->st_mode & 07777 : mode) < 0 ||
        cbx_cli_write(fd, text) < 0 || fsync(fd) < 0) {
        return fail_errno(file->path, err);
    }
    return 0;
}

static void sync_folder(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof(folder), "%.*s", slash != NULL ? (int)(slash - path) + 1 : 1,
             slash != NULL ? path : ".");
    CBX_AUTO_FD fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
    }
}

/* A rename needs no right to write to the file. Root may write to every file, so the file's mode
 * counts too. */
static int check_writable(const struct cbx_config_file *file, struct cbx_err *err)
{
    const mode_t anybody = S_IWUSR | S_IWGRP | S_IWOTH;
    bool writable = !file->exists || ((file->before.st_mode & anybody) != 0 &&
                                      faccessat(AT_FDCWD, file->path, W_OK, AT_EACCESS) == 0);
    if (!writable) {
        return cbx_fail(err, CBX_EINVAL,
                        "'%s' is read-only; make it writable, or put the entry into it "
                        "yourself",
                        file->path);
    }
    return 0;
}

int cbx_config_file_replace(const struct cbx_config_file *file, struct cbx_str text, mode_t mode,
                            struct cbx_err *err)
{
    char temporary[PATH_MAX + 16];
    int failed = check_writable(file, err);
    if (failed) {
        return failed;
    }
    failed = make_folders(file->path, mode, err);
    if (failed) {
        return failed;
    }
    snprintf(temporary, sizeof(temporary), "%s.codebox-XXXXXX", file->path);
    CBX_AUTO_FD fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        return fail_errno(file->path, err);
    }
    failed = write_temporary(file, fd, text, mode, err);
    if (!failed && !is_unchanged(file)) {
        failed = cbx_fail(err, CBX_ESTATE, "'%s' was changed meanwhile; try again", file->path);
    }
    if (!failed && rename(temporary, file->path) < 0) {
        failed = fail_errno(file->path, err);
    }
    if (failed) {
        unlink(temporary);
    } else {
        sync_folder(file->path);
    }
    return failed;
}
