/* SPDX-License-Identifier: MIT
 * The end of the audit log as a writer finds it: the last record, the remains of a killed
 * writer, the signed head. */
#include "gateway/executor/audit/audit_internal.h"

#include "gateway/executor/audit/audit_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

int cbx_audit_fail(const struct cbx_audit *audit, struct cbx_err *err, const char *format, ...)
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
    return cbx_audit_fail(audit, err, "the audit log cannot be written (%s: %s), so nothing runs",
                          what, strerror(errno));
}

int cbx_audit_write(int fd, struct cbx_str bytes, off_t at)
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

char *cbx_audit_read_range(int fd, off_t from, off_t to)
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

/* Finds the last whole line of a file of the log: it ends at *end (its '\n' included; 0 = no
 * such line) and begins at *begin. */
static int find_last_line(struct cbx_audit *audit, int fd, off_t size, off_t *begin, off_t *end,
                          struct cbx_err *err)
{
    off_t from = size > 2 * CBX_AUDIT_LINE_MAX ? size - 2 * CBX_AUDIT_LINE_MAX : 0;
    CBX_AUTO_MEM char *bytes = cbx_audit_read_range(fd, from, size);
    if (bytes == NULL) {
        return cbx_audit_fail_io(audit, err, "read");
    }
    const char *newline = memrchr(bytes, '\n', (size_t)(size - from));
    *begin = *end = 0;
    if (newline == NULL) {
        if (from != 0) {
            return cbx_audit_fail(audit, err, "the audit log ends in a line that is too long");
        }
        return 0;
    }
    const char *before = newline > bytes ? memrchr(bytes, '\n', (size_t)(newline - bytes)) : NULL;
    *end = from + (newline - bytes) + 1;
    *begin = before != NULL ? from + (before - bytes) + 1 : from;
    return 0;
}

/* Reads the number and hash of the record in [begin, end), the predecessor of the next record.
 * `verify` checks its chain to earlier records; a last line that is no record is an error. */
static int read_position(struct cbx_audit *audit, int fd, off_t begin, off_t end,
                         struct cbx_chain *out, struct cbx_err *err)
{
    CBX_AUTO_MEM char *line = cbx_audit_read_range(fd, begin, end - 1);
    CBX_AUTO_JSON record = NULL;
    struct cbx_err inner;
    struct cbx_str text = { .p = line, .len = line != NULL ? (size_t)(end - 1 - begin) : 0 };
    if (line == NULL || cbx_json_parse(text, CBX_AUDIT_LINE_MAX, &record, &inner) != 0 ||
        !cbx_sha256_from_hex(cbx_json_str(json_object_get(record, "hash")), &out->hash) ||
        json_integer_value(json_object_get(record, "seq")) <= 0) {
        return cbx_audit_fail(
            audit, err,
            "the last line of the audit log is not a record; see 'codebox audit verify'");
    }
    out->seq = (uint64_t)json_integer_value(json_object_get(record, "seq"));
    out->time_ms = 0;
    cbx_chain_time(cbx_json_str(json_object_get(record, "time")), &out->time_ms);
    return 0;
}

