/* SPDX-License-Identifier: MIT
 * Errors as values: a code, a place in the input, one line of text. Stored on the caller's
 * stack, without allocation. Success never changes them. */
#ifndef CBX_POLICIES_BASE_ERR_H
#define CBX_POLICIES_BASE_ERR_H

#include "policies/base/str.h"

#include <stdint.h>
#include <stdio.h>

/* Functions return 0 or one of these. The names are stable: they are part of problem documents. */
enum cbx_code {
    CBX_EINVAL = -1,  /* the caller's input is wrong */
    CBX_ETOOBIG = -2, /* over a limit */
    CBX_EPOLICY = -3, /* a policy is wrong */
    CBX_ENOTFOUND = -4,
    CBX_EIO = -5,     /* a system call failed */
    CBX_EENGINE = -6, /* the Docker engine is absent, too old, or refused a call */
    CBX_EPROTO = -7,  /* a peer (worker, kernel, engine) broke the protocol */
    CBX_ESEAL = -8, /* a sealed decision is forged, altered, replayed, expired, or of other bytes */
    CBX_ETIMEDOUT = -9,
    CBX_EBUSY = -10,
    CBX_EAUDIT = -11,     /* the audit record could not be made durable: nothing runs */
    CBX_ESTATE = -12,     /* the object is not in a state for this call */
    CBX_ESTALE = -13,     /* a decision was made against another ledger than the session's */
    CBX_EQUOTA = -14,     /* the caller has used its quota for now */
    CBX_EFORBIDDEN = -15, /* the caller lacks the required right */
    CBX_ECANCELLED = -16, /* cancelled before the start */
    CBX_EINDEX = -17,     /* a package index sent a forbidden reply: a retry has the same result */
};

enum { CBX_ERR_TEXT_BYTES = 512, CBX_ERR_DETAIL_BYTES = 512, CBX_ERR_LINE_BYTES = 160 };
enum { CBX_ERR_FULL_BYTES = CBX_ERR_TEXT_BYTES + CBX_ERR_DETAIL_BYTES + 2 };

struct cbx_err {
    int code;
    uint32_t line, column; /* 1-based, in the input (policy or source); 0 = no place */
    /* for CBX_EQUOTA and CBX_EBUSY: seconds until a retry may succeed; 0 = not known */
    uint32_t retry_s;
    char text[CBX_ERR_TEXT_BYTES];
    /* text for the operator alone, or "": paths and addresses of the host, replies of other
     * programs. It goes to the log and to the operator's terminal, never to a caller */
    char detail[CBX_ERR_DETAIL_BYTES];
    char excerpt[CBX_ERR_LINE_BYTES]; /* that line of the input, or "" */
};

/* Sets code and text and returns code, so that failing is one statement. Text: one line, lower
 * case, no full stop; the found and the allowed value. `err` may be NULL. Control characters in
 * the arguments are replaced by '?', so a message is always one printable line. */
int cbx_fail(struct cbx_err *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define cbx_fail(...) CBX_MESSAGE_SCOPE((cbx_fail)(__VA_ARGS__))

/* The same with a place in the input. */
int cbx_fail_at(struct cbx_err *err, int code, uint32_t line, uint32_t column, const char *format,
                ...) __attribute__((format(printf, 5, 6)));
#define cbx_fail_at(...) CBX_MESSAGE_SCOPE((cbx_fail_at)(__VA_ARGS__))

/* Sets the detail of an error whose text is set; returns err->code. */
int cbx_err_detail(struct cbx_err *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#define cbx_err_detail(...) CBX_MESSAGE_SCOPE((cbx_err_detail)(__VA_ARGS__))

/* "text: detail", or the text alone, for the operator; returns `out`. */
const char *cbx_err_full(const struct cbx_err *err, char out[CBX_ERR_FULL_BYTES]);

/* Prefixes the text with context ("loading 'x': ..."), for callers that pass an error up.
 * Returns err->code. */
int cbx_wrap(struct cbx_err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define cbx_wrap(...) CBX_MESSAGE_SCOPE((cbx_wrap)(__VA_ARGS__))

/* Stores the input line of the error, for printing. No effect if the error has no place, or a
 * line is stored already. */
void cbx_err_quote(struct cbx_err *err, struct cbx_str input);

/* Prints "program: text: detail", and the stored line, if any, with a mark below the column. */
void cbx_err_print(const struct cbx_err *err, const char *program, FILE *to);

/* Returns the stable name of a code: "too-big", "not-found", ... ; "internal" for any other
 * value. */
const char *cbx_code_name(int code);

#endif
