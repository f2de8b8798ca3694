/* SPDX-License-Identifier: MIT
 * Opening the audit log: its files, its key, the head of a new log. */
#include "gateway/executor/audit/audit_internal.h"

#include "gateway/executor/audit/audit_files.h"
#include "gateway/ipc/master/state.h"
#include "policies/base/memory.h"
#include "policies/base/time/deadline.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes the head of a new log, for no record, synced together with the names of the files: from
 * then on a missing head is an error. */
static int begin_head(struct cbx_audit *audit, int dir, struct cbx_err *err)
{
    struct stat log, head;
    if (fstat(audit->fd, &log) < 0 || fstat(audit->head_fd, &head) < 0) {
        return cbx_audit_fail_io(audit, err, "stat");
    }
    if (log.st_size > 0 || head.st_size > 0) {
        return 0;
    }
    /* if there are closed files, a missing head is an error too */
    CBX_AUTO_DONE(audit_files) files;
    int failed = cbx_audit_files_list(dir, &files, err);
    if (failed || files.count > 0) {
        return failed;
    }
    if (cbx_audit_write_head(audit) < 0 || fsync(audit->head_fd) < 0 || fsync(dir) < 0) {
        return cbx_audit_fail_io(audit, err, "head");
    }
    return 0;
}

static int open_files(struct cbx_audit *audit, const char *state_dir, int dir, struct cbx_err *err)
{
    snprintf(audit->path, sizeof(audit->path), "%s/" CBX_AUDIT_FILE, state_dir);
    audit->fd = openat(dir, CBX_AUDIT_FILE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    audit->head_fd = openat(dir, CBX_AUDIT_HEAD, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (audit->fd < 0 || audit->head_fd < 0) {
        return cbx_audit_fail_io(audit, err, "open");
    }
    int failed = cbx_audit_lock(audit, err);
    if (failed) {
        return failed;
    }
    failed = cbx_audit_open_key(audit, state_dir, err);
    if (!failed) {
        failed = begin_head(audit, dir, err);
    }
    flock(audit->fd, LOCK_UN);
    return failed;
}

int cbx_audit_open(const char *state_dir, struct cbx_audit **out, struct cbx_err *err)
{
    CBX_AUTO_FD dir = -1;
    int failed = cbx_state_open(state_dir, &dir, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO(audit) audit = cbx_new(sizeof(*audit));
    audit->fd = audit->head_fd = -1;
    audit->dir = cbx_fd_steal(&dir);
    audit->max_bytes = (off_t)CBX_AUDIT_FILE_MIB * 1024 * 1024;
    audit->size = -1; /* the first batch reads the end of the file */
    pthread_mutex_init(&audit->lock, NULL);
    cbx_cond_init(&audit->done);
    cbx_cond_init(&audit->sign);
    failed = open_files(audit, state_dir, audit->dir, err);
    if (!failed) {
        *out = cbx_steal(&audit);
    }
    return failed;
}
