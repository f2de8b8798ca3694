/* SPDX-License-Identifier: MIT
 * HTML with escaped values. */
#include "policies/base/text/html.h"

#include "policies/base/text/printable.h"

/* The characters that end text or an attribute; '`' does so in old browsers. */
static const char *entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '`':
        return "&#96;";
    default:
        return NULL;
    }
}

static void add_text(struct cbx_buf *out, struct cbx_str text)
{
    CBX_AUTO_DONE(buf) clean;
    cbx_buf_init(&clean, text.len * CBX_PRINTABLE_GROWTH + 1);
    cbx_printable_add(&clean, text, CBX_PRINTABLE_LINES);
    size_t from = 0;
    for (size_t i = 0; i < clean.len; i++) {
        const char *entity = entity_of(clean.p[i]);
        if (entity != NULL) {
            cbx_buf_add_bytes(out, clean.p + from, i - from);
            cbx_buf_add_cstr(out, entity);
            from = i + 1;
        }
    }
    cbx_buf_add_bytes(out, clean.p + from, clean.len - from);
}

static bool take(const char **markup, const char *conversion)
{
    size_t len = strlen(conversion);
    bool found = strncmp(*markup, conversion, len) == 0;
    *markup += found ? len : 0;
    return found;
}

/* Appends the value of the conversion at `markup`; returns the markup after it. */
static const char *add_value(struct cbx_buf *out, const char *markup, va_list *values)
{
    if (take(&markup, "%s")) {
        add_text(out, cbx_str_of(va_arg(*values, const char *)));
    } else if (take(&markup, "%.*s")) {
        size_t len = (size_t)va_arg(*values, int);
        add_text(out, (struct cbx_str){ .p = va_arg(*values, const char *), .len = len });
    } else if (take(&markup, "%d")) {
        cbx_buf_printf(out, "%d", va_arg(*values, int));
    } else if (take(&markup, "%lld")) {
        cbx_buf_printf(out, "%lld", va_arg(*values, long long));
    } else if (take(&markup, "%llu")) {
        cbx_buf_printf(out, "%llu", va_arg(*values, unsigned long long));
    } else if (take(&markup, "%zu")) {
        cbx_buf_printf(out, "%zu", va_arg(*values, size_t));
    } else if (take(&markup, "%.1f")) {
        cbx_buf_printf(out, "%.1f", va_arg(*values, double));
    } else if (take(&markup, "%%")) {
        cbx_buf_add_char(out, '%');
    } else {
        abort();
    }
    return markup;
}

void cbx_html_add(struct cbx_buf *out, const char *markup, ...)
{
    va_list values;
    va_start(values, markup);
    while (*markup != '\0') {
        size_t len = strcspn(markup, "%");
        cbx_buf_add_bytes(out, markup, len);
        markup += len;
        if (*markup != '\0') {
            markup = add_value(out, markup, &values);
        }
    }
    va_end(values);
}
