/* SPDX-License-Identifier: MIT
 * What the files of the audit log's writer share. */
#ifndef CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_INTERNAL_H
#define CBX_GATEWAY_EXECUTOR_AUDIT_AUDIT_INTERNAL_H

#include "gateway/executor/audit/audit.h"
#include "gateway/executor/audit/audit_chain.h"

#include <limits.h>
#include <pthread.h>
#include <sys/types.h>

struct cbx_audit {
    int dir, fd, head_fd;
    off_t max_bytes;      /* of a file; then the next one begins */
    bool rotation_failed; /* and was logged */
    EVP_PKEY *key;
    char path[PATH_MAX];
    const struct cbx_redactor *redactor; /* of what is recorded; NULL = none */
    struct cbx_audit_keeper *keeper;     /* of heads; borrowed; NULL = none */
    struct cbx_chain chain;              /* as of `size` */
    off_t size;
    _Atomic uint64_t last_seq; /* of the chain, for threads that do not write */
    pthread_mutex_t lock;
    pthread_cond_t done;
    struct cbx_audit_pending *first, *last;
    bool writing; /* a batch is being written, or its head signed: the file is locked */
    pthread_t signer;
    pthread_cond_t sign;
    bool signer_started, must_sign, closing;
    bool head_behind; /* the last head could not be written */
    bool tries;       /* nothing is written (cbx_audit_try); files that are missing have -1 */
};

/* What a writer that was killed left at the end: part of a line, on which nothing depended; or
 * whole records whose head was not signed yet, and whose actions may have begun. */
struct cbx_remains {
    uint64_t torn_bytes;
    char torn_hash[CBX_SHA256_HEX + 1];
    uint64_t unsigned_from; /* 0 = none */
};

/* CBX_EAUDIT with this text; the log's path, which is for the operator alone, is the detail. */
int cbx_audit_fail(const struct cbx_audit *audit, struct cbx_err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* CBX_EAUDIT "the audit log cannot be written (WHAT: errno), so nothing runs"; the path is in
 * the detail. */
int cbx_audit_fail_io(struct cbx_audit *audit, struct cbx_err *err, const char *what);

/* Writes all bytes at this offset; -1 and errno. */
int cbx_audit_write(int fd, struct cbx_str bytes, off_t at);

/* Reads [from, to) of a file; the caller frees. NULL when it cannot be read. */
char *cbx_audit_read_range(int fd, off_t from, off_t to);

/* Signs the chain and writes the head, without syncing it; -1 and errno. */
int cbx_audit_write_head(struct cbx_audit *audit);

/* Under the file lock: reads the last record and the head, and adopts them. *end is where the last whole line of the current file ends, of
 * `bytes` in it. CBX_EAUDIT. */
int cbx_audit_read_end(struct cbx_audit *audit, off_t bytes, off_t *end,
                       struct cbx_remains *remains, struct cbx_err *err);

/* Under the file lock: brings chain and size up to date. A torn tail is cut; what remains of others
 * is to be noted in the next batch. CBX_EAUDIT. */
int cbx_audit_catch_up(struct cbx_audit *audit, struct cbx_remains *remains, struct cbx_err *err);

/* The last record of the newest closed file, which a current file without a record continues; *out is unchanged when there is none.
 * CBX_EAUDIT. */
int cbx_audit_closed_position(struct cbx_audit *audit, struct cbx_chain *out, struct cbx_err *err);

/* Appends the record 'recovered' when there are remains. CBX_ETOOBIG. */
int cbx_audit_chain_remains(struct cbx_chain *chain, const struct cbx_remains *remains,
                            int64_t now_ms, struct cbx_buf *out);

/* Refuses to judge the age of records by this clock (wall clock, milliseconds): when it is far from the newest record, or the clock jumped
 * within the current file and no record 'pruned' behind that accepted it. CBX_ESTATE with what was found. */
int cbx_audit_check_clock(struct cbx_audit *audit, int64_t now_ms, struct cbx_err *err);

/* The key that the head is checked with: `pinned`, else that of the state directory. CBX_EAUDIT. */
int cbx_audit_find_key(const char *state_dir, const uint8_t *pinned,
                       uint8_t out[CBX_AUDIT_PUBLIC_BYTES], struct cbx_err *err);

/* A public key from its raw bytes, the caller's; NULL when it is none. */
EVP_PKEY *cbx_audit_key_of(const uint8_t bytes[CBX_AUDIT_PUBLIC_BYTES]);

/* The signature of the old key over its replacement; false when libcrypto fails. */
enum { CBX_AUDIT_SIGNATURE_HEX = 128 };
bool cbx_audit_sign_key_change(EVP_PKEY *key, const uint8_t old_key[CBX_AUDIT_PUBLIC_BYTES],
                               const uint8_t new_key[CBX_AUDIT_PUBLIC_BYTES],
                               char out[CBX_AUDIT_SIGNATURE_HEX + 1]);

/* True when `hex` is the signature of the old key over its replacement by the new one. */
bool cbx_audit_key_change_is_signed(const uint8_t old_key[CBX_AUDIT_PUBLIC_BYTES],
                                    const uint8_t new_key[CBX_AUDIT_PUBLIC_BYTES],
                                    struct cbx_str hex);

/* Reads the signing key; audit->key stays NULL when there is neither a key nor a log. CBX_EAUDIT. */
int cbx_audit_read_key(struct cbx_audit *audit, const char *state_dir, struct cbx_err *err);

/* Reads the signing key, or makes it when there is none. Under the lock, so that two first starts make
 * one key. CBX_EAUDIT. */
int cbx_audit_open_key(struct cbx_audit *audit, const char *state_dir, struct cbx_err *err);

/* Takes the key of the state directory when it signed this head: another process replaced the key. */
bool cbx_audit_follow_key(struct cbx_audit *audit, struct cbx_str head);

/* Under the lock: writes the records of a batch, in a new file when the current one is full, and what
 * a crash left before them. They are on disk then. CBX_EAUDIT: nothing was written. */
int cbx_audit_commit(struct cbx_audit *audit, struct cbx_audit_pending *batch, struct cbx_err *err);

/* Locks the current file of the log, which another process may have closed meanwhile: then the next
 * one is opened. CBX_EAUDIT when the log was removed or replaced. */
int cbx_audit_lock(struct cbx_audit *audit, struct cbx_err *err);

/* True when this is still the current file, or was closed by a rotation and the log goes on in
 * another one. */
bool cbx_audit_in_place(const struct cbx_audit *audit);

/* Under the lock, when the head is signed: closes the current file under the number of its first
 * record, and locks a new one. When the file cannot be renamed it stays the current one, which is
 * logged once. CBX_EAUDIT when the new file cannot be made: nothing is locked then. */
int cbx_audit_rotate(struct cbx_audit *audit, struct cbx_err *err);

#endif
