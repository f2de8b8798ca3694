/* SPDX-License-Identifier: MIT
 * Removal of old files of the audit log: first a record names them, with the position that the
 * log continues from, then they are removed, the oldest first. After a crash in between the
 * record names files that still exist; the next call names and removes them again. */
#include "gateway/executor/audit/audit_files.h"
#include "gateway/executor/audit/audit_internal.h"
#include "gateway/executor/audit/audit_reader.h"
#include "policies/base/time/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <unistd.h>

enum { FILES_PER_RECORD = 1000 };

struct pruning {
    struct cbx_audit *audit;
    int64_t before_ms;
    struct cbx_chain chain;
    struct cbx_buf scratch;
    char *line;
    size_t size;
    json_t *files; /* list of files for the record */
    uint64_t first;
    /* number of the last record that a syslog server has received; UINT64_MAX = there is no
     * server */
    uint64_t forwarded;
    bool waits;
};

/* Properties of a file, as the record has them. */
struct closed {
    uint64_t first, last, bytes;
    int64_t time_ms; /* time of its last record */
    struct cbx_sha256 sha256;
};

static int read_start(struct pruning *p, FILE *f, uint64_t first)
{
    CBX_AUTO_JSON record = NULL;
    ssize_t n = getline(&p->line, &p->size, f);
    rewind(f);
    if (n <= 0 ||
        cbx_json_parse((struct cbx_str){ .p = p->line, .len = (size_t)n }, CBX_AUDIT_LINE_MAX,
                       &record, NULL) != 0 ||
        !cbx_sha256_from_hex(cbx_json_str(json_object_get(record, "prev")), &p->chain.hash)) {
        return -1;
    }
    p->chain.seq = first - 1;
    return 0;
}

/* Follows the chain through a file. -1 = the file is not whole. */
static int read_records(struct pruning *p, FILE *f, EVP_MD_CTX *sum, struct closed *out)
{
    ssize_t n;
    struct cbx_chain_line follows = { 0 };
    while ((n = getline(&p->line, &p->size, f)) > 0) {
        struct cbx_str line = { .p = p->line, .len = (size_t)n - 1 };
        if (p->line[n - 1] != '\n' || !cbx_chain_follow(&p->chain, line, &p->scratch, &follows) ||
            EVP_DigestUpdate(sum, p->line, (size_t)n) != 1 ||
            !cbx_chain_time(follows.time, &out->time_ms)) {
            return -1;
        }
        out->bytes += (uint64_t)n;
    }
    out->last = p->chain.seq;
    return ferror(f) || out->last < out->first ||
                   EVP_DigestFinal_ex(sum, out->sha256.bytes, NULL) != 1
               ? -1
               : 0;
}

static int read_closed(struct pruning *p, uint64_t first, struct closed *out, struct cbx_err *err)
{
    *out = (struct closed){ .first = first };
    CBX_AUTO_FILE f = cbx_audit_file_open(p->audit->dir, first);
    EVP_MD_CTX *sum = EVP_MD_CTX_new();
    bool begun = p->chain.seq > 0 || first == 1;
    bool ok = f != NULL && sum != NULL && EVP_DigestInit_ex(sum, EVP_sha256(), NULL) == 1 &&
              (begun || read_start(p, f, first) == 0) && p->chain.seq + 1 == first &&
              read_records(p, f, sum, out) == 0;
    EVP_MD_CTX_free(sum);
    char name[CBX_AUDIT_NAME_BYTES];
    cbx_audit_file_name(first, name);
    if (!ok) {
        return cbx_fail(err, CBX_EAUDIT,
                        "'%s' is not whole, so no file is removed; see 'codebox audit verify'",
                        name);
    }
    return 0;
}

static void describe(struct pruning *p, const struct closed *file)
{
    char name[CBX_AUDIT_NAME_BYTES], hash[CBX_SHA256_HEX + 1], last[CBX_SHA256_HEX + 1];
    cbx_audit_file_name(file->first, name);
    cbx_sha256_hex(&file->sha256, hash);
    cbx_sha256_hex(&p->chain.hash, last);
    json_array_append_new(
        p->files, json_pack("{s:s,s:I,s:I,s:I,s:s,s:s}", "name", name, "first",
                            (json_int_t)file->first, "last", (json_int_t)file->last, "bytes",
                            (json_int_t)file->bytes, "sha256", hash, "last_hash", last));
}

