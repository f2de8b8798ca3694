/* SPDX-License-Identifier: MIT
 * The reading side of the audit log: every record, the chain, the signed head. */
#include "gateway/executor/audit.h"
#include "gateway/executor/audit_chain.h"
#include "gateway/ipc/state.h"
#include "policies/base/hex.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <openssl/pem.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void set_problem(struct cbx_audit_report *report, uint64_t line, const char *text)
{
    report->line = line;
    snprintf(report->problem, sizeof(report->problem), "%.*s", (int)sizeof(report->problem) - 1,
             text);
}

/* --- the public key --------------------------------------------------------------------------- */

/* Reads a PEM file; never blocks on a FIFO. */
static int read_pem(const char *path, uint8_t out[CBX_AUDIT_PUBLIC_BYTES], struct cbx_err *err)
{
    CBX_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0) {
        return cbx_fail(err, CBX_EINVAL, "the public key '%s': %s", path, strerror(errno));
    }
    CBX_AUTO_FILE f = S_ISREG(status.st_mode) ? fdopen(dup(fd), "r") : NULL;
    EVP_PKEY *key = f != NULL ? PEM_read_PUBKEY(f, NULL, NULL, NULL) : NULL;
    size_t len = CBX_AUDIT_PUBLIC_BYTES;
    bool ok = key != NULL && EVP_PKEY_get_id(key) == EVP_PKEY_ED25519 &&
              EVP_PKEY_get_raw_public_key(key, out, &len) == 1 && len == CBX_AUDIT_PUBLIC_BYTES;
    EVP_PKEY_free(key);
    return ok ? 0
              : cbx_fail(err, CBX_EINVAL,
                         "the public key '%s' is none, allowed is an Ed25519 public key in PEM",
                         path);
}

int cbx_audit_public_key(const char *text, uint8_t out[CBX_AUDIT_PUBLIC_BYTES], struct cbx_err *err)
{
    enum { DIGITS = 2 * CBX_AUDIT_PUBLIC_BYTES };
    char lower[DIGITS + 1];
    size_t len = strlen(text);
    for (size_t i = 0; i < len && i < DIGITS; i++) {
        lower[i] = (char)tolower((unsigned char)text[i]);
    }
    return len == DIGITS && cbx_hex_decode((struct cbx_str){ .p = lower, .len = DIGITS }, out,
                                           CBX_AUDIT_PUBLIC_BYTES)
               ? 0
               : read_pem(text, out, err);
}

/* The key that the head is checked with: `pinned`, else that of the state directory. */
static int find_key(const char *state_dir, const uint8_t *pinned,
                    uint8_t out[CBX_AUDIT_PUBLIC_BYTES], struct cbx_err *err)
{
    char path[PATH_MAX];
    if (pinned != NULL) {
        memcpy(out, pinned, CBX_AUDIT_PUBLIC_BYTES);
        return 0;
    }
    snprintf(path, sizeof(path), "%s/" CBX_AUDIT_PUB, state_dir);
    return read_pem(path, out, err) == 0
               ? 0
               : cbx_fail(err, CBX_EAUDIT, "the public key '%s' cannot be read", path);
}

/* --- the head --------------------------------------------------------------------------------- */

/* *present: there is a head, whether it is right or not. */
static int read_head(const char *state_dir, const uint8_t *pinned, struct cbx_chain *head,
                     bool *present, struct cbx_err *err)
{
    char text[512];
    CBX_AUTO_FILE f = cbx_state_read(state_dir, CBX_AUDIT_HEAD);
    size_t len = f != NULL ? fread(text, 1, sizeof(text), f) : 0;
    *present = len > 0;
    if (len == 0) {
        return cbx_fail(err, CBX_EAUDIT,
                        "the signed head '%s/" CBX_AUDIT_HEAD "' is missing or empty: whether "
                        "records at the end are missing cannot be told",
                        state_dir);
    }
    uint8_t bytes[CBX_AUDIT_PUBLIC_BYTES];
    int failed = find_key(state_dir, pinned, bytes, err);
    if (failed) {
        return failed;
    }
    EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, bytes, sizeof(bytes));
    failed = key == NULL
                 ? cbx_fail(err, CBX_EAUDIT, "the public key is not one of Ed25519")
                 : cbx_chain_open((struct cbx_str){ .p = text, .len = len }, key, head, err);
    EVP_PKEY_free(key);
    if (failed && pinned != NULL) {
        cbx_wrap(err, "with the given public key");
    }
    return failed;
}

