/* SPDX-License-Identifier: MIT
 * Kept heads, in pieces of any size: what is refused has a reason, and the pieces change nothing. */
#include "gateway/executor/heads/audit_heads.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int feed(struct cbx_audit_heads *heads, struct cbx_str bytes, size_t piece,
                struct cbx_err *err)
{
    int failed = cbx_audit_heads_begin(heads, "input", false, err);
    while (!failed && bytes.len > 0) {
        struct cbx_str part = cbx_str_take(&bytes, piece);
        failed = cbx_audit_heads_feed(heads, part, err);
    }
    if (failed) {
        return failed;
    }
    return cbx_audit_heads_end(heads, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cbx_str bytes = { .p = (const char *)data, .len = size };
    static const size_t pieces[] = { SIZE_MAX, 1, 353 };
    struct cbx_err first = { 0 };
    int result = 0;
    for (size_t i = 0; i < 3; i++) {
        CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
        struct cbx_err err = { 0 };
        int failed = feed(heads, bytes, pieces[i], &err);
        if (i == 0) {
            result = failed;
            first = err;
        }
        if (failed != result || strcmp(err.text, first.text) != 0 ||
            (failed != 0) != (err.text[0] != '\0')) {
            abort();
        }
        static const struct cbx_audit_report log = { .first = 1 };
        const struct cbx_chain start = { 0 };
        struct cbx_audit_heads_report report;
        cbx_audit_heads_start(heads, &start);
        int judged = cbx_audit_heads_judge(heads, "", &log, &report, &err);
        if (judged == 0) { /* no key is trusted here */
            abort();
        }
    }
    struct cbx_audit_head head;
    if (cbx_audit_head_read(bytes, &head) && size != CBX_AUDIT_HEAD_CHARS) {
        abort();
    }
    return 0;
}
