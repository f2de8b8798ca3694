/* SPDX-License-Identifier: MIT
 * The writing side of the audit log. Threads leave their records in a queue; the first one that
 * finds no other writing writes for all of them: lock the file, catch up with what other processes
 * appended, chain, write, fdatasync. Then the records are durable and their threads go on; a thread
 * of the log signs the head, and unlocks the file for the next batch and for other processes. */
#include "gateway/executor/audit_internal.h"

#include "gateway/executor/grants.h"
#include "policies/base/clock.h"
#include "policies/base/deadline.h"
#include "policies/base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* CBX_EAUDIT; the log's path is for the operator alone. */
__attribute__((format(printf, 3, 4))) static int fail(const struct cbx_audit *audit,
                                                      struct cbx_err *err, const char *format, ...)
{
    char text[CBX_ERR_TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    cbx_fail(err, CBX_EAUDIT, "%s", text);
    cbx_err_detail(err, "%s", audit->path);
    return CBX_EAUDIT;
}

int cbx_audit_fail_io(struct cbx_audit *audit, struct cbx_err *err, const char *what)
{
    return fail(audit, err, "the audit log cannot be written (%s: %s), so nothing runs", what,
                strerror(errno));
}

static int write_all(int fd, struct cbx_str bytes, off_t at)
{
    while (bytes.len > 0) {
        ssize_t n = pwrite(fd, bytes.p, bytes.len, at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return -1;
        }
        at += n;
        bytes = cbx_str_sub(bytes, (size_t)n, bytes.len);
    }
    return 0;
}

/* Reads [from, to) of the log; the caller frees. */
static char *read_range(int fd, off_t from, off_t to)
{
    size_t want = (size_t)(to - from), have = 0;
    char *bytes = malloc(want + 1);
    while (bytes != NULL && have < want) {
        ssize_t n = pread(fd, bytes + have, want - have, from + (off_t)have);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            free(bytes);
            return NULL;
        }
        have += (size_t)n;
    }
    return bytes;
}

/* The last whole line ends at *end (its '\n' included; 0 = there is none) and begins at *begin. */
static int find_last_line(struct cbx_audit *audit, off_t size, off_t *begin, off_t *end,
                          struct cbx_err *err)
{
    off_t from = size > 2 * CBX_AUDIT_LINE_MAX ? size - 2 * CBX_AUDIT_LINE_MAX : 0;
    CBX_AUTO_MEM char *bytes = read_range(audit->fd, from, size);
    if (bytes == NULL) {
        return cbx_audit_fail_io(audit, err, "read");
    }
    const char *newline = memrchr(bytes, '\n', (size_t)(size - from));
    *begin = *end = 0;
    if (newline == NULL) {
        return from == 0 ? 0 : fail(audit, err, "the audit log ends in a line that is too long");
    }
    const char *before = newline > bytes ? memrchr(bytes, '\n', (size_t)(newline - bytes)) : NULL;
    *end = from + (newline - bytes) + 1;
    *begin = before != NULL ? from + (before - bytes) + 1 : from;
    return 0;
}

/* Takes number and hash of the last record as what the next one follows. Whether it fits
 * the records before it is for `verify` to find; a last line that is no record is an error. */
static int adopt_last_line(struct cbx_audit *audit, off_t begin, off_t end, struct cbx_err *err)
{
    struct cbx_chain chain = { 0 };
    if (end > 0) {
        CBX_AUTO_MEM char *line = read_range(audit->fd, begin, end - 1);
        CBX_AUTO_JSON record = NULL;
        struct cbx_err inner;
        struct cbx_str text = { .p = line, .len = line != NULL ? (size_t)(end - 1 - begin) : 0 };
        if (line == NULL || cbx_json_parse(text, CBX_AUDIT_LINE_MAX, &record, &inner) != 0 ||
            !cbx_sha256_from_hex(cbx_json_str(json_object_get(record, "hash")), &chain.hash) ||
            json_integer_value(json_object_get(record, "seq")) <= 0) {
            return fail(
                audit, err,
                "the last line of the audit log is not a record; see 'codebox audit verify'");
        }
        chain.seq = (uint64_t)json_integer_value(json_object_get(record, "seq"));
    }
    audit->chain = chain;
    audit->size = end;
    return 0;
}

