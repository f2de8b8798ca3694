/* SPDX-License-Identifier: MIT
 * What the files of the audit log's writer share. */
#ifndef CBX_GATEWAY_EXECUTOR_AUDIT_INTERNAL_H
#define CBX_GATEWAY_EXECUTOR_AUDIT_INTERNAL_H

#include "gateway/executor/audit.h"
#include "gateway/executor/audit_chain.h"

#include <limits.h>
#include <pthread.h>
#include <sys/types.h>

struct cbx_audit {
    int fd, head_fd;
    EVP_PKEY *key;
    char path[PATH_MAX];
    const struct cbx_redactor *redactor; /* of what is recorded; NULL = none */
    struct cbx_chain chain;              /* as of `size` */
    off_t size;
    pthread_mutex_t lock;
    pthread_cond_t done;
    struct cbx_audit_pending *first, *last;
    bool writing; /* a batch is being written, or its head signed: the file is locked */
    pthread_t signer;
    pthread_cond_t sign;
    bool signer_started, must_sign, closing;
    bool head_behind; /* the last head could not be written */
};

/* CBX_EAUDIT "the audit log cannot be written (WHAT: errno), so nothing runs"; the path is in
 * the detail. */
int cbx_audit_fail_io(struct cbx_audit *audit, struct cbx_err *err, const char *what);

/* Signs the chain and writes the head, without syncing it; -1 and errno. */
int cbx_audit_write_head(struct cbx_audit *audit);

#endif
