/* SPDX-License-Identifier: MIT
 * Errors as values. */
#include "policies/base/err.h"

#include "policies/base/text/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 5, 0))) static void set_text(struct cbx_err *err, int code,
                                                           uint32_t line, uint32_t column,
                                                           const char *format, va_list args)
{
    if (err == NULL) {
        return;
    }
    err->code = code;
    err->line = line;
    err->column = column;
    err->excerpt[0] = err->detail[0] = '\0';
    vsnprintf(err->text, sizeof(err->text), format, args);
    cbx_printable_mask(err->text);
}

int(cbx_fail)(struct cbx_err *err, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_text(err, code, 0, 0, format, args);
    va_end(args);
    return code;
}

int(cbx_fail_at)(struct cbx_err *err, int code, uint32_t line, uint32_t column, const char *format,
                 ...)
{
    va_list args;
    va_start(args, format);
    set_text(err, code, line, column, format, args);
    va_end(args);
    return code;
}

int(cbx_err_detail)(struct cbx_err *err, const char *format, ...)
{
    if (err == NULL) {
        return CBX_EINVAL;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(err->detail, sizeof(err->detail), format, args);
    va_end(args);
    cbx_printable_mask(err->detail);
    return err->code;
}

const char *cbx_err_full(const struct cbx_err *err, char out[CBX_ERR_FULL_BYTES])
{
    snprintf(out, CBX_ERR_FULL_BYTES, "%s%s%s", err->text, err->detail[0] != '\0' ? ": " : "",
             err->detail);
    return out;
}

int(cbx_wrap)(struct cbx_err *err, const char *format, ...)
{
    if (err == NULL) {
        return CBX_EINVAL;
    }
    char inner[CBX_ERR_TEXT_BYTES], context[CBX_ERR_TEXT_BYTES / 2];
    memcpy(inner, err->text, sizeof(inner));
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof(context), format, args);
    va_end(args);
    snprintf(err->text, sizeof(err->text), "%.*s: %.*s", (int)sizeof(context), context,
             (int)(sizeof(inner) - sizeof(context) - 3), inner);
    cbx_printable_mask(err->text);
    return err->code;
}

void cbx_err_quote(struct cbx_err *err, struct cbx_str input)
{
    if (err == NULL || err->line == 0 || err->excerpt[0] != '\0') {
        return;
    }
    size_t at = 0;
    for (uint32_t line = 1; line < err->line && at < input.len; line++) {
        const char *newline = memchr(input.p + at, '\n', input.len - at);
        at = newline != NULL ? (size_t)(newline - input.p) + 1 : input.len;
    }
    size_t end = at;
    while (end < input.len && input.p[end] != '\n' && input.p[end] != '\r') {
        end++;
    }
    snprintf(err->excerpt, sizeof(err->excerpt), "%.*s", (int)(end - at), input.p + at);
    cbx_printable_mask(err->excerpt);
}

void cbx_err_print(const struct cbx_err *err, const char *program, FILE *to)
{
    char full[CBX_ERR_FULL_BYTES];
    fprintf(to, "%s: %s\n", program, cbx_err_full(err, full));
    if (err->line == 0) {
        return;
    }
    if (err->excerpt[0] == '\0' || err->column > strlen(err->excerpt) + 1) {
        fprintf(to, "  in line %u, column %u\n", err->line, err->column);
        return;
    }
    fprintf(to, "%7u | %s\n        | %*s^\n", err->line, err->excerpt, (int)err->column - 1, "");
}

const char *cbx_code_name(int code)
{
    switch (code) {
    case CBX_EINVAL:
        return "invalid";
    case CBX_ETOOBIG:
        return "too-big";
    case CBX_EPOLICY:
        return "bad-policy";
    case CBX_ENOTFOUND:
        return "not-found";
    case CBX_EIO:
        return "io";
    case CBX_EENGINE:
        return "engine";
    case CBX_EPROTO:
        return "protocol";
    case CBX_ESEAL:
        return "bad-seal";
    case CBX_ETIMEDOUT:
        return "timed-out";
    case CBX_EBUSY:
        return "busy";
    case CBX_EAUDIT:
        return "audit-unavailable";
    case CBX_ESTATE:
        return "bad-state";
    case CBX_ESTALE:
        return "stale";
    case CBX_EQUOTA:
        return "quota";
    case CBX_EFORBIDDEN:
        return "forbidden";
    case CBX_ECANCELLED:
        return "cancelled";
    case CBX_EINDEX:
        return "index";
    default:
        return "internal";
    }
}