/* What a writer that was killed left at the end: part of a line, on which nothing depended; or
 * whole records whose head was not signed yet, and whose actions may have begun. */
struct remains {
    uint64_t torn_bytes;
    char torn_hash[CBX_SHA256_HEX + 1];
    uint64_t unsigned_from; /* 0 = none */
};

/* Under the file lock. A log that is behind its head was cut, and appending would hide that, so it
 * is an error. A log that is ahead of its head was left by a crash between the two, or has records
 * written by another program: that is noted. */
static int check_head(struct cbx_audit *audit, struct remains *remains, struct cbx_err *err)
{
    char text[512];
    struct cbx_chain head;
    struct cbx_err inner = { 0 };
    ssize_t n = pread(audit->head_fd, text, sizeof(text), 0);
    if (n < 0 || cbx_chain_open((struct cbx_str){ .p = text, .len = (size_t)n }, audit->key, &head,
                                &inner) != 0) {
        return fail(audit, err,
                    "the audit log has no signed head any more (%s), so nothing runs; see "
                    "'codebox audit verify'",
                    n < 0 ? strerror(errno) : inner.text);
    }
    if (head.seq > audit->chain.seq) {
        return fail(audit, err,
                    "the audit log ends after record %" PRIu64 ", but record %" PRIu64
                    " was written, so nothing runs; see 'codebox audit verify'",
                    audit->chain.seq, head.seq);
    }
    if (head.seq == audit->chain.seq && !cbx_sha256_equal(&head.hash, &audit->chain.hash)) {
        return fail(audit, err,
                    "the last record of the audit log is not the one that was signed, so "
                    "nothing runs; see 'codebox audit verify'");
    }
    remains->unsigned_from = head.seq < audit->chain.seq ? head.seq + 1 : 0;
    return 0;
}

/* Under the file lock: brings chain and size up to date. A torn tail is cut; what remains of others
 * is noted in the next batch. */
static int catch_up(struct cbx_audit *audit, struct remains *remains, struct cbx_err *err)
{
    struct stat status;
    *remains = (struct remains){ 0 };
    if (fstat(audit->fd, &status) < 0) {
        return cbx_audit_fail_io(audit, err, "stat");
    }
    if (status.st_size == audit->size) {
        return 0;
    }
    off_t begin, end;
    int failed = find_last_line(audit, status.st_size, &begin, &end, err);
    failed = failed ? failed : adopt_last_line(audit, begin, end, err);
    failed = failed ? failed : check_head(audit, remains, err);
    if (failed) {
        audit->size = -1; /* the next batch reads the end again */
        return failed;
    }
    if (end == status.st_size) {
        return 0;
    }
    CBX_AUTO_MEM char *torn = read_range(audit->fd, end, status.st_size);
    if (torn == NULL || ftruncate(audit->fd, end) < 0) {
        audit->size = -1;
        return cbx_audit_fail_io(audit, err, "truncate");
    }
    remains->torn_bytes = (uint64_t)(status.st_size - end);
    struct cbx_sha256 hash =
        cbx_sha256_of((struct cbx_str){ .p = torn, .len = (size_t)remains->torn_bytes });
    cbx_sha256_hex(&hash, remains->torn_hash);
    return 0;
}

static int chain_remains(struct cbx_chain *chain, const struct remains *remains,
                         struct cbx_buf *out)
{
    CBX_AUTO_JSON body = json_object();
    if (remains->torn_bytes > 0) {
        json_object_set_new(body, "torn_bytes", json_integer((json_int_t)remains->torn_bytes));
        json_object_set_new(body, "torn_sha256", json_string(remains->torn_hash));
    }
    if (remains->unsigned_from > 0) {
        json_object_set_new(body, "unsigned_from",
                            json_integer((json_int_t)remains->unsigned_from));
        json_object_set_new(body, "unsigned_to", json_integer((json_int_t)chain->seq));
    }
    return json_object_size(body) > 0 ? cbx_chain_add(chain, "recovered", body, cbx_time_ms(), out)
                                      : 0;
}

