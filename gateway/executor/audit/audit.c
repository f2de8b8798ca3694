/* SPDX-License-Identifier: MIT
 * The writing side of the audit log. Threads put their records into a queue; the first thread
 * that finds no other writing writes for all of them: lock the file, read records that other
 * processes appended, chain, write, fdatasync. Then the records are durable and the threads
 * continue; a thread of the log signs the head, and unlocks the file for the next batch and for
 * other processes. */
#include "gateway/executor/audit/audit_internal.h"

#include "gateway/executor/heads/audit_keeper.h"
#include "gateway/executor/run/grants.h"
#include "policies/base/log.h"
#include "policies/base/time/clock.h"
#include "policies/base/time/deadline.h"

#include <errno.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

void cbx_audit_set_max_bytes(struct cbx_audit *audit, int64_t bytes)
{
    audit->max_bytes = bytes;
}

void cbx_audit_set_redactor(struct cbx_audit *audit, const struct cbx_redactor *redactor)
{
    audit->redactor = redactor;
}

void cbx_audit_set_keeper(struct cbx_audit *audit, struct cbx_audit_keeper *keeper)
{
    audit->keeper = keeper;
}

int cbx_audit_commit(struct cbx_audit *audit, struct cbx_audit_pending *batch, struct cbx_err *err)
{
    struct cbx_remains remains;
    int failed = cbx_audit_catch_up(audit, &remains, err);
    if (!failed && audit->size >= audit->max_bytes && remains.torn_bytes == 0 &&
        remains.unsigned_from == 0) {
        failed = cbx_audit_rotate(audit, err);
        if (!failed) {
            failed = cbx_audit_catch_up(audit, &remains, err);
        }
    }
    if (failed) {
        return failed;
    }
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 64 * 1024 * 1024);
    struct cbx_chain chain = audit->chain;
    int64_t now = cbx_time_ms();
    if (cbx_audit_chain_remains(&chain, &remains, now, &text) != 0) {
        return cbx_audit_fail(
            audit, err, "the audit log: what a crash left cannot be recorded, so nothing runs");
    }
    for (struct cbx_audit_pending *p = batch; p != NULL; p = p->next) {
        CBX_AUTO_JSON clean =
            audit->redactor != NULL ? cbx_redact_json(audit->redactor, p->body) : NULL;
        p->too_large =
            cbx_chain_add(&chain, p->type, clean != NULL ? clean : p->body, now, &text) != 0;
        p->seq = chain.seq;
    }
    if (cbx_audit_write(audit->fd, cbx_buf_str(&text), audit->size) < 0 ||
        fdatasync(audit->fd) < 0) {
        failed = cbx_audit_fail_io(audit, err, "write");
        /* Removes the partly written batch. If this fails too, the next writer finds a torn
         * tail, or whole records that were never signed, of actions that never began. */
        if (ftruncate(audit->fd, audit->size) < 0) {
            audit->size = -1;
        }
        return failed;
    }
    audit->chain = chain;
    audit->last_seq = chain.seq;
    audit->size += (off_t)text.len;
    return 0;
}

/* Signs the head of the last commit. On failure the records are durable, but the next reader
 * finds them unsigned; so the next batch is refused until the head can be written. */
static int sign(struct cbx_audit *audit, struct cbx_err *err)
{
    int failed = 0;
    if (cbx_audit_write_head(audit) < 0) {
        failed = cbx_audit_fail_io(audit, err, "head");
    }
    audit->head_behind = failed != 0;
    if (!failed && audit->keeper != NULL) {
        cbx_audit_keeper_offer(audit->keeper, &audit->chain, audit->key);
    }
    return failed;
}

