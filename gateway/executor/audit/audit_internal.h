/* SPDX-License-Identifier: MIT
 * Declarations shared by the files of the audit log's writer. */
#ifndef CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_INTERNAL_H
#define CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_INTERNAL_H

#include "gateway/executor/audit/audit.h"
#include "gateway/executor/audit/audit_chain.h"

#include <limits.h>
#include <pthread.h>
#include <sys/types.h>

struct cbx_audit {
    int dir, fd, head_fd;
    off_t max_bytes;      /* size of a file from which the next one begins */
    bool rotation_failed; /* true if a rotation failed and the failure was logged */
    EVP_PKEY *key;
    char path[PATH_MAX];
    const struct cbx_redactor *redactor; /* replaces secrets in records; NULL = none */
    struct cbx_audit_keeper *keeper;     /* keeper of heads; borrowed; NULL = none */
    struct cbx_chain chain;              /* position at the offset `size` */
    off_t size;
    /* number of the chain's last record, for threads that do not write */
    _Atomic uint64_t last_seq;
    pthread_mutex_t lock;
    pthread_cond_t done;
    struct cbx_audit_pending *first, *last;
    bool writing; /* true while a batch is written or its head signed: the file is locked */
    pthread_t signer;
    pthread_cond_t sign;
    bool signer_started, must_sign, closing;
    bool head_behind; /* true if the last head could not be written */
    /* true for cbx_audit_try: nothing is written; missing files have the descriptor -1 */
    bool tries;
};

/* Remains of a killed writer at the end of the file: part of a line, whose action never began;
 * or whole records whose head was not signed yet, and whose actions may have begun. */
struct cbx_remains {
    uint64_t torn_bytes;
    char torn_hash[CBX_SHA256_HEX + 1];
    uint64_t unsigned_from; /* 0 = none */
};

/* Fails with CBX_EAUDIT and this text; the log's path, which is for the operator alone, is the
 * detail. */
int cbx_audit_fail(const struct cbx_audit *audit, struct cbx_err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fails with CBX_EAUDIT "the audit log cannot be written (WHAT: errno), so nothing runs"; the
 * path is in the detail. */
int cbx_audit_fail_io(struct cbx_audit *audit, struct cbx_err *err, const char *what);

/* Writes all bytes at this offset; -1 and errno. */
int cbx_audit_write(int fd, struct cbx_str bytes, off_t at);

/* Reads [from, to) of a file; the caller frees the text. NULL if it cannot be read. */
char *cbx_audit_read_range(int fd, off_t from, off_t to);

/* Signs the chain and writes the head, without syncing it; -1 and errno. */
int cbx_audit_write_head(struct cbx_audit *audit);

/* Under the file lock: reads the last record and the head, and adopts them. *end is the end of
 * the last whole line in the first `bytes` bytes of the current file. CBX_EAUDIT. */
int cbx_audit_read_end(struct cbx_audit *audit, off_t bytes, off_t *end,
                       struct cbx_remains *remains, struct cbx_err *err);

/* Under the file lock: updates chain and size. Cuts a torn tail; the next batch must note the
 * remains of other writers. CBX_EAUDIT. */
int cbx_audit_catch_up(struct cbx_audit *audit, struct cbx_remains *remains, struct cbx_err *err);

/* Reads the last record of the newest closed file, which a current file without a record
 * continues; *out is unchanged if there is no closed file. CBX_EAUDIT. */
int cbx_audit_closed_position(struct cbx_audit *audit, struct cbx_chain *out, struct cbx_err *err);

/* Appends the record 'recovered' if there are remains. CBX_ETOOBIG. */
int cbx_audit_chain_remains(struct cbx_chain *chain, const struct cbx_remains *remains,
                            int64_t now_ms, struct cbx_buf *out);

/* Refuses to compute the age of records by this clock (wall clock, milliseconds) if it is far
 * from the newest record, or if the clock jumped within the current file and no later record
 * 'pruned' accepted the jump. CBX_ESTATE with the finding. */
int cbx_audit_check_clock(struct cbx_audit *audit, int64_t now_ms, struct cbx_err *err);

/* Finds the key that verifies the head: `pinned`, else the key of the state directory.
 * CBX_EAUDIT. */
int cbx_audit_find_key(const char *state_dir, const uint8_t *pinned,
                       uint8_t out[CBX_AUDIT_PUBLIC_BYTES], struct cbx_err *err);

/* Makes a public key from its raw bytes; the caller frees it. NULL if they are no key. */
EVP_PKEY *cbx_audit_key_of(const uint8_t bytes[CBX_AUDIT_PUBLIC_BYTES]);

/* Signs the replacement of the old key with the old key; false if libcrypto fails. */
enum { CBX_AUDIT_SIGNATURE_HEX = 128 };
bool cbx_audit_sign_key_change(EVP_PKEY *key, const uint8_t old_key[CBX_AUDIT_PUBLIC_BYTES],
                               const uint8_t new_key[CBX_AUDIT_PUBLIC_BYTES],
                               char out[CBX_AUDIT_SIGNATURE_HEX + 1]);

/* True if `hex` is the signature of the old key over its replacement by the new one. */
bool cbx_audit_key_change_is_signed(const uint8_t old_key[CBX_AUDIT_PUBLIC_BYTES],
                                    const uint8_t new_key[CBX_AUDIT_PUBLIC_BYTES],
                                    struct cbx_str hex);

/* Reads the signing key; audit->key stays NULL if there is neither a key nor a log. CBX_EAUDIT. */
int cbx_audit_read_key(struct cbx_audit *audit, const char *state_dir, struct cbx_err *err);

/* Reads the signing key, or creates it if it is missing. Under the lock, so that two first
 * starts create one key. CBX_EAUDIT. */
int cbx_audit_open_key(struct cbx_audit *audit, const char *state_dir, struct cbx_err *err);

/* Takes the key of the state directory if it signed this head: another process replaced the key. */
bool cbx_audit_follow_key(struct cbx_audit *audit, struct cbx_str head);

/* Under the lock: writes the records of a batch, in a new file if the current one is full, after
 * the remains of a crash. They are on disk then. CBX_EAUDIT: nothing was written. */
int cbx_audit_commit(struct cbx_audit *audit, struct cbx_audit_pending *batch, struct cbx_err *err);

/* Locks the current file of the log. If another process closed it meanwhile, the next one is
 * opened. CBX_EAUDIT if the log was removed or replaced. */
int cbx_audit_lock(struct cbx_audit *audit, struct cbx_err *err);

/* True if this is still the current file, or a rotation closed it and the log continues in
 * another file. */
bool cbx_audit_in_place(const struct cbx_audit *audit);

/* Under the lock, after the head is signed: closes the current file under the number of its
 * first record, and locks a new one. If the file cannot be renamed it stays the current one, and
 * the failure is logged once. CBX_EAUDIT if the new file cannot be created: nothing is locked
 * then. */
int cbx_audit_rotate(struct cbx_audit *audit, struct cbx_err *err);

#endif
