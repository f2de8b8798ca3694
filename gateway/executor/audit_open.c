/* SPDX-License-Identifier: MIT
 * Opening the audit log: its files, its key, the head of a new log. */
#include "gateway/executor/audit_internal.h"

#include "gateway/executor/audit_files.h"
#include "gateway/ipc/state.h"
#include "policies/base/deadline.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* For writing; NULL and errno. */
static FILE *create_at(int dir, const char *name, int flags)
{
    CBX_AUTO_FD fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    fd = f != NULL ? -1 : fd;
    return f;
}

static int write_key_files(int dir, EVP_PKEY *key)
{
    CBX_AUTO_FILE f = create_at(dir, CBX_AUDIT_KEY, O_EXCL);
    if (f == NULL || PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL) != 1 ||
        fflush(f) != 0 || fsync(fileno(f)) < 0) {
        return -1;
    }
    CBX_AUTO_FILE pub = create_at(dir, CBX_AUDIT_PUB, O_TRUNC);
    return pub != NULL && PEM_write_PUBKEY(pub, key) == 1 && fflush(pub) == 0 ? 0 : -1;
}

static EVP_PKEY *read_key(const char *state_dir)
{
    CBX_AUTO_FILE f = cbx_state_read(state_dir, CBX_AUDIT_KEY);
    return f != NULL ? PEM_read_PrivateKey(f, NULL, NULL, NULL) : NULL;
}

/* Under the lock of the log file, so that two first starts make one key. */
static int open_key(struct cbx_audit *audit, const char *state_dir, int dir, struct cbx_err *err)
{
    struct stat status;
    audit->key = read_key(state_dir);
    if (audit->key == NULL && fstatat(dir, CBX_AUDIT_KEY, &status, AT_SYMLINK_NOFOLLOW) < 0) {
        audit->key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
        if (audit->key != NULL && write_key_files(dir, audit->key) < 0) {
            cbx_fail(err, CBX_EAUDIT, "the audit key cannot be written: %s", strerror(errno));
            cbx_err_detail(err, "%s/" CBX_AUDIT_KEY, state_dir);
            return CBX_EAUDIT;
        }
    }
    if (audit->key == NULL || EVP_PKEY_get_id(audit->key) != EVP_PKEY_ED25519) {
        cbx_fail(err, CBX_EAUDIT, "the audit key cannot be read, allowed is an Ed25519 key in PEM");
        cbx_err_detail(err, "%s/" CBX_AUDIT_KEY, state_dir);
        return CBX_EAUDIT;
    }
    return 0;
}

/* A new log begins with the head of no record, synced together with the names of the files: from
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
    CBX_AUTO_DONE(audit_files) files; /* with closed files, a head that is gone is an error too */
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
    failed = open_key(audit, state_dir, dir, err);
    failed = failed ? failed : begin_head(audit, dir, err);
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
    CBX_AUTO(audit) audit = calloc(1, sizeof(*audit));
    if (audit == NULL) {
        abort();
    }
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