/* --- the records ------------------------------------------------------------------------------ */

/* On the way through the log. */
struct walk {
    FILE *f;
    struct cbx_chain chain;
    struct cbx_chain head;     /* as of the start: its record is looked out for */
    struct cbx_sha256 at_head; /* the hash of that record */
    char *line;
    size_t size;
    struct cbx_buf scratch;
};

/* `records` are the numbers of records 'recovered' whose ranges were acknowledged. */
static void acknowledge_ranges(const json_t *records, struct cbx_audit_report *report)
{
    size_t kept = 0, stored = report->unsigned_count < CBX_AUDIT_RANGES_MAX ? report->unsigned_count
                                                                            : CBX_AUDIT_RANGES_MAX;
    for (size_t i = 0; i < stored; i++) {
        bool acknowledged = false;
        for (size_t k = 0; k < json_array_size(records); k++) {
            acknowledged |= json_integer_value(json_array_get(records, k)) ==
                            (json_int_t)report->unsigned_ranges[i].record;
        }
        if (!acknowledged) {
            report->unsigned_ranges[kept++] = report->unsigned_ranges[i];
        }
    }
    report->unsigned_count -= stored - kept;
}

static void add_range(const json_t *body, uint64_t record, struct cbx_audit_report *report)
{
    int64_t from = json_integer_value(json_object_get(body, "unsigned_from"));
    if (from > 0 && report->unsigned_count < CBX_AUDIT_RANGES_MAX) {
        report->unsigned_ranges[report->unsigned_count] = (struct cbx_audit_range){
            .from = (uint64_t)from,
            .to = (uint64_t)json_integer_value(json_object_get(body, "unsigned_to")),
            .record = record
        };
    }
    report->unsigned_count += from > 0;
}

/* A record may name a range of unsigned records, or acknowledge such ranges. */
static void note_range(const struct walk *w, struct cbx_str type, struct cbx_str line,
                       struct cbx_audit_report *report)
{
    bool recovered = cbx_str_is(type, "recovered");
    if (!recovered && !cbx_str_is(type, "acknowledged")) {
        return;
    }
    CBX_AUTO_JSON record = NULL;
    cbx_json_parse(line, CBX_AUDIT_LINE_MAX, &record, NULL);
    const json_t *body = json_object_get(record, "body");
    if (recovered) {
        add_range(body, w->chain.seq, report);
    } else {
        acknowledge_ranges(json_object_get(body, "recovered"), report);
    }
}

/* The next record; false sets the problem. */
static bool check_record(struct walk *w, struct cbx_str line, struct cbx_audit_report *report)
{
    struct cbx_err err;
    struct cbx_chain_line follows;
    if (!cbx_chain_follow(&w->chain, line, &w->scratch, &follows)) {
        if (cbx_chain_check(&w->chain, line, NULL, &err) != 0) {
            set_problem(report, report->records + 1, err.text);
        } else { /* cbx_chain_add writes no such line */
            set_problem(report, report->records + 1,
                        "the line is not in the form in which records are written");
        }
        return false;
    }
    report->records++;
    note_range(w, follows.type, line, report);
    snprintf(report->last_time, sizeof(report->last_time), "%.*s", CBX_STR_ARG(follows.time));
    if (w->chain.seq == w->head.seq) {
        w->at_head = w->chain.hash;
    }
    return true;
}

