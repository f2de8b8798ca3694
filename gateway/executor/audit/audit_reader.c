/* SPDX-License-Identifier: MIT
 * Reading the audit log over its files. */
#include "gateway/executor/audit/audit_reader.h"

#include "gateway/executor/audit/audit.h"
#include "gateway/executor/audit/audit_files.h"
#include "policies/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct cbx_audit_reader {
    int dir;
    FILE *f;
    uint64_t named;  /* number of the open closed file; 0 = the current file */
    uint64_t closed; /* number of the last closed file that was read or skipped */
    uint64_t line_number;
    bool denied;
    char name[CBX_AUDIT_NAME_BYTES];
    char *line;
    size_t size;
};

int cbx_audit_reader_new(const char *state_dir, uint64_t after, struct cbx_audit_reader **out,
                         struct cbx_err *err)
{
    CBX_AUTO_FD dir = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0) {
        return cbx_fail(err, CBX_EIO, "the audit log in '%s': %s", state_dir, strerror(errno));
    }
    CBX_AUTO_DONE(audit_files) files;
    int failed = cbx_audit_files_list(dir, &files, err);
    if (failed) {
        return failed;
    }
    struct cbx_audit_reader *reader = cbx_new(sizeof(*reader));
    /* A file is skipped if its successor begins at or before the requested record. */
    for (size_t i = 0; i + 1 < files.count && files.first[i + 1] <= after + 1; i++) {
        reader->closed = files.first[i];
    }
    reader->dir = cbx_fd_steal(&dir);
    *out = reader;
    return 0;
}

void cbx_audit_reader_free(struct cbx_audit_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    cbx_file_auto(&reader->f);
    cbx_fd_auto(&reader->dir);
    free(reader->line);
    free(reader);
}

/* Returns the number of the next closed file to read; 0 = none. */
static uint64_t next_closed(const struct cbx_audit_reader *r)
{
    CBX_AUTO_DONE(audit_files) files;
    uint64_t next = 0;
    if (cbx_audit_files_list(r->dir, &files, NULL) == 0) {
        for (size_t i = files.count; i > 0 && files.first[i - 1] > r->closed; i--) {
            next = files.first[i - 1];
        }
    }
    return next;
}

static void begin(struct cbx_audit_reader *r, FILE *f, uint64_t number)
{
    r->f = f;
    r->named = number;
    r->line_number = 0;
    cbx_audit_file_name(number, r->name);
}

/* Opens the next file: a closed one, else the current one. */
static bool open_next(struct cbx_audit_reader *r)
{
    uint64_t number;
    while ((number = next_closed(r)) > 0) {
        FILE *f = cbx_audit_file_open(r->dir, number);
        if (f == NULL && errno == EACCES) {
            r->denied = true;
            return false;
        }
        r->closed = number;
        if (f != NULL) { /* else it was pruned meanwhile */
            begin(r, f, number);
            return true;
        }
    }
    FILE *f = cbx_audit_file_open(r->dir, 0);
    if (f == NULL) {
        r->denied = errno == EACCES;
        return false;
    }
    if (next_closed(r) > 0) { /* the opened file is a later one */
        fclose(f);
        return open_next(r);
    }
    begin(r, f, 0);
    return true;
}

static bool read_line(struct cbx_audit_reader *r, struct cbx_str *out)
{
    ssize_t n = getline(&r->line, &r->size, r->f);
    if (n <= 0 || r->line[n - 1] != '\n') {
        if (n > 0) { /* the line is being written */
            fseeko(r->f, -(off_t)n, SEEK_CUR);
        }
        clearerr(r->f);
        return false;
    }
    r->line_number++;
    *out = (struct cbx_str){ .p = r->line, .len = (size_t)n - 1 };
    return true;
}

static bool is_same(const struct cbx_audit_reader *r, const char *name)
{
    struct stat open_file, named;
    return fstat(fileno(r->f), &open_file) == 0 &&
           fstatat(r->dir, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

/* Finds the new name of the former current file, which was closed. */
static void find_name(struct cbx_audit_reader *r)
{
    CBX_AUTO_DONE(audit_files) files;
    if (cbx_audit_files_list(r->dir, &files, NULL) != 0) {
        return;
    }
    for (size_t i = 0; i < files.count; i++) {
        char name[CBX_AUDIT_NAME_BYTES];
        cbx_audit_file_name(files.first[i], name);
        if (is_same(r, name)) {
            r->named = files.first[i];
            r->closed = r->named;
        }
    }
}

bool cbx_audit_reader_is_denied(const struct cbx_audit_reader *r)
{
    return r->denied;
}

bool cbx_audit_reader_next(struct cbx_audit_reader *r, struct cbx_str *out)
{
    r->denied = false;
    for (;;) {
        if (r->f == NULL && !open_next(r)) {
            return false;
        }
        if (read_line(r, out)) {
            return true;
        }
        if (r->named == 0) {
            if (is_same(r, CBX_AUDIT_FILE)) {
                return false;
            }
            find_name(r);
            if (read_line(r, out)) { /* the line was written before the file was closed */
                return true;
            }
            if (r->named == 0) {
                return false; /* the file was removed */
            }
        }
        fclose(r->f);
        r->f = NULL;
    }
}

/* Members are sorted, and no text from other sources follows "seq": the last "seq" is the
 * record's. */
uint64_t cbx_audit_line_seq(struct cbx_str line)
{
    enum { TAIL_MAX = 200 };
    static const char key[] = ",\"seq\":";
    struct cbx_str tail =
        cbx_str_sub(line, line.len > TAIL_MAX ? line.len - TAIL_MAX : 0, line.len);
    uint64_t seq = 0;
    for (const char *at; (at = memmem(tail.p, tail.len, key, sizeof(key) - 1)) != NULL;) {
        tail = cbx_str_sub(tail, (size_t)(at - tail.p) + sizeof(key) - 1, tail.len);
        seq = 0;
        for (size_t i = 0; i < tail.len && i < 19 && tail.p[i] >= '0' && tail.p[i] <= '9'; i++) {
            seq = 10 * seq + (uint64_t)(tail.p[i] - '0');
        }
    }
    return seq;
}

const char *cbx_audit_reader_place(const struct cbx_audit_reader *r, uint64_t *line)
{
    *line = r->line_number;
    return r->name;
}