int cbx_audit_write_head(struct cbx_audit *audit)
{
    CBX_AUTO_DONE(buf) head;
    cbx_buf_init(&head, 1024);
    if (cbx_chain_sign(&audit->chain, audit->key, &head) != 0) {
        errno = EINVAL;
        return -1;
    }
    return write_all(audit->head_fd, cbx_buf_str(&head), 0);
}

void cbx_audit_set_redactor(struct cbx_audit *audit, const struct cbx_redactor *redactor)
{
    audit->redactor = redactor;
}

static int commit_locked(struct cbx_audit *audit, struct cbx_audit_pending *batch,
                         struct cbx_err *err)
{
    struct remains remains;
    int failed = catch_up(audit, &remains, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 64 * 1024 * 1024);
    struct cbx_chain chain = audit->chain;
    int64_t now = cbx_time_ms();
    if (chain_remains(&chain, &remains, &text) != 0) {
        return fail(audit, err,
                    "the audit log: what a crash left cannot be recorded, so nothing runs");
    }
    for (struct cbx_audit_pending *p = batch; p != NULL; p = p->next) {
        CBX_AUTO_JSON clean =
            audit->redactor != NULL ? cbx_redact_json(audit->redactor, p->body) : NULL;
        p->too_large =
            cbx_chain_add(&chain, p->type, clean != NULL ? clean : p->body, now, &text) != 0;
        p->seq = chain.seq;
    }
    if (write_all(audit->fd, cbx_buf_str(&text), audit->size) < 0 || fdatasync(audit->fd) < 0) {
        failed = cbx_audit_fail_io(audit, err, "write");
        /* Nothing half done: what is there of the batch goes. If even that fails, the next
         * writer finds a torn tail, or whole records that were never signed, of actions that
         * never began. */
        if (ftruncate(audit->fd, audit->size) < 0) {
            audit->size = -1;
        }
        return failed;
    }
    audit->chain = chain;
    audit->size += (off_t)text.len;
    return 0;
}

/* Signs the head of what was committed last. Without it the records are durable, but the next
 * reader finds them unsigned; so the next batch is refused until the head can be written. */
static int sign(struct cbx_audit *audit, struct cbx_err *err)
{
    int failed = cbx_audit_write_head(audit) < 0 ? cbx_audit_fail_io(audit, err, "head") : 0;
    audit->head_behind = failed != 0;
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

/* With audit->lock held, and the file locked: the head is signed by the signer thread, or here
 * when there is none. */
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
    while (flock(audit->fd, LOCK_EX) < 0) {
        if (errno != EINTR) {
            return cbx_audit_fail_io(audit, err, "lock");
        }
    }
    int failed = audit->head_behind ? sign(audit, err) : 0;
    failed = failed ? failed : commit_locked(audit, batch, err);
    if (failed) {
        flock(audit->fd, LOCK_UN);
    }
    return failed;
}

/* Called with the lock held; releases it while it writes. When the batch is written, `writing`
 * stays set until the signer has unlocked the file. */
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
        struct cbx_audit_pending *next =
            batch->next; /* its owner may leave as soon as state is set */
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

/* The two records are of one batch, in this order, unless another thread takes the first one alone. */
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
    int also = approval != NULL ? cbx_audit_await(audit, &second, 0, failed ? NULL : err) : 0;
    if (!failed && !also) {
        *seq = first.seq;
    }
    return failed ? failed : also;
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

int cbx_audit_check(struct cbx_audit *audit, struct cbx_err *err)
{
    struct stat open_file, named;
    if (fstat(audit->fd, &open_file) < 0 || stat(audit->path, &named) < 0) {
        return cbx_audit_fail_io(audit, err, "stat");
    }
    if (open_file.st_dev != named.st_dev || open_file.st_ino != named.st_ino) {
        return fail(audit, err, "the audit log was replaced by another file");
    }
    pthread_mutex_lock(&audit->lock);
    bool behind = audit->head_behind;
    pthread_mutex_unlock(&audit->lock);
    return behind ? fail(audit, err, "the head of the audit log cannot be written") : 0;
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
    EVP_PKEY_free(audit->key);
    pthread_mutex_destroy(&audit->lock);
    pthread_cond_destroy(&audit->done);
    pthread_cond_destroy(&audit->sign);
    free(audit);
}
