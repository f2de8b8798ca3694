/* SPDX-License-Identifier: MIT
 * Checks the audit log before a start, with the steps of a writer. */
#include "gateway/executor/audit/audit_internal.h"

#include "gateway/executor/audit/audit_files.h"
#include "gateway/ipc/master/state.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens with a writer's flags, because the file must be writable; *out is -1 if the file is
 * missing, since a writer would create it. */
static int open_one(struct cbx_audit *audit, const char *name, int *out, off_t *bytes,
                    struct cbx_err *err)
{
    struct stat status;
    *bytes = 0;
    *out = openat(audit->dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (*out < 0) {
        if (errno != ENOENT) {
            return cbx_audit_fail_io(audit, err, "open");
        }
        return 0;
    }
    if (fstat(*out, &status) < 0) {
        return cbx_audit_fail_io(audit, err, "stat");
    }
    *bytes = status.st_size;
    return 0;
}

/* Under a shared lock: a writer appends and signs under its exclusive lock. */
static int read_all(struct cbx_audit *audit, const char *state_dir, struct cbx_err *err)
{
    struct cbx_remains remains = { 0 };
    off_t head, end;
    int failed = open_one(audit, CBX_AUDIT_HEAD, &audit->head_fd, &head, err);
    if (failed) {
        return failed;
    }
    failed = cbx_audit_read_key(audit, state_dir, err);
    if (failed || audit->key == NULL) {
        return failed;
    }
    struct stat status = { 0 };
    if (audit->fd >= 0 && fstat(audit->fd, &status) < 0) {
        return cbx_audit_fail_io(audit, err, "stat");
    }
    CBX_AUTO_DONE(audit_files) files;
    failed = cbx_audit_files_list(audit->dir, &files, err);
    if (failed) {
        return failed;
    }
    if (status.st_size == 0 && head == 0 && files.count == 0) {
        return 0; /* a new log */
    }
    return cbx_audit_read_end(audit, status.st_size, &end, &remains, err);
}

int cbx_audit_try(const char *state_dir, struct cbx_err *err)
{
    struct cbx_audit audit = { .dir = -1, .fd = -1, .head_fd = -1, .tries = true };
    off_t bytes;
    int failed = cbx_state_try(state_dir, &audit.dir, err);
    if (failed || audit.dir < 0) {
        return failed;
    }
    snprintf(audit.path, sizeof(audit.path), "%s/" CBX_AUDIT_FILE, state_dir);
    failed = open_one(&audit, CBX_AUDIT_FILE, &audit.fd, &bytes, err);
    while (!failed && audit.fd >= 0 && flock(audit.fd, LOCK_SH) < 0) {
        if (errno != EINTR) {
            failed = cbx_audit_fail_io(&audit, err, "lock");
        }
    }
    if (!failed) {
        failed = read_all(&audit, state_dir, err);
    }
    EVP_PKEY_free(audit.key);
    cbx_fd_auto(&audit.fd);
    cbx_fd_auto(&audit.head_fd);
    cbx_fd_auto(&audit.dir);
    return failed;
}
