/* SPDX-License-Identifier: MIT
 * PEP 508: requirements, except their markers (marker.c). */
#include "policies/versions/requirement.h"

#include "policies/versions/version.h"

#include <ctype.h>

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

static void skip_space(struct cbx_str *text)
{
    *text = cbx_str_trim_start(*text);
}

/* [A-Za-z0-9] with '.', '_' and '-' inside. */
static bool take_name(struct cbx_str *text, struct cbx_str *out)
{
    size_t n = 0;
    while (n < text->len && is_name_char(text->p[n])) {
        n++;
    }
    *out = cbx_str_sub(*text, 0, n);
    *text = cbx_str_sub(*text, n, text->len);
    return n > 0 && isalnum((unsigned char)out->p[0]) && isalnum((unsigned char)out->p[n - 1]);
}

/* [name, name]: names, or nothing. */
static bool take_extras(struct cbx_str *text, struct cbx_str *out)
{
    struct cbx_str name, all = *text;
    *text = cbx_str_sub(*text, 1, text->len);
    skip_space(text);
    while (text->len > 0 && text->p[0] != ']') {
        if (!take_name(text, &name)) {
            return false;
        }
        skip_space(text);
        if (text->len > 0 && text->p[0] == ',') {
            *text = cbx_str_sub(*text, 1, text->len);
            skip_space(text);
            if (text->len == 0 || text->p[0] == ']') {
                return false;
            }
        } else if (text->len > 0 && text->p[0] != ']') {
            return false;
        }
    }
    if (text->len == 0) {
        return false;
    }
    *out = cbx_str_sub(all, 1, (size_t)(text->p - all.p));
    *text = cbx_str_sub(*text, 1, text->len);
    return true;
}

/* @ url, up to white space. */
static bool take_url(struct cbx_str *text, struct cbx_str *out)
{
    *text = cbx_str_sub(*text, 1, text->len);
    skip_space(text);
    size_t n = 0;
    while (n < text->len && text->p[n] != ' ' && text->p[n] != '\t') {
        n++;
    }
    *out = cbx_str_sub(*text, 0, n);
    *text = cbx_str_sub(*text, n, text->len);
    return n > 0;
}

static bool take_specifiers(struct cbx_str *text, struct cbx_str *out)
{
    bool closed = text->len > 0 && text->p[0] == '(';
    *text = cbx_str_sub(*text, closed, text->len);
    const char *end = text->len > 0 ? memchr(text->p, closed ? ')' : ';', text->len) : NULL;
    size_t n = end != NULL ? (size_t)(end - text->p) : text->len;
    *out = cbx_str_trim(cbx_str_sub(*text, 0, n));
    *text = cbx_str_sub(*text, n + (closed && end != NULL), text->len);
    bool begins = out->len == 0 || out->p[0] != ',';
    return (!closed || end != NULL) && begins &&
           cbx_pep440_matches(*out, CBX_STR("0")) != CBX_MATCH_MALFORMED;
}

static bool is_one_line(struct cbx_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.p[i] < ' ' && text.p[i] != '\t') {
            return false;
        }
    }
    return true;
}

static bool take_marker(struct cbx_str *text, struct cbx_requirement *out)
{
    if (text->len == 0) {
        return true;
    }
    if (text->p[0] != ';') {
        return false;
    }
    out->marker = cbx_str_sub(*text, 1, text->len);
    enum cbx_marker marker = cbx_marker_read(out->marker);
    out->never = marker == CBX_MARKER_NEVER;
    return marker != CBX_MARKER_MALFORMED;
}

bool cbx_requirement_parse(struct cbx_str text, struct cbx_requirement *out)
{
    *out = (struct cbx_requirement){ 0 };
    bool one_line = is_one_line(text);
    text = cbx_str_trim(text);
    if (!take_name(&text, &out->name)) {
        return false;
    }
    skip_space(&text);
    if (text.len > 0 && text.p[0] == '[' && !take_extras(&text, &out->extras)) {
        return false;
    }
    skip_space(&text);
    bool url = text.len > 0 && text.p[0] == '@';
    if (!(url ? take_url(&text, &out->url) : take_specifiers(&text, &out->specifiers))) {
        return false;
    }
    skip_space(&text);
    return take_marker(&text, out) && one_line;
}

static bool has_only(struct cbx_str text, const char *others)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i];
        if (!isalnum((unsigned char)c) && (c == '\0' || strchr(others, c) == NULL)) {
            return false;
        }
    }
    return true;
}

bool cbx_requirement_is_plain(const struct cbx_requirement *r)
{
    return r->name.len > 0 && r->url.len == 0 && r->marker.len == 0 && has_only(r->name, "-_.") &&
           has_only(r->extras, "-_., \t") && has_only(r->specifiers, "-_.,<>=!~*+ \t");
}