static void *sign_batches(void *context)
{
    struct cbx_audit *audit = context;
    pthread_mutex_lock(&audit->lock);
    for (;;) {
        while (!audit->must_sign && !audit->closing) {
            pthread_cond_wait(&audit->sign, &audit->lock);
        }
        if (!audit->must_sign) {
            break;
        }
        audit->must_sign = false;
        pthread_mutex_unlock(&audit->lock);
        struct cbx_err err = { 0 };
        if (sign(audit, &err) != 0) {
            cbx_log(CBX_LOG_ERROR, "%s", err.text);
        }
        flock(audit->fd, LOCK_UN);
        pthread_mutex_lock(&audit->lock);
        audit->writing = false;
        pthread_cond_broadcast(&audit->done);
    }
    pthread_mutex_unlock(&audit->lock);
    return NULL;
}

/* Passes the head to the signer thread, or signs it here if there is no such thread. Call it
 * with audit->lock held and the file locked. */
static void hand_to_signer(struct cbx_audit *audit)
{
    if (!audit->signer_started) {
        audit->signer_started = pthread_create(&audit->signer, NULL, sign_batches, audit) == 0;
    }
    if (audit->signer_started) {
        audit->must_sign = true;
        pthread_cond_signal(&audit->sign);
        return;
    }
    struct cbx_err err = { 0 };
    if (sign(audit, &err) != 0) {
        cbx_log(CBX_LOG_ERROR, "%s", err.text);
    }
    flock(audit->fd, LOCK_UN);
    audit->writing = false;
}

static int commit(struct cbx_audit *audit, struct cbx_audit_pending *batch, struct cbx_err *err)
{
    int failed = cbx_audit_lock(audit, err);
    if (failed) {
        return failed;
    }
    if (audit->head_behind && audit->size < 0) {
        /* another process appended; its writer notes the unsigned records */
        audit->head_behind = false;
    }
    if (audit->head_behind) {
        failed = sign(audit, err);
    }
    if (!failed) {
        failed = cbx_audit_commit(audit, batch, err);
    }
    if (failed) {
        flock(audit->fd, LOCK_UN);
    }
    return failed;
}

/* Writes the queued records. Called with the lock held; releases it while it writes. After the
 * write, `writing` stays set until the signer has unlocked the file. */
static void write_batch(struct cbx_audit *audit)
{
    struct cbx_audit_pending *batch = audit->first;
    audit->first = audit->last = NULL;
    audit->writing = true;
    pthread_mutex_unlock(&audit->lock);
    struct cbx_err err = { 0 };
    int failed = commit(audit, batch, &err);
    pthread_mutex_lock(&audit->lock);
    if (failed) {
        audit->writing = false;
    } else {
        hand_to_signer(audit);
    }
    while (batch != NULL) {
        /* the record's owner may return as soon as `state` is set */
        struct cbx_audit_pending *next = batch->next;
        batch->err = err;
        if (batch->too_large && !failed) {
            cbx_fail(&batch->err, CBX_EAUDIT,
                     "the audit record is too large, allowed are %d bytes, so nothing runs",
                     CBX_AUDIT_LINE_MAX);
        }
        batch->state = batch->too_large ? CBX_EAUDIT : failed;
        batch = next;
    }
    pthread_cond_broadcast(&audit->done);
}

void cbx_audit_submit(struct cbx_audit *audit, struct cbx_audit_pending *own)
{
    own->state = 1;
    pthread_mutex_lock(&audit->lock);
    if (audit->last != NULL) {
        audit->last->next = own;
    } else {
        audit->first = own;
    }
    audit->last = own;
    pthread_mutex_unlock(&audit->lock);
}

int cbx_audit_await(struct cbx_audit *audit, struct cbx_audit_pending *own, int max_batch_delay_ms,
                    struct cbx_err *err)
{
    int64_t until = cbx_clock_ms() + max_batch_delay_ms;
    bool waits = max_batch_delay_ms > 0;
    pthread_mutex_lock(&audit->lock);
    while (own->state == 1) {
        if (audit->writing) {
            pthread_cond_wait(&audit->done, &audit->lock);
        } else if (waits) {
            waits = cbx_cond_wait_until(&audit->done, &audit->lock, until);
        } else {
            write_batch(audit);
        }
    }
    pthread_mutex_unlock(&audit->lock);
    if (own->state != 0) {
        if (err != NULL) {
            *err = own->err;
        }
        return CBX_EAUDIT;
    }
    return 0;
}