int cbx_audit_closed_position(struct cbx_audit *audit, struct cbx_chain *out, struct cbx_err *err)
{
    CBX_AUTO_DONE(audit_files) files;
    int failed = cbx_audit_files_list(audit->dir, &files, err);
    if (failed || files.count == 0) {
        return failed;
    }
    char name[CBX_AUDIT_NAME_BYTES];
    cbx_audit_file_name(files.first[files.count - 1], name);
    CBX_AUTO_FD fd = openat(audit->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat status;
    off_t begin, end;
    if (fd < 0 || fstat(fd, &status) < 0) {
        return cbx_audit_fail_io(audit, err, name);
    }
    failed = find_last_line(audit, fd, status.st_size, &begin, &end, err);
    if (!failed && end == 0) {
        failed = cbx_audit_fail(audit, err, "'%s' has no record, so nothing runs", name);
    }
    if (failed) {
        return failed;
    }
    return read_position(audit, fd, begin, end, out, err);
}

/* Uses the last record as the predecessor of the next one. */
static int adopt_last_line(struct cbx_audit *audit, off_t begin, off_t end, struct cbx_err *err)
{
    struct cbx_chain chain = { 0 };
    int failed;
    if (end > 0) {
        failed = read_position(audit, audit->fd, begin, end, &chain, err);
    } else {
        failed = cbx_audit_closed_position(audit, &chain, err);
    }
    if (!failed) {
        audit->chain = chain;
        audit->last_seq = chain.seq;
        audit->size = end;
    }
    return failed;
}

/* Reads the signed head; a key that another process put in place of this one is followed. */
static int open_head(struct cbx_audit *audit, struct cbx_chain *out, struct cbx_err *err)
{
    char text[512];
    ssize_t n = audit->head_fd >= 0 ? pread(audit->head_fd, text, sizeof(text), 0) : 0;
    struct cbx_str bytes = { .p = text, .len = n > 0 ? (size_t)n : 0 };
    if (n < 0) {
        return cbx_fail(err, CBX_EIO, "%s", strerror(errno));
    }
    int failed = cbx_chain_open(bytes, audit->key, out, err);
    if (failed && cbx_audit_follow_key(audit, bytes)) {
        failed = cbx_chain_open(bytes, audit->key, out, err);
    }
    return failed;
}

int cbx_audit_signed(struct cbx_audit *audit, struct cbx_chain *out, EVP_PKEY **key,
                     struct cbx_err *err)
{
    pthread_mutex_lock(&audit->lock);
    while (audit->writing) {
        pthread_cond_wait(&audit->done, &audit->lock);
    }
    struct cbx_err inner = { 0 };
    int failed = open_head(audit, out, &inner);
    if (!failed) {
        EVP_PKEY_up_ref(audit->key);
        *key = audit->key;
    }
    pthread_mutex_unlock(&audit->lock);
    if (failed) {
        return cbx_audit_fail(audit, err, "the head of the audit log cannot be read (%s)",
                              inner.text);
    }
    return 0;
}

/* Under the file lock. A log with fewer records than its head was truncated, and appending would
 * hide that, so it is an error. A log with more records than its head was left by a crash
 * between the two writes, or has records of another program: they are noted. */
static int check_head(struct cbx_audit *audit, struct cbx_remains *remains, struct cbx_err *err)
{
    struct cbx_chain head;
    struct cbx_err inner = { 0 };
    if (open_head(audit, &head, &inner) != 0) {
        return cbx_audit_fail(
            audit, err,
            "the audit log has no signed head any more (%s), so nothing runs; see "
            "'codebox audit verify'",
            inner.text);
    }
    if (head.seq > audit->chain.seq) {
        return cbx_audit_fail(audit, err,
                              "the audit log ends after record %" PRIu64 ", but record %" PRIu64
                              " was written, so nothing runs; see 'codebox audit verify'",
                              audit->chain.seq, head.seq);
    }
    if (head.seq == audit->chain.seq && !cbx_sha256_equal(&head.hash, &audit->chain.hash)) {
        return cbx_audit_fail(audit, err,
                              "the last record of the audit log is not the one that was signed, so "
                              "nothing runs; see 'codebox audit verify'");
    }
    remains->unsigned_from = head.seq < audit->chain.seq ? head.seq + 1 : 0;
    return 0;
}

int cbx_audit_read_end(struct cbx_audit *audit, off_t bytes, off_t *end,
                       struct cbx_remains *remains, struct cbx_err *err)
{
    off_t begin = 0;
    *end = 0;
    int failed = 0;
    if (bytes > 0) {
        failed = find_last_line(audit, audit->fd, bytes, &begin, end, err);
    }
    if (failed) {
        return failed;
    }
    failed = adopt_last_line(audit, begin, *end, err);
    if (failed) {
        return failed;
    }
    return check_head(audit, remains, err);
}

/* Under the file lock: updates chain and size. Cuts a torn tail; the next batch notes the
 * remains of other writers. */
int cbx_audit_catch_up(struct cbx_audit *audit, struct cbx_remains *remains, struct cbx_err *err)
{
    struct stat status;
    *remains = (struct cbx_remains){ 0 };
    if (fstat(audit->fd, &status) < 0) {
        return cbx_audit_fail_io(audit, err, "stat");
    }
    if (status.st_size == audit->size) {
        return 0;
    }
    off_t end;
    int failed = cbx_audit_read_end(audit, status.st_size, &end, remains, err);
    if (failed) {
        audit->size = -1; /* the next batch reads the end again */
        return failed;
    }
    if (end == status.st_size) {
        return 0;
    }
    CBX_AUTO_MEM char *torn = cbx_audit_read_range(audit->fd, end, status.st_size);
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

int cbx_audit_chain_remains(struct cbx_chain *chain, const struct cbx_remains *remains,
                            int64_t now_ms, struct cbx_buf *out)
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
    return json_object_size(body) > 0 ? cbx_chain_add(chain, "recovered", body, now_ms, out) : 0;
}

int cbx_audit_write_head(struct cbx_audit *audit)
{
    CBX_AUTO_DONE(buf) head;
    cbx_buf_init(&head, 1024);
    if (cbx_chain_sign(&audit->chain, audit->key, &head) != 0) {
        errno = EINVAL;
        return -1;
    }
    return cbx_audit_write(audit->head_fd, cbx_buf_str(&head), 0);
}
