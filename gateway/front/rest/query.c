/* SPDX-License-Identifier: MIT
 * The query of a target: decoded into a JSON object, which a table of fields binds. */
#include "gateway/front/rest/query.h"

#include "policies/base/text/hex.h"

#include <stdlib.h>

/* RFC 3986, section 3.4, without '+', which forms decode as a blank and other readers as '+'. */
static bool is_query_byte(char c)
{
    static const char others[] = "-._~!$'()*,;:@/?=";
    char low = (char)(c | 32);
    return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') ||
           memchr(others, c, sizeof(others) - 1) != NULL;
}

static int decode(struct cbx_str text, struct cbx_buf *out, struct cbx_err *err)
{
    cbx_buf_reset(out);
    for (size_t i = 0; i < text.len; i++) {
        int high = -1, low = -1;
        if (text.p[i] == '%' && i + 2 < text.len) {
            high = cbx_hex_value(text.p[i + 1]);
            low = cbx_hex_value(text.p[i + 2]);
        }
        if (high >= 0 && low >= 0) {
            cbx_buf_add_char(out, (char)(high << 4 | low));
            i += 2;
        } else if (text.p[i] == '%') {
            return cbx_fail(err, CBX_EINVAL, "'%%' is not followed by two hexadecimal digits");
        } else if (is_query_byte(text.p[i])) {
            cbx_buf_add_char(out, text.p[i]);
        } else {
            return cbx_fail(err, CBX_EINVAL, "byte 0x%02X must be written %%%02X",
                            (unsigned char)text.p[i], (unsigned char)text.p[i]);
        }
    }
    if (memchr(out->p, '\0', out->len) != NULL || !cbx_str_is_utf8(cbx_buf_str(out), NULL)) {
        return cbx_fail(err, CBX_EINVAL, "decoded text is not UTF-8 without NUL");
    }
    return 0;
}

/* Converts the value by the type of its field: decimal digits are an integer, true and false a
 * boolean. Any other text stays a string, which the field then refuses. */
static json_t *make_value(struct cbx_str text, const struct cbx_json_field *field)
{
    enum { DIGITS_MAX = 18 }; /* fits into int64_t */
    size_t digits = 0;
    while (digits < text.len && text.p[digits] >= '0' && text.p[digits] <= '9') {
        digits++;
    }
    bool is_number = field != NULL && field->type == CBX_JSON_INT && digits == text.len &&
                     digits > 0 && digits <= DIGITS_MAX;
    bool is_true = cbx_str_is(text, "true");
    if (field != NULL && field->type == CBX_JSON_BOOL && (is_true || cbx_str_is(text, "false"))) {
        return json_boolean(is_true);
    }
    return is_number ? json_integer(strtoll(text.p, NULL, 10)) : cbx_json_text(text);
}

static const struct cbx_json_field *find_field(const struct cbx_json_field *fields, size_t count,
                                               const char *name)
{
    size_t i = 0;
    while (i < count && strcmp(fields[i].name, name) != 0) {
        i++;
    }
    return i < count ? &fields[i] : NULL;
}

/* Adds "name=value" to the object. */
static int add_parameter(struct cbx_str text, const struct cbx_json_field *fields, size_t count,
                         json_t *object, struct cbx_err *err)
{
    const char *equals = text.len > 0 ? memchr(text.p, '=', text.len) : NULL;
    size_t at = equals != NULL ? (size_t)(equals - text.p) : text.len;
    CBX_AUTO_DONE(buf) name;
    CBX_AUTO_DONE(buf) value;
    cbx_buf_init(&name, CBX_QUERY_BYTES_MAX);
    cbx_buf_init(&value, CBX_QUERY_BYTES_MAX);
    int failed = decode(cbx_str_sub(text, 0, at), &name, err);
    if (failed) {
        return failed;
    }
    failed = decode(cbx_str_sub(text, at + 1, text.len), &value, err);
    if (failed) {
        return failed;
    }
    if (equals == NULL || name.len == 0) {
        return cbx_fail(err, CBX_EINVAL, "found '%s', allowed is NAME=VALUE", name.p);
    }
    if (json_object_get(object, name.p) != NULL) {
        return cbx_fail(err, CBX_EINVAL, "'%s' is given twice, allowed is once", name.p);
    }
    json_object_set_new(object, name.p,
                        make_value(cbx_buf_str(&value), find_field(fields, count, name.p)));
    return 0;
}

int cbx_query_read(struct cbx_str query, const struct cbx_json_field *fields, size_t count,
                   void *into, json_t **out, struct cbx_err *err)
{
    if (query.len > CBX_QUERY_BYTES_MAX) {
        return cbx_fail(err, CBX_EINVAL, "%zu bytes, allowed are %d", query.len,
                        CBX_QUERY_BYTES_MAX);
    }
    CBX_AUTO_JSON object = json_object();
    for (size_t at = 0; query.len > 0 && at <= query.len;) {
        const char *end = at < query.len ? memchr(query.p + at, '&', query.len - at) : NULL;
        size_t next = end != NULL ? (size_t)(end - query.p) : query.len;
        int failed = add_parameter(cbx_str_sub(query, at, next), fields, count, object, err);
        if (failed) {
            return failed;
        }
        at = next + 1;
    }
    int failed = cbx_json_read(object, fields, count, into, err);
    if (!failed) {
        *out = cbx_steal(&object);
    }
    return failed;
}
