/* SPDX-License-Identifier: MIT
 * The reading side of the audit log: every record, the chain, the signed head. */
#include "gateway/audit.h"
#include "gateway/audit_chain.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <openssl/pem.h>

static void set_problem(struct cbx_audit_report *report, uint64_t line, const char *text)
{
    report->line = line;
    snprintf(report->problem, sizeof(report->problem), "%.*s", (int)sizeof(report->problem) - 1, text);
}

static int read_head(const char *state_dir, struct cbx_chain *head, struct cbx_err *err)
{
    char path[PATH_MAX], text[512];
    snprintf(path, sizeof(path), "%s/" CBX_AUDIT_PUB, state_dir);
    CBX_AUTO_FILE pub = fopen(path, "re");
    EVP_PKEY *key = pub != NULL ? PEM_read_PUBKEY(pub, NULL, NULL, NULL) : NULL;
    if (key == NULL) {
        return cbx_fail(err, CBX_EAUDIT, "the public key '%s' cannot be read", path);
    }
    snprintf(path, sizeof(path), "%s/" CBX_AUDIT_HEAD, state_dir);
    CBX_AUTO_FILE f = fopen(path, "re");
    size_t len = f != NULL ? fread(text, 1, sizeof(text), f) : 0;
    int failed = len == 0 ? cbx_fail(err, CBX_EAUDIT, "the signed head '%s' is missing or empty: whether records at the end are missing cannot be told", path)
                          : cbx_chain_open((struct cbx_str){ .p = text, .len = len }, key, head, err);
    EVP_PKEY_free(key);
    return failed;
}

/* The head was signed after its record was written, so the log may be ahead of it, by a crash between the two or by a writer
 * that is at work; it may never be behind. */
static void check_head(const struct cbx_chain *chain, const struct cbx_chain *head,
                       int head_failed, const struct cbx_err *head_err, const struct cbx_sha256 *at_head,
                       struct cbx_audit_report *report)
{
    if (head_failed) {
        if (chain->seq > 0 || report->records > 0) {
            set_problem(report, report->records + 1, head_err->text);
        }
        return;
    }
    char text[200];
    if (chain->seq < head->seq) {
        snprintf(text, sizeof(text), "the log ends after record %" PRIu64 ", but record %" PRIu64 " was written: records at the end are missing",
                 chain->seq, head->seq);
        set_problem(report, report->records + 1, text);
    } else if (head->seq > 0 && !cbx_sha256_equal(at_head, &head->hash)) {
        snprintf(text, sizeof(text), "record %" PRIu64 " is not the one that was signed: the log was rewritten", head->seq);
        set_problem(report, head->seq, text);
    }
}

int cbx_audit_verify(const char *state_dir, struct cbx_audit_report *report, struct cbx_err *err)
{
    *report = (struct cbx_audit_report){ 0 };
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/" CBX_AUDIT_FILE, state_dir);
    struct cbx_chain head = { 0 }, chain = { 0 };
    struct cbx_err head_err = { 0 };
    int head_failed = read_head(state_dir, &head, &head_err); /* before the log: it may only grow meanwhile */
    CBX_AUTO_FILE f = fopen(path, "re");
    if (f == NULL) {
        return cbx_fail(err, CBX_EIO, "the audit log '%s': %s", path, strerror(errno));
    }
    struct cbx_sha256 at_head = { 0 };
    CBX_AUTO_MEM char *line = NULL;
    size_t size = 0;
    ssize_t n;
    while ((n = getline(&line, &size, f)) > 0) {
        if (line[n - 1] != '\n') {
            set_problem(report, report->records + 1, "the last line is torn: a crash in the middle of a write, or a cut");
            break;
        }
        struct cbx_err inner;
        CBX_AUTO_JSON record = NULL;
        if (cbx_chain_check(&chain, (struct cbx_str){ .p = line, .len = (size_t)n - 1 }, &record, &inner) != 0) {
            set_problem(report, report->records + 1, inner.text);
            break;
        }
        report->records++;
        snprintf(report->last_time, sizeof(report->last_time), "%s", json_string_value(json_object_get(record, "time")));
        if (chain.seq == head.seq) {
            at_head = chain.hash;
        }
    }
    if (report->line == 0) {
        check_head(&chain, &head, head_failed, &head_err, &at_head, report);
    }
    cbx_sha256_hex(&chain.hash, report->last_hash);
    return 0;
}