int cbx_audit_append(struct cbx_audit *audit, const char *type, const json_t *body, uint64_t *seq,
                     struct cbx_err *err)
{
    struct cbx_audit_pending own = { .type = type, .body = body };
    cbx_audit_submit(audit, &own);
    int failed = cbx_audit_await(audit, &own, 0, err);
    if (!failed && seq != NULL) {
        *seq = own.seq;
    }
    return failed;
}

/* Appends both records in one batch, in this order, unless another thread writes the first one
 * alone. */
static int append_both(struct cbx_audit *audit, const json_t *decision, const json_t *approval,
                       uint64_t *seq, struct cbx_err *err)
{
    struct cbx_audit_pending first = { .type = "decision", .body = decision },
                             second = { .type = "approval", .body = approval };
    cbx_audit_submit(audit, &first);
    if (approval != NULL) {
        cbx_audit_submit(audit, &second);
    }
    int failed = cbx_audit_await(audit, &first, 0, err);
    int also = 0;
    if (approval != NULL) {
        also = cbx_audit_await(audit, &second, 0, failed ? NULL : err);
    }
    if (!failed && !also) {
        *seq = first.seq;
    }
    if (failed) {
        return failed;
    }
    return also;
}

int cbx_audit_admit(struct cbx_audit *audit, const struct cbx_sealed *sealed,
                    const json_t *approval, struct cbx_permit **out, uint64_t *seq,
                    struct cbx_err *err)
{
    *out = NULL;
    uint64_t number;
    int failed = append_both(audit, sealed->json, approval, &number, err);
    if (failed) {
        return failed;
    }
    *seq = number;
    bool approved = sealed->verdict == CBX_ASK && approval != NULL;
    if ((sealed->verdict == CBX_ALLOW || approved) && sealed->fields.action != CBX_ACTION_CHECK) {
        struct cbx_permit fields = sealed->fields;
        fields.audit_seq = number;
        *out = cbx_permit_new(&fields);
    }
    return 0;
}

void cbx_audit_flush(struct cbx_audit *audit)
{
    pthread_mutex_lock(&audit->lock);
    while (audit->writing || audit->first != NULL) {
        if (audit->writing) {
            pthread_cond_wait(&audit->done, &audit->lock);
        } else {
            write_batch(audit);
        }
    }
    pthread_mutex_unlock(&audit->lock);
}

uint64_t cbx_audit_last_seq(const struct cbx_audit *audit)
{
    return audit->last_seq;
}

int cbx_audit_check(struct cbx_audit *audit, struct cbx_err *err)
{
    struct stat named;
    if (stat(audit->path, &named) < 0 && !cbx_audit_in_place(audit)) {
        return cbx_audit_fail_io(audit, err, "stat");
    }
    if (!cbx_audit_in_place(audit)) {
        return cbx_audit_fail(audit, err, "the audit log was replaced by another file");
    }
    pthread_mutex_lock(&audit->lock);
    bool behind = audit->head_behind;
    pthread_mutex_unlock(&audit->lock);
    if (behind) {
        return cbx_audit_fail(audit, err, "the head of the audit log cannot be written");
    }
    return 0;
}

void cbx_audit_free(struct cbx_audit *audit)
{
    if (audit == NULL) {
        return;
    }
    cbx_audit_flush(audit);
    if (audit->signer_started) {
        pthread_mutex_lock(&audit->lock);
        audit->closing = true;
        pthread_cond_signal(&audit->sign);
        pthread_mutex_unlock(&audit->lock);
        pthread_join(audit->signer, NULL);
    }
    cbx_fd_auto(&audit->fd);
    cbx_fd_auto(&audit->head_fd);
    cbx_fd_auto(&audit->dir);
    EVP_PKEY_free(audit->key);
    pthread_mutex_destroy(&audit->lock);
    pthread_cond_destroy(&audit->done);
    pthread_cond_destroy(&audit->sign);
    free(audit);
}
