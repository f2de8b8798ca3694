/* SPDX-License-Identifier: MIT
 * Content-Disposition of a file. */
#include "gateway/front/http/attachment.h"

#include "policies/base/text/hex.h"

#include <string.h>

static bool is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns the part after the last '/': a client that uses a path as a name must not receive one. */
static struct cbx_str name_of(struct cbx_str path)
{
    const char *slash = path.len > 0 ? memrchr(path.p, '/', path.len) : NULL;
    size_t from = slash != NULL ? (size_t)(slash + 1 - path.p) : 0;
    struct cbx_str name = cbx_str_sub(path, from, path.len);
    bool none = name.len == 0 || cbx_str_is(name, ".") || cbx_str_is(name, "..");
    return none ? CBX_STR("file") : name;
}

/* A backslash separates the names of a path on some clients. */
static bool is_unsafe(char c)
{
    unsigned char byte = (unsigned char)c;
    return byte < 0x20 || byte == 0x7F || c == '\\';
}

/* True for characters in a quoted string. Some clients decode '%' there. */
static bool is_quotable(char c)
{
    return is_alphanumeric(c) || (c != '\0' && strchr(" ._-+=@,()[]~", c) != NULL);
}

/* attr-char of RFC 8187. */
static bool is_attribute(char c)
{
    return is_alphanumeric(c) || (c != '\0' && strchr("!#$&+-.^_`|~", c) != NULL);
}

static void add_encoded(struct cbx_str name, struct cbx_buf *out)
{
    cbx_buf_add_cstr(out, "; filename*=UTF-8''");
    for (size_t i = 0; i < name.len; i++) {
        char c = is_unsafe(name.p[i]) ? '_' : name.p[i];
        if (is_attribute(c)) {
            cbx_buf_add_char(out, c);
        } else {
            cbx_buf_add_char(out, '%');
            cbx_buf_add_char(out, cbx_hex_digits[(unsigned char)c >> 4]);
            cbx_buf_add_char(out, cbx_hex_digits[(unsigned char)c & 15]);
        }
    }
}

void cbx_http_attachment(struct cbx_str path, struct cbx_buf *out)
{
    struct cbx_str name = name_of(path);
    bool plain = true;
    cbx_buf_add_cstr(out, "attachment; filename=\"");
    for (size_t i = 0; i < name.len; i++) {
        bool quotable = is_quotable(name.p[i]);
        cbx_buf_add_char(out, quotable ? name.p[i] : '_');
        plain = plain && quotable;
    }
    cbx_buf_add_char(out, '"');
    if (!plain) {
        add_encoded(name, out);
    }
}
