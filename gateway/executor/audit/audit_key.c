/* SPDX-License-Identifier: MIT
 * The signing key of the audit log: created at first use, replaced on request. During a
 * replacement the new key is in KEY_NEW; a head signed with it proves that the replacement is
 * valid. */
#include "gateway/executor/audit/audit_files.h"
#include "gateway/executor/audit/audit_internal.h"

#include "gateway/ipc/master/state.h"
#include "policies/base/text/hex.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_NEW CBX_AUDIT_KEY ".new"
#define PUB_NEW CBX_AUDIT_PUB ".new"

/* Opens a file for writing; NULL and errno. */
static FILE *create_at(int dir, const char *name)
{
    CBX_AUTO_FD fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_EXCL, 0600);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    fd = f != NULL ? -1 : fd;
    return f;
}

/* Returns 0; -1 and errno. */
static int write_private(int dir, const char *name, EVP_PKEY *key)
{
    CBX_AUTO_FILE f = create_at(dir, name);
    return f != NULL && PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL) == 1 &&
                   fflush(f) == 0 && fsync(fileno(f)) == 0
               ? 0
               : -1;
}

static int write_public(int dir, EVP_PKEY *key)
{
    unlinkat(dir, PUB_NEW, 0); /* left by a crash */
    CBX_AUTO_FILE f = create_at(dir, PUB_NEW);
    return f != NULL && PEM_write_PUBKEY(f, key) == 1 && fflush(f) == 0 && fsync(fileno(f)) == 0
               ? renameat(dir, PUB_NEW, dir, CBX_AUDIT_PUB)
               : -1;
}

static EVP_PKEY *read_key(int dir, const char *name)
{
    CBX_AUTO_FD fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat status;
    bool regular = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    CBX_AUTO_FILE f = regular ? fdopen(dup(fd), "r") : NULL;
    EVP_PKEY *key = f != NULL ? PEM_read_PrivateKey(f, NULL, NULL, NULL) : NULL;
    if (key != NULL && EVP_PKEY_get_id(key) != EVP_PKEY_ED25519) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    return key;
}

static int fail_key(const char *state_dir, const char *why, struct cbx_err *err)
{
    cbx_fail(err, CBX_EAUDIT, "the audit key %s", why);
    cbx_err_detail(err, "%s/" CBX_AUDIT_KEY, state_dir);
    return CBX_EAUDIT;
}

/* True if the log has a file. Call it with the log's lock. True also if this cannot be
 * determined, because only a new log may get a new key. */
static bool has_log(const struct cbx_audit *audit)
{
    struct stat log, head;
    CBX_AUTO_DONE(audit_files) files;
    return cbx_audit_files_list(audit->dir, &files, NULL) != 0 || files.count > 0 ||
           (audit->fd >= 0 && (fstat(audit->fd, &log) < 0 || log.st_size > 0)) ||
           (audit->head_fd >= 0 && (fstat(audit->head_fd, &head) < 0 || head.st_size > 0));
}

static int make_key(struct cbx_audit *audit, const char *state_dir, struct cbx_err *err)
{
    audit->key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    if (audit->key == NULL || write_private(audit->dir, CBX_AUDIT_KEY, audit->key) < 0 ||
        write_public(audit->dir, audit->key) < 0) {
        char why[128];
        snprintf(why, sizeof(why), "cannot be written: %s", strerror(errno));
        return fail_key(state_dir, why, err);
    }
    return 0;
}

int cbx_audit_read_key(struct cbx_audit *audit, const char *state_dir, struct cbx_err *err)
{
    struct stat status;
    if (fstatat(audit->dir, CBX_AUDIT_KEY, &status, AT_SYMLINK_NOFOLLOW) < 0) {
        if (errno != ENOENT) {
            return fail_key(state_dir, strerror(errno), err);
        }
        if (has_log(audit)) {
            return fail_key(state_dir,
                            "is missing beside its log, which goes on with this key "
                            "alone: restore it from the backup, or move all files "
                            "audit.* away to begin another log",
                            err);
        }
        return 0;
    }
    if (S_ISREG(status.st_mode) && (status.st_mode & 077) != 0) {
        return fail_key(
            state_dir,
            "can be read or written by other users, who can sign records then: set its "
            "mode to 0600, and replace it if another user may have read it (codebox audit keygen)",
            err);
    }
    audit->key = read_key(audit->dir, CBX_AUDIT_KEY);
    if (audit->key == NULL) {
        return fail_key(state_dir, "cannot be read, allowed is an Ed25519 key in PEM", err);
    }
    return 0;
}

int cbx_audit_open_key(struct cbx_audit *audit, const char *state_dir, struct cbx_err *err)
{
    int failed = cbx_audit_read_key(audit, state_dir, err);
    if (failed || audit->key != NULL) {
        return failed;
    }
    return make_key(audit, state_dir, err);
}

