/* SPDX-License-Identifier: MIT
 * The strict request check: method, target and header fields as any client sends them, one
 * per line. */
#include "gateway/front/http/http_check.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct cbx_str take_line(struct cbx_str *rest)
{
    const char *end = rest->len > 0 ? memchr(rest->p, '\n', rest->len) : NULL;
    struct cbx_str line = cbx_str_sub(*rest, 0, end != NULL ? (size_t)(end - rest->p) : rest->len);
    *rest = cbx_str_sub(*rest, line.len + 1, rest->len);
    return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cbx_str rest = { .p = (const char *)data, .len = size };
    struct cbx_str method = take_line(&rest), target = take_line(&rest);
    struct cbx_http_headers headers = { 0 };
    const char *detail = NULL;
    while (rest.len > 0) {
        struct cbx_str line = take_line(&rest);
        const char *colon = line.len > 0 ? memchr(line.p, ':', line.len) : NULL;
        size_t at = colon != NULL ? (size_t)(colon - line.p) : line.len;
        cbx_http_check_field(&headers, cbx_str_sub(line, 0, at),
                             cbx_str_sub(line, at + 1, line.len));
    }
    static const struct cbx_http_names names = { .port = 8000 };
    int status = cbx_http_check(&headers, method, target, &names, 1000, &detail);
    /* What is let through has one Host, which is ours, and one way to find the end of its body. */
    if (status == 0 &&
        (headers.hosts != 1 || headers.lengths + headers.encodings > 1 || headers.malformed)) {
        abort();
    }
    return 0;
}
