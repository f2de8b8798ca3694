/* SPDX-License-Identifier: MIT
 * The reading side of the audit log: every file and record, the chain, the signed head. */
#include "gateway/executor/audit/audit_files.h"
#include "gateway/executor/audit/audit_internal.h"
#include "gateway/executor/audit/audit_notes.h"
#include "gateway/executor/heads/audit_heads.h"
#include "gateway/ipc/master/state.h"
#include "policies/base/text/hex.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* State of the walk through the log. */
struct walk {
    int dir;
    uint64_t closed; /* number of the last closed file that was read */
    uint64_t first;  /* expected number of the first record of the current file of the walk */
    uint64_t named;  /* number in the name of that file; 0 = the log's current file */
    uint64_t line_number;
    FILE *f;
    struct cbx_chain chain;
    struct cbx_chain head;     /* head at the start of the walk: its record is searched for */
    struct cbx_sha256 at_head; /* hash of that record in the log */
    struct cbx_audit_notes notes;
    char *line;
    size_t size;
    struct cbx_buf scratch;
    bool gap;                      /* true if the problem is a gap between files */
    struct cbx_audit_heads *heads; /* heads kept elsewhere; NULL = none */
};

static void set_problem(const struct walk *w, struct cbx_audit_report *report, uint64_t line,
                        const char *text)
{
    report->line = line;
    cbx_audit_file_name(w->named, report->file);
    snprintf(report->problem, sizeof(report->problem), "%.*s", (int)sizeof(report->problem) - 1,
             text);
}

/* Returns the line of a record in the current file, which is read last. */
static uint64_t line_of(const struct walk *w, uint64_t seq)
{
    return seq >= w->first ? seq - w->first + 1 : 1;
}

/* --- the head --------------------------------------------------------------------------------- */

/* Reads the head and, with a key, checks its signature. *present: true if a head exists, valid
 * or not. */