/* Takes the key if it signed this head. */
static bool take(struct cbx_audit *audit, EVP_PKEY *key, struct cbx_str head)
{
    struct cbx_chain chain;
    if (key == NULL || cbx_chain_open(head, key, &chain, NULL) != 0) {
        EVP_PKEY_free(key);
        return false;
    }
    EVP_PKEY_free(audit->key);
    audit->key = key;
    return true;
}

bool cbx_audit_follow_key(struct cbx_audit *audit, struct cbx_str head)
{
    if (take(audit, read_key(audit->dir, CBX_AUDIT_KEY), head)) {
        return true;
    }
    if (!take(audit, read_key(audit->dir, KEY_NEW), head)) {
        return false;
    }
    if (audit->tries) {
        return true;
    }
    /* A crash came before the last step of the change. */
    return write_public(audit->dir, audit->key) == 0 &&
           renameat(audit->dir, KEY_NEW, audit->dir, CBX_AUDIT_KEY) == 0;
}

static json_t *describe(EVP_PKEY *from, EVP_PKEY *to, uint8_t new_key[CBX_AUDIT_PUBLIC_BYTES])
{
    uint8_t old_key[CBX_AUDIT_PUBLIC_BYTES];
    char old_hex[2 * CBX_AUDIT_PUBLIC_BYTES + 1], new_hex[2 * CBX_AUDIT_PUBLIC_BYTES + 1];
    char signature[CBX_AUDIT_SIGNATURE_HEX + 1];
    size_t len = CBX_AUDIT_PUBLIC_BYTES, other = CBX_AUDIT_PUBLIC_BYTES;
    if (EVP_PKEY_get_raw_public_key(from, old_key, &len) != 1 ||
        EVP_PKEY_get_raw_public_key(to, new_key, &other) != 1 ||
        !cbx_audit_sign_key_change(from, old_key, new_key, signature)) {
        return NULL;
    }
    cbx_hex_encode(old_key, sizeof(old_key), old_hex);
    cbx_hex_encode(new_key, CBX_AUDIT_PUBLIC_BYTES, new_hex);
    return json_pack("{s:s,s:s,s:s}", "old", old_hex, "new", new_hex, "signature", signature);
}

/* Under the lock. The log verifies after each step: the old key signs the record, the new key
 * signs the head from then on. */
static int replace(struct cbx_audit *audit, EVP_PKEY *key, json_t *body, struct cbx_err *err)
{
    struct cbx_audit_pending record = { .type = "key", .body = body };
    unlinkat(audit->dir, KEY_NEW, 0); /* left by a crash */
    if (write_private(audit->dir, KEY_NEW, key) < 0 || fsync(audit->dir) < 0) {
        return cbx_audit_fail_io(audit, err, "key");
    }
    int failed = cbx_audit_commit(audit, &record, err);
    if (failed) {
        return failed;
    }
    EVP_PKEY_free(audit->key);
    EVP_PKEY_up_ref(key);
    audit->key = key;
    if (cbx_audit_write_head(audit) < 0 || fsync(audit->head_fd) < 0 ||
        write_public(audit->dir, key) < 0 ||
        renameat(audit->dir, KEY_NEW, audit->dir, CBX_AUDIT_KEY) < 0 || fsync(audit->dir) < 0) {
        return cbx_audit_fail_io(audit, err, "key");
    }
    return 0;
}

int cbx_audit_replace_key(const char *state_dir, struct cbx_str principal, struct cbx_str reason,
                          uint8_t public_key[CBX_AUDIT_PUBLIC_BYTES], struct cbx_err *err)
{
    CBX_AUTO(audit) audit = NULL;
    int failed = cbx_audit_open(state_dir, &audit, err);
    if (failed) {
        return failed;
    }
    failed = cbx_audit_lock(audit, err);
    if (failed) {
        return failed;
    }
    struct cbx_remains remains; /* the key in use is the one that signed the head */
    failed = cbx_audit_catch_up(audit, &remains, err);
    EVP_PKEY *key = failed ? NULL : EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    CBX_AUTO_JSON body = key != NULL ? describe(audit->key, key, public_key) : NULL;
    if (!failed && body == NULL) {
        failed = cbx_audit_fail(audit, err, "no signing key could be made");
    }
    if (!failed) {
        json_object_set_new(body, "principal", cbx_json_text(principal));
        json_object_set_new(body, "reason", cbx_json_text(reason));
        audit->size = -1; /* the remains of a crash are noted with the record */
        failed = replace(audit, key, body, err);
    }
    flock(audit->fd, LOCK_UN);
    EVP_PKEY_free(key);
    return failed;
}