/* Collects the oldest files whose last record is old enough. */
static int collect(struct pruning *p, const struct cbx_audit_files *files, struct cbx_err *err)
{
    for (size_t i = 0; i < files->count && i < FILES_PER_RECORD; i++) {
        struct cbx_chain before = p->chain;
        struct closed file;
        int failed = read_closed(p, files->first[i], &file, err);
        if (failed) {
            return failed;
        }
        p->waits = file.time_ms < p->before_ms && file.last > p->forwarded;
        if (file.time_ms >= p->before_ms || p->waits) {
            p->chain = before;
            return 0;
        }
        describe(p, &file);
    }
    return 0;
}

static int record_pruned(struct pruning *p, const struct cbx_audit_prune *wanted,
                         struct cbx_err *err)
{
    char last[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&p->chain.hash, last);
    CBX_AUTO_JSON body = json_pack("{s:I,s:I,s:s,s:O}", "first", (json_int_t)p->first, "last",
                                   (json_int_t)p->chain.seq, "last_hash", last, "files", p->files);
    json_object_set_new(body, "principal", cbx_json_text(wanted->principal));
    json_object_set_new(body, "reason", cbx_json_text(wanted->reason));
    if (wanted->accepts_jump) {
        json_object_set_new(body, "accepted_jump", json_true());
    }
    int failed = cbx_audit_append(p->audit, "pruned", body, NULL, err);
    if (!failed) {
        cbx_audit_flush(p->audit); /* its head is signed */
        failed = cbx_audit_check(p->audit, err);
    }
    return failed;
}

static int remove_files(struct pruning *p, struct cbx_err *err)
{
    size_t i;
    const json_t *file;
    json_array_foreach(p->files, i, file)
    {
        const char *name = json_string_value(json_object_get(file, "name"));
        if (unlinkat(p->audit->dir, name, 0) < 0 && errno != ENOENT) {
            return cbx_fail(err, CBX_EIO, "'%s' cannot be removed: %s", name, strerror(errno));
        }
    }
    if (fsync(p->audit->dir) < 0) {
        return cbx_audit_fail_io(p->audit, err, "sync");
    }
    return 0;
}

/* A malformed cursor counts as the start: nothing was forwarded. */
static uint64_t read_forwarded(const struct cbx_audit *audit)
{
    char digits[21] = "";
    CBX_AUTO_FD fd = openat(audit->dir, CBX_AUDIT_CURSOR, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return errno == ENOENT ? UINT64_MAX : 0;
    }
    return read(fd, digits, 20) == 20 ? strtoull(digits, NULL, 10) : 0;
}

int cbx_audit_prune(struct cbx_audit *audit, const struct cbx_audit_prune *wanted,
                    struct cbx_audit_pruned *out, struct cbx_err *err)
{
    CBX_AUTO_DONE(audit_files) files;
    int failed = cbx_audit_files_list(audit->dir, &files, err);
    if (failed || files.count == 0) {
        *out = (struct cbx_audit_pruned){ 0 };
        return failed;
    }
    CBX_AUTO_JSON names = json_array();
    struct pruning p = {
        .audit = audit, .before_ms = wanted->before_ms, .files = names, .first = files.first[0]
    };
    p.forwarded = read_forwarded(audit);
    cbx_buf_init(&p.scratch, CBX_AUDIT_LINE_MAX);
    failed = collect(&p, &files, err);
    size_t count = json_array_size(names);
    if (!failed && count > 0 && !wanted->accepts_jump) {
        failed =
            cbx_audit_check_clock(audit, wanted->now_ms > 0 ? wanted->now_ms : cbx_time_ms(), err);
    }
    if (!failed && count > 0) {
        failed = record_pruned(&p, wanted, err);
        if (!failed) {
            failed = remove_files(&p, err);
        }
    }
    free(p.line);
    cbx_buf_done(&p.scratch);
    if (!failed) {
        *out = (struct cbx_audit_pruned){ .files = count,
                                          .first = count > 0 ? p.first : 0,
                                          .last = count > 0 ? p.chain.seq : 0,
                                          .waits = p.waits };
    }
    return failed;
}