static int read_head(int dir, const uint8_t *public_key, struct cbx_chain *head, bool *present,
                     struct cbx_err *err)
{
    char text[512];
    CBX_AUTO_FD fd = openat(dir, CBX_AUDIT_HEAD, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t len = fd >= 0 ? read(fd, text, sizeof(text)) : 0;
    *present = len > 0;
    if (len <= 0) {
        return cbx_fail(err, CBX_EAUDIT,
                        "the signed head " CBX_AUDIT_HEAD " is missing or empty: whether records "
                        "at the end are missing cannot be told");
    }
    EVP_PKEY *key = public_key != NULL ? cbx_audit_key_of(public_key) : NULL;
    int failed;
    if (public_key != NULL && key == NULL) {
        failed = cbx_fail(err, CBX_EAUDIT, "the public key is not one of Ed25519");
    } else {
        failed = cbx_chain_open((struct cbx_str){ .p = text, .len = (size_t)len }, key, head, err);
    }
    EVP_PKEY_free(key);
    return failed;
}

static void check_head(const struct walk *w, const struct cbx_chain *head,
                       struct cbx_audit_report *report)
{
    char text[200];
    if (w->chain.seq < head->seq) {
        snprintf(text, sizeof(text),
                 "the log ends after record %" PRIu64 ", but record %" PRIu64
                 " was written: records at the end are missing",
                 w->chain.seq, head->seq);
        set_problem(w, report, w->line_number + 1, text);
        return;
    }
    bool known = head->seq > 0 && (head->seq == w->chain.seq || head->seq == w->head.seq);
    if (known &&
        !cbx_sha256_equal(head->seq == w->chain.seq ? &w->chain.hash : &w->at_head, &head->hash)) {
        snprintf(text, sizeof(text),
                 "record %" PRIu64 " is not the one that was signed: the log was rewritten",
                 head->seq);
        set_problem(w, report, line_of(w, head->seq), text);
    } else if (w->chain.seq > head->seq) {
        snprintf(text, sizeof(text),
                 "records %" PRIu64 " to %" PRIu64 " are not signed: a crash right after they were "
                 "written, an older head, or another hand",
                 head->seq + 1, w->chain.seq);
        set_problem(w, report, line_of(w, head->seq + 1), text);
    }
}

/* The key derived from the trusted one must have signed the head. */
static int open_head(const struct walk *w, const char *state_dir, const uint8_t *pinned,
                     struct cbx_chain *head, bool *present, struct cbx_err *err)
{
    uint8_t key[CBX_AUDIT_PUBLIC_BYTES];
    int failed = read_head(w->dir, NULL, head, present, err);
    if (failed) {
        return failed;
    }
    failed = cbx_audit_find_key(state_dir, pinned, key, err);
    if (failed) {
        return failed;
    }
    bool follows = cbx_audit_notes_key(&w->notes, head->seq, key);
    failed = read_head(w->dir, key, head, present, err);
    if (failed && pinned != NULL) {
        cbx_wrap(err, "with the given public key");
    }
    if (failed || follows) {
        return failed;
    }
    return cbx_fail(err, CBX_EAUDIT,
                    "record %" PRIu64 " replaced the signing key by another one than that "
                    "which is trusted",
                    w->notes.key_seq);
}

/* --- the records ------------------------------------------------------------------------------ */

/* Checks the next record; false sets the problem. */
static bool check_record(struct walk *w, struct cbx_str line, struct cbx_audit_report *report)
{
    struct cbx_err err;
    struct cbx_chain_line follows;
    if (!cbx_chain_follow(&w->chain, line, &w->scratch, &follows)) {
        if (cbx_chain_check(&w->chain, line, NULL, &err) != 0) {
            set_problem(w, report, w->line_number + 1, err.text);
        } else { /* cbx_chain_add writes no such line */
            set_problem(w, report, w->line_number + 1,
                        "the line is not in the form in which records are written");
        }
        w->gap = w->line_number == 0;
        return false;
    }
    report->records++;
    w->line_number++;
    cbx_audit_note_time(follows.time, line, w->chain.seq, report);
    if (w->heads != NULL) {
        cbx_audit_heads_meet(w->heads, &w->chain);
    }
    if (w->chain.seq == w->head.seq) {
        w->at_head = w->chain.hash;
    }
    if (!cbx_audit_note(&w->notes, follows.type, line, w->chain.seq, report)) {
        set_problem(w, report, w->line_number,
                    "the signing key was replaced, which the key before it did not sign");
        return false;
    }
    return true;
}

/* Checks all records up to the end of the file or the first error. A line without its end is
 * left for the next call. */
static bool check_records(struct walk *w, struct cbx_audit_report *report)
{
    ssize_t n;
    while ((n = getline(&w->line, &w->size, w->f)) > 0) {
        if (w->line[n - 1] != '\n') {
            fseeko(w->f, -(off_t)n, SEEK_CUR);
            return true;
        }
        struct cbx_str line = { .p = w->line, .len = (size_t)n - 1 };
        if (!check_record(w, line, report)) {
            return false;
        }
    }
    clearerr(w->f);
    return false;
}

/* --- the start of the log --------------------------------------------------------------------- */

/* Reads the predecessor that the first record of a file names. */
static bool read_start(FILE *f, struct cbx_chain *out)
{
    CBX_AUTO_MEM char *line = NULL;
    size_t size = 0;
    ssize_t n = f != NULL ? getline(&line, &size, f) : -1;
    CBX_AUTO_JSON record = NULL;
    if (n <= 0 || cbx_json_parse((struct cbx_str){ .p = line, .len = (size_t)n },
                                 CBX_AUDIT_LINE_MAX, &record, NULL) != 0) {
        return false;
    }
    int64_t seq = json_integer_value(json_object_get(record, "seq"));
    out->seq = (uint64_t)(seq - 1);
    return seq > 1 &&
           cbx_sha256_from_hex(cbx_json_str(json_object_get(record, "prev")), &out->hash);
}

/* True if a record of this file names the removed files. */
static bool is_pruned_by(struct walk *w, FILE *f, const struct cbx_chain *start)
{
    ssize_t n;
    bool found = false;
    while (f != NULL && !found && (n = getline(&w->line, &w->size, f)) > 0) {
        found = cbx_audit_names_pruned((struct cbx_str){ .p = w->line, .len = (size_t)n }, start);
    }
    return found;
}

/* The chain begins with record 1, or after the files that a record 'pruned' of this log names. A
 * later step checks that the record belongs to the log. */
static void find_start(struct walk *w, const struct cbx_audit_files *files)
{
    uint64_t first = files->count > 0 ? files->first[0] : 0;
    CBX_AUTO_FILE f = cbx_audit_file_open(w->dir, first);
    struct cbx_chain start;
    if (!read_start(f, &start)) {
        return;
    }
    bool found = false;
    for (size_t i = 0; i <= files->count && !found; i++) {
        CBX_AUTO_FILE file = cbx_audit_file_open(w->dir, i < files->count ? files->first[i] : 0);
        found = is_pruned_by(w, file, &start);
    }
    if (found) {
        w->chain = start;
    }
}

/* --- the files -------------------------------------------------------------------------------- */

/* Finds the next closed file to read; 0 = none. */
static int next_closed(const struct walk *w, uint64_t *out, struct cbx_audit_report *report,
                       struct cbx_err *err)
{
    CBX_AUTO_DONE(audit_files) files;
    int failed = cbx_audit_files_list(w->dir, &files, err);
    if (failed) {
        return failed;
    }
    *out = 0;
    for (size_t i = files.count; i > 0 && files.first[i - 1] > w->closed; i--) {
        *out = files.first[i - 1];
    }
    if (files.stray[0] != '\0') {
        set_problem(w, report, 1, "the name of this file is none of the audit log's");
        snprintf(report->file, sizeof(report->file), "%.*s", (int)sizeof(report->file) - 1,
                 files.stray);
    }
    return 0;
}

static void begin_file(struct walk *w, uint64_t number)
{
    w->named = number;
    w->first = w->chain.seq + 1;
    w->line_number = 0;
}

static void check_closed(struct walk *w, uint64_t number, struct cbx_audit_report *report)
{
    char text[200];
    begin_file(w, number);
    w->closed = number;
    CBX_AUTO_FILE f = cbx_audit_file_open(w->dir, number);
    w->f = f;
    if (f == NULL) {
        snprintf(text, sizeof(text), "the file cannot be read: %s", strerror(errno));
        set_problem(w, report, 1, text);
        w->gap = true;
        return;
    }
    if (number != w->first) {
        snprintf(text, sizeof(text),
                 "the file begins with record %" PRIu64 " by its name, record %" PRIu64
                 " belongs here: a file was removed, added or renamed",
                 number, w->first);
        set_problem(w, report, 1, text);
        w->gap = true;
        return;
    }
    bool torn = check_records(w, report);
    if (report->line == 0 && (torn || w->line_number == 0)) {
        set_problem(w, report, w->line_number + 1,
                    torn ? "the last line of a closed file is torn: the file was cut"
                         : "a closed file has no record: the file was cut");
    }
}

/* Reads the records appended meanwhile and the end of the log, while writers are blocked. */
static void check_end(const char *state_dir, const uint8_t *pinned, struct walk *w,
                      struct cbx_audit_report *report)
{
    struct cbx_chain head = { 0 };
    struct cbx_err err;
    bool present;
    bool torn = check_records(w, report);
    if (report->line != 0) {
        return;
    }
    int failed = open_head(w, state_dir, pinned, &head, &present, &err);
    if (torn) {
        set_problem(w, report, w->line_number + 1,
                    "the last line is torn: a crash in the middle of a write, or a cut");
    } else if (!failed) {
        check_head(w, &head, report);
    } else if (present || report->records > 0 || pinned != NULL) {
        set_problem(w, report, w->line_number + 1, err.text);
    }
}

static bool is_current(const struct walk *w)
{
    struct stat open_file, named;
    return fstat(fileno(w->f), &open_file) == 0 &&
           fstatat(w->dir, CBX_AUDIT_FILE, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

/* True at the end of the log; false if the file was closed meanwhile. */
static bool check_current(const char *state_dir, const uint8_t *pinned, struct walk *w,
                          struct cbx_audit_report *report)
{
    begin_file(w, 0);
    check_records(w, report);
    if (report->line != 0) {
        return true;
    }
    while (flock(fileno(w->f), LOCK_SH) < 0 && errno == EINTR) {
    }
    bool end = is_current(w);
    if (end) {
        check_end(state_dir, pinned, w, report);
    } else {
        check_records(w, report);
        w->closed = w->first;
    }
    flock(fileno(w->f), LOCK_UN);
    return end || report->line != 0;
}

/* The log has no current file: after a crash between two files, or while a writer creates the
 * new one. That writer may sign records of the new file before the head is read here; then the
 * new file exists, and it is read. */
static int check_between(const char *state_dir, const uint8_t *pinned, struct walk *w, bool *end,
                         struct cbx_audit_report *report, struct cbx_err *err)
{
    CBX_AUTO_FILE none = fopen("/dev/null", "re");
    if (none == NULL) {
        return cbx_fail(err, CBX_EIO, "/dev/null: %s", strerror(errno));
    }
    begin_file(w, 0);
    w->f = none;
    check_end(state_dir, pinned, w, report);
    *end = faccessat(w->dir, CBX_AUDIT_FILE, F_OK, AT_SYMLINK_NOFOLLOW) < 0;
    if (!*end) {
        report->line = 0;
        report->file[0] = report->problem[0] = '\0';
    }
    return 0;
}

/* Checks the next file. *end: true if no file follows. */
static int check_next(const char *state_dir, const uint8_t *pinned, struct walk *w, bool *end,
                      struct cbx_audit_report *report, struct cbx_err *err)
{
    uint64_t number = 0, meanwhile = 0;
    int failed = next_closed(w, &number, report, err);
    if (failed || report->line != 0) {
        return failed;
    }
    if (number > 0) {
        check_closed(w, number, report);
        return 0;
    }
    CBX_AUTO_FILE f = cbx_audit_file_open(w->dir, 0);
    int open_errno = f == NULL ? errno : 0;
    failed = next_closed(w, &meanwhile, report, err);
    /* the opened file is not the successor of the files read so far */
    if (failed || meanwhile > 0) {
        return failed;
    }
    w->f = f;
    if (f != NULL) {
        *end = check_current(state_dir, pinned, w, report);
        return 0;
    }
    if (open_errno != ENOENT || w->closed == 0) {
        return cbx_fail(err, CBX_EIO, "the audit log '%s/" CBX_AUDIT_FILE "': %s", state_dir,
                        strerror(open_errno));
    }
    return check_between(state_dir, pinned, w, end, report, err);
}

static int check_all(const char *state_dir, const uint8_t *pinned, struct walk *w,
                     struct cbx_audit_report *report, struct cbx_err *err)
{
    bool present, end = false;
    memset(report, 0, sizeof(*report));
    CBX_AUTO_DONE(audit_files) files;
    int failed = cbx_audit_files_list(w->dir, &files, err);
    if (failed) {
        return failed;
    }
    if (cbx_audit_find_key(state_dir, pinned, w->notes.trusted, NULL) == 0) {
        cbx_hex_encode(w->notes.trusted, sizeof(w->notes.trusted), report->public_key);
    }
    read_head(w->dir, NULL, &w->head, &present, NULL);
    find_start(w, &files);
    report->first = w->chain.seq + 1;
    if (w->heads != NULL) {
        w->notes.heads = w->heads;
        cbx_audit_heads_start(w->heads, &w->chain);
        cbx_audit_heads_trust(w->heads, w->notes.trusted);
    }
    while (!failed && !end && report->line == 0) {
        failed = check_next(state_dir, pinned, w, &end, report, err);
    }
    cbx_sha256_hex(&w->chain.hash, report->last_hash);
    return failed;
}

int cbx_audit_verify(const char *state_dir, struct cbx_audit_report *report, struct cbx_err *err)
{
    return cbx_audit_verify_pinned(state_dir, NULL, report, err);
}

int cbx_audit_verify_pinned(const char *state_dir, const uint8_t *pinned,
                            struct cbx_audit_report *report, struct cbx_err *err)
{
    return cbx_audit_verify_heads(state_dir, pinned, NULL, report, err);
}

int cbx_audit_verify_heads(const char *state_dir, const uint8_t *pinned,
                           struct cbx_audit_heads *heads, struct cbx_audit_report *report,
                           struct cbx_err *err)
{
    enum { TRIES = 3 };
    CBX_AUTO_FD dir = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0) {
        memset(report, 0, sizeof(*report));
        return cbx_fail(err, CBX_EIO, "the audit log '%s/" CBX_AUDIT_FILE "': %s", state_dir,
                        strerror(errno));
    }
    int failed = 0;
    bool gap = true;
    /* Files may be pruned while they are read; only a gap in every try is an error. */
    for (int i = 0; i < TRIES && gap && !failed; i++) {
        struct walk walk = { .dir = dir, .heads = heads };
        cbx_buf_init(&walk.scratch, CBX_AUDIT_LINE_MAX);
        failed = check_all(state_dir, pinned, &walk, report, err);
        gap = walk.gap;
        free(walk.line);
        cbx_buf_done(&walk.scratch);
    }
    return failed;
}
