/* SPDX-License-Identifier: MIT
 * Shared by the tests that write and verify the audit log: a log of a few records, taken apart and
 * put together again. */
#ifndef CBX_TESTS_UNIT_GATEWAY_EXECUTOR_AUDIT_LOG_H
#define CBX_TESTS_UNIT_GATEWAY_EXECUTOR_AUDIT_LOG_H

#include "gateway/executor/audit/audit.h"
#include "gateway/executor/audit/audit_chain.h"
#include "tests/unit/gateway/scratch.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { RECORDS = 6 };

static inline int append(struct cbx_audit *audit, int n, struct cbx_err *err)
{
    CBX_AUTO_JSON body = json_pack("{s:i}", "n", n);
    return cbx_audit_append(audit, "note", body, NULL, err);
}

static inline struct cbx_audit *open_log(const char *dir)
{
    struct cbx_audit *audit = NULL;
    struct cbx_err err;
    if (cbx_audit_open(dir, &audit, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return audit;
}

/* Returns the error that `codebox config check` gets for a writer; "" = none. */
static inline void assert_try_says(const char *dir, const char *why)
{
    struct cbx_err err = { 0 };
    int failed = cbx_audit_try(dir, &err);
    if ((failed != 0) != (why[0] != '\0') || strstr(err.text, why) == NULL) {
        fail_msg("the try says %d '%s', not '%s'", failed, err.text, why);
    }
}

static inline void append_many(const char *dir, int count)
{
    assert_try_says(dir, "");
    CBX_AUTO(audit) audit = open_log(dir);
    for (int i = 0; i < count; i++) {
        struct cbx_err err;
        if (append(audit, i, &err) != 0) {
            fail_msg("%s", err.text);
        }
    }
}

/* `line` 0: nothing is wrong. */
static inline void assert_verifies(const char *dir, uint64_t records, uint64_t line,
                                   const char *problem)
{
    struct cbx_audit_report report;
    struct cbx_err err;
    assert_int_equal(cbx_audit_verify(dir, &report, &err), 0);
    if (report.line != line || report.records != records ||
        strstr(report.problem, problem) == NULL) {
        fail_msg("%llu records, line %llu: %s", (unsigned long long)report.records,
                 (unsigned long long)report.line, report.problem);
    }
}

static inline void assert_takes_no_more(const char *dir, const char *why)
{
    assert_try_says(dir, why);
    CBX_AUTO(audit) audit = open_log(dir);
    CBX_AUTO_DONE(buf) before;
    CBX_AUTO_DONE(buf) after;
    struct cbx_err err = { 0 };
    scratch_read(dir, CBX_AUDIT_FILE, &before);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(append(audit, 99, &err), CBX_EAUDIT);
        if (strstr(err.text, why) == NULL) {
            fail_msg("'%s' does not say '%s'", err.text, why);
        }
    }
    scratch_read(dir, CBX_AUDIT_FILE, &after);
    assert_true(cbx_str_equal(cbx_buf_str(&before), cbx_buf_str(&after)));
}

/* --- a log of six records, taken apart and put together in another way ------------------------ */

struct lines {
    struct cbx_buf text;
    struct cbx_str at[RECORDS]; /* with their '\n' */
};

static inline void begin(struct scratch *s, struct lines *lines)
{
    scratch_make(s);
    append_many(s->path, RECORDS);
    assert_verifies(s->path, RECORDS, 0, "");
    scratch_read(s->path, CBX_AUDIT_FILE, &lines->text);
    const char *p = lines->text.p;
    for (int i = 0; i < RECORDS; i++) {
        const char *end = memchr(p, '\n', (size_t)(lines->text.p + lines->text.len - p));
        assert_non_null(end);
        lines->at[i] = (struct cbx_str){ .p = p, .len = (size_t)(end + 1 - p) };
        p = end + 1;
    }
    assert_ptr_equal(p, lines->text.p + lines->text.len);
}

static inline void end(struct scratch *s, struct lines *lines)
{
    cbx_buf_done(&lines->text);
    scratch_remove(s);
}

/* Writes the log anew from lines in the order of `digits` (1-based). */
static inline void rewrite(const struct scratch *s, const struct lines *lines, const char *digits)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1 << 20);
    for (; *digits != '\0'; digits++) {
        cbx_buf_add(&text, lines->at[*digits - '1']);
    }
    scratch_write(s->path, CBX_AUDIT_FILE, cbx_buf_str(&text));
}

#endif
