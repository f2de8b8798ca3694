/* SPDX-License-Identifier: MIT
 * Closing the current file of the audit log and beginning the next one. The file is renamed
 * under its lock; a process that locks it afterwards finds another file under its name, and
 * opens the new one. After a crash at any step the log continues: without a current file the
 * next record continues the newest closed one, whose last record the signed head names. */
#include "gateway/executor/audit/audit_internal.h"

#include "gateway/executor/audit/audit_files.h"
#include "policies/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_same(const struct cbx_audit *audit, const char *name)
{
    struct stat open_file, named;
    return fstat(audit->fd, &open_file) == 0 &&
           fstatat(audit->dir, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

static bool was_closed(const struct cbx_audit *audit)
{
    CBX_AUTO_DONE(audit_files) files;
    bool closed = false;
    if (cbx_audit_files_list(audit->dir, &files, NULL) == 0) {
        for (size_t i = files.count; i > 0 && !closed; i--) {
            char name[CBX_AUDIT_NAME_BYTES];
            cbx_audit_file_name(files.first[i - 1], name);
            closed = is_same(audit, name);
        }
    }
    return closed;
}

bool cbx_audit_in_place(const struct cbx_audit *audit)
{
    return is_same(audit, CBX_AUDIT_FILE) || was_closed(audit);
}

static int open_current(struct cbx_audit *audit, struct cbx_err *err)
{
    int fd = openat(audit->dir, CBX_AUDIT_FILE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return cbx_audit_fail_io(audit, err, "open");
    }
    close(audit->fd);
    audit->fd = fd;
    audit->size = -1; /* the next batch reads the end of the file */
    return 0;
}

int cbx_audit_lock(struct cbx_audit *audit, struct cbx_err *err)
{
    for (;;) {
        while (flock(audit->fd, LOCK_EX) < 0) {
            if (errno != EINTR) {
                return cbx_audit_fail_io(audit, err, "lock");
            }
        }
        if (is_same(audit, CBX_AUDIT_FILE)) {
            return 0;
        }
        bool closed = was_closed(audit);
        flock(audit->fd, LOCK_UN);
        int failed;
        if (closed) {
            failed = open_current(audit, err);
        } else {
            failed = cbx_audit_fail(audit, err,
                                    "the audit log was removed or replaced by another "
                                    "file, so nothing runs");
        }
        if (failed) {
            return failed;
        }
    }
}

/* Returns the number of the first record of the current file; 0 = no record. */
static uint64_t first_number(const struct cbx_audit *audit)
{
    off_t size = audit->size < CBX_AUDIT_LINE_MAX ? audit->size : CBX_AUDIT_LINE_MAX;
    CBX_AUTO_MEM char *bytes = cbx_audit_read_range(audit->fd, 0, size);
    const char *end = bytes != NULL ? memchr(bytes, '\n', (size_t)size) : NULL;
    CBX_AUTO_JSON record = NULL;
    if (end == NULL || cbx_json_parse((struct cbx_str){ .p = bytes, .len = (size_t)(end - bytes) },
                                      CBX_AUDIT_LINE_MAX, &record, NULL) != 0) {
        return 0;
    }
    int64_t seq = json_integer_value(json_object_get(record, "seq"));
    return seq > 0 ? (uint64_t)seq : 0;
}

/* Returns 0; -1 and errno. */
static int close_current(struct cbx_audit *audit)
{
    char name[CBX_AUDIT_NAME_BYTES];
    struct stat status;
    uint64_t first = first_number(audit);
    cbx_audit_file_name(first, name);
    if (first == 0) {
        errno = EINVAL;
        return -1;
    }
    if (fstatat(audit->dir, name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return -1;
    }
    /* The head too: after a crash of the host it must not be older than the closed file. */
    if (fsync(audit->fd) < 0 || fsync(audit->head_fd) < 0) {
        return -1;
    }
    return renameat(audit->dir, CBX_AUDIT_FILE, audit->dir, name);
}

int cbx_audit_rotate(struct cbx_audit *audit, struct cbx_err *err)
{
    if (close_current(audit) < 0) {
        if (!audit->rotation_failed) {
            cbx_log(CBX_LOG_ERROR, "the file of the audit log cannot be closed, it goes on: %s",
                    strerror(errno));
        }
        audit->rotation_failed = true;
        return 0;
    }
    audit->rotation_failed = false;
    int failed = open_current(audit, err);
    if (failed) {
        return failed;
    }
    failed = cbx_audit_lock(audit, err);
    if (failed) {
        return failed;
    }
    if (fsync(audit->dir) < 0) {
        return cbx_audit_fail_io(audit, err, "sync");
    }
    return 0;
}
