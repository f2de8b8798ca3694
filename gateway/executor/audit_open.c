/* SPDX-License-Identifier: MIT
 * Opening the audit log: its files, its key, the head of a new log. */
#include "gateway/executor/audit_internal.h"

#include "gateway/ipc/state.h"
#include "policies/base/deadline.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_key_files(const char *key_path, const char *pub_path, EVP_PKEY *key)
{
    CBX_AUTO_FD fd = open(key_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    CBX_AUTO_FILE f = fd >= 0 ? fdopen(dup(fd), "w") : NULL;
    if (f == NULL || PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL) != 1 ||
        fflush(f) != 0 || fsync(fd) < 0) {
        return -1;
    }
    CBX_AUTO_FILE pub = fopen(pub_path, "we");
    return pub != NULL && PEM_write_PUBKEY(pub, key) == 1 && fflush(pub) == 0 ? 0 : -1;
}

static EVP_PKEY *read_key(const char *path, bool private_key)
{
    CBX_AUTO_FILE f = fopen(path, "re");
    if (f == NULL) {
        return NULL;
    }
    return private_key ? PEM_read_PrivateKey(f, NULL, NULL, NULL)
                       : PEM_read_PUBKEY(f, NULL, NULL, NULL);
}

/* Under the lock of the log file, so that two first starts make one key. */
static int open_key(struct cbx_audit *audit, const char *state_dir, struct cbx_err *err)
{
    char key_path[PATH_MAX], pub_path[PATH_MAX];
    snprintf(key_path, sizeof(key_path), "%s/" CBX_AUDIT_KEY, state_dir);
    snprintf(pub_path, sizeof(pub_path), "%s/" CBX_AUDIT_PUB, state_dir);
    audit->key = read_key(key_path, true);
    if (audit->key == NULL && access(key_path, F_OK) != 0) {
        audit->key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
        if (audit->key != NULL && write_key_files(key_path, pub_path, audit->key) < 0) {
            cbx_fail(err, CBX_EAUDIT, "the audit key cannot be written: %s", strerror(errno));
            cbx_err_detail(err, "%s", key_path);
            return CBX_EAUDIT;
        }
    }
    if (audit->key == NULL || EVP_PKEY_get_id(audit->key) != EVP_PKEY_ED25519) {
        cbx_fail(err, CBX_EAUDIT, "the audit key cannot be read, allowed is an Ed25519 key in PEM");
        cbx_err_detail(err, "%s", key_path);
        return CBX_EAUDIT;
    }
    return 0;
}

/* A new log begins with the head of no record, synced together with the names of the files: from
 * then on a missing head is an error. */
static int begin_head(struct cbx_audit *audit, const char *state_dir, struct cbx_err *err)
{
    struct stat log, head;
    if (fstat(audit->fd, &log) < 0 || fstat(audit->head_fd, &head) < 0) {
        return cbx_audit_fail_io(audit, err, "stat");
    }
    if (log.st_size > 0 || head.st_size > 0) {
        return 0;
    }
    CBX_AUTO_FD dir = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (cbx_audit_write_head(audit) < 0 || fsync(audit->head_fd) < 0 || dir < 0 || fsync(dir) < 0) {
        return cbx_audit_fail_io(audit, err, "head");
    }
    return 0;
}

static int open_files(struct cbx_audit *audit, const char *state_dir, struct cbx_err *err)
{
    char head_path[PATH_MAX];
    snprintf(audit->path, sizeof(audit->path), "%s/" CBX_AUDIT_FILE, state_dir);
    snprintf(head_path, sizeof(head_path), "%s/" CBX_AUDIT_HEAD, state_dir);
    audit->fd = open(audit->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    audit->head_fd = open(head_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (audit->fd < 0 || audit->head_fd < 0) {
        return cbx_audit_fail_io(audit, err, "open");
    }
    if (flock(audit->fd, LOCK_EX) < 0) {
        return cbx_audit_fail_io(audit, err, "lock");
    }
    int failed = open_key(audit, state_dir, err);
    failed = failed ? failed : begin_head(audit, state_dir, err);
    flock(audit->fd, LOCK_UN);
    return failed;
}

int cbx_audit_open(const char *state_dir, struct cbx_audit **out, struct cbx_err *err)
{
    int failed = cbx_state_make(state_dir, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO(audit) audit = calloc(1, sizeof(*audit));
    if (audit == NULL) {
        abort();
    }
    audit->fd = audit->head_fd = -1;
    audit->size = -1; /* the first batch reads the end of the file */
    pthread_mutex_init(&audit->lock, NULL);
    cbx_cond_init(&audit->done);
    cbx_cond_init(&audit->sign);
    failed = open_files(audit, state_dir, err);
    if (!failed) {
        *out = cbx_steal(&audit);
    }
    return failed;
}
