/* SPDX-License-Identifier: MIT
 * Texts and numbers of versions, for the readers of all version formats. */
#include "policies/versions/version_scan.h"

#include <string.h>

bool cbx_scan_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

struct cbx_str cbx_scan_number(struct cbx_str *text)
{
    size_t zeros = 0, n = 0;
    while (n < text->len && cbx_scan_is_digit(text->p[n])) {
        zeros += zeros == n && text->p[n] == '0';
        n++;
    }
    struct cbx_str number = cbx_str_sub(*text, zeros, n);
    *text = cbx_str_sub(*text, n, text->len);
    return number;
}

int cbx_scan_order(struct cbx_str a, struct cbx_str b)
{
    if (a.len != b.len) {
        return a.len < b.len ? -1 : 1;
    }
    int o = a.len > 0 ? memcmp(a.p, b.p, a.len) : 0;
    return (o > 0) - (o < 0);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct cbx_str cbx_scan_trim(struct cbx_str text)
{
    size_t from = 0;
    while (from < text.len && is_space(text.p[from])) {
        from++;
    }
    while (text.len > from && is_space(text.p[text.len - 1])) {
        text.len--;
    }
    return cbx_str_sub(text, from, text.len);
}

struct cbx_str cbx_scan_until(struct cbx_str *text, const char *separator)
{
    size_t len = strlen(separator);
    const char *at = text->len > 0 ? memmem(text->p, text->len, separator, len) : NULL;
    size_t end = at != NULL ? (size_t)(at - text->p) : text->len;
    struct cbx_str part = cbx_str_sub(*text, 0, end);
    *text = cbx_str_sub(*text, end + len, text->len);
    return part;
}

bool cbx_scan_is_word(struct cbx_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (is_space(text.p[i]) || text.p[i] == ';' || text.p[i] == ')') {
            return false;
        }
    }
    return true;
}