/* Checks record after record, to the end or to the first that is wrong. A line without its end is
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

static void check_head(const struct walk *w, const struct cbx_chain *head,
                       struct cbx_audit_report *report)
{
    char text[200];
    if (w->chain.seq < head->seq) {
        snprintf(text, sizeof(text),
                 "the log ends after record %" PRIu64 ", but record %" PRIu64
                 " was written: records at the end are missing",
                 w->chain.seq, head->seq);
        set_problem(report, report->records + 1, text);
        return;
    }
    bool known = head->seq > 0 && (head->seq == w->chain.seq || head->seq == w->head.seq);
    if (known &&
        !cbx_sha256_equal(head->seq == w->chain.seq ? &w->chain.hash : &w->at_head, &head->hash)) {
        snprintf(text, sizeof(text),
                 "record %" PRIu64 " is not the one that was signed: the log was rewritten",
                 head->seq);
        set_problem(report, head->seq, text);
    } else if (w->chain.seq > head->seq) {
        snprintf(text, sizeof(text),
                 "records %" PRIu64 " to %" PRIu64 " are not signed: a crash right after they were "
                 "written, an older head, or another hand",
                 head->seq + 1, w->chain.seq);
        set_problem(report, head->seq + 1, text);
    }
}

/* With writers held up: what came meanwhile, and the end. */
static void check_end(const char *state_dir, const uint8_t *pinned, struct walk *w,
                      struct cbx_audit_report *report)
{
    struct cbx_chain head = { 0 };
    struct cbx_err err;
    bool present;
    int failed = read_head(state_dir, pinned, &head, &present, &err);
    bool torn = check_records(w, report);
    if (report->line != 0) {
        return;
    }
    if (torn) {
        set_problem(report, report->records + 1,
                    "the last line is torn: a crash in the middle of a write, or a cut");
    } else if (!failed) {
        check_head(w, &head, report);
    } else if (present || report->records > 0 || pinned != NULL) {
        set_problem(report, report->records + 1, err.text);
    }
}

int cbx_audit_verify(const char *state_dir, struct cbx_audit_report *report, struct cbx_err *err)
{
    return cbx_audit_verify_pinned(state_dir, NULL, report, err);
}

int cbx_audit_verify_pinned(const char *state_dir, const uint8_t *pinned,
                            struct cbx_audit_report *report, struct cbx_err *err)
{
    memset(report, 0, sizeof(*report));
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/" CBX_AUDIT_FILE, state_dir);
    CBX_AUTO_FILE f = cbx_state_read(state_dir, CBX_AUDIT_FILE);
    if (f == NULL) {
        return cbx_fail(err, CBX_EIO, "the audit log '%s': %s", path, strerror(errno));
    }
    struct walk walk = { .f = f };
    cbx_buf_init(&walk.scratch, CBX_AUDIT_LINE_MAX);
    bool present;
    read_head(state_dir, pinned, &walk.head, &present, NULL);
    check_records(&walk, report);
    if (report->line == 0) {
        while (flock(fileno(f), LOCK_SH) < 0 && errno == EINTR) {
        }
        check_end(state_dir, pinned, &walk, report);
        flock(fileno(f), LOCK_UN);
    }
    free(walk.line);
    cbx_buf_done(&walk.scratch);
    cbx_sha256_hex(&walk.chain.hash, report->last_hash);
    uint8_t key[CBX_AUDIT_PUBLIC_BYTES];
    if (find_key(state_dir, pinned, key, NULL) == 0) {
        cbx_hex_encode(key, sizeof(key), report->public_key);
    }
    return 0;
}

int cbx_audit_acknowledge(const char *state_dir, const struct cbx_audit_report *report,
                          struct cbx_str principal, struct cbx_str reason, struct cbx_err *err)
{
    if (report->line != 0) {
        return cbx_fail(err, CBX_ESTATE,
                        "line %" PRIu64 " is wrong, which cannot be acknowledged: %s", report->line,
                        report->problem);
    }
    json_t *records = json_array();
    for (size_t i = 0; i < report->unsigned_count && i < CBX_AUDIT_RANGES_MAX; i++) {
        json_array_append_new(records, json_integer((json_int_t)report->unsigned_ranges[i].record));
    }
    CBX_AUTO_JSON body = json_pack("{s:o}", "recovered", records);
    json_object_set_new(body, "principal", cbx_json_text(principal));
    json_object_set_new(body, "reason", cbx_json_text(reason));
    CBX_AUTO(audit) audit = NULL;
    int failed = cbx_audit_open(state_dir, &audit, err);
    return failed ? failed : cbx_audit_append(audit, "acknowledged", body, NULL, err);
}
