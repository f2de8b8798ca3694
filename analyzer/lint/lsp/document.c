/* SPDX-License-Identifier: MIT
 * Texts and positions of documents. */
#include "analyzer/lint/lsp/document.h"

/* The place behind the line end at `at`; `at` when there is none. */
static size_t skip_line_end(struct cbx_str text, size_t at)
{
    if (at < text.len && text.p[at] == '\r') {
        at++;
        return at + (at < text.len && text.p[at] == '\n');
    }
    return at + (at < text.len && text.p[at] == '\n');
}

static size_t end_of_line(struct cbx_str text, size_t at)
{
    while (at < text.len && text.p[at] != '\n' && text.p[at] != '\r') {
        at++;
    }
    return at;
}

static size_t start_of_line(struct cbx_str text, uint32_t line)
{
    size_t at = 0;
    for (; line > 0 && at < text.len; line--) {
        size_t end = end_of_line(text, at);
        at = skip_line_end(text, end);
        if (at == end) {
            return text.len;
        }
    }
    return line > 0 ? text.len : at;
}

/* The bytes of the character at `at`; of bytes that are no UTF-8, one. */
static size_t character_bytes(struct cbx_str text, size_t at)
{
    size_t n = cbx_utf8_bytes(text.p + at, text.len - at);
    return n > 0 ? n : 1;
}

static uint32_t units_of(size_t bytes, enum cbx_lsp_encoding encoding)
{
    if (encoding == CBX_LSP_UTF8) {
        return (uint32_t)bytes;
    }
    return bytes == 4 ? 2 : 1;
}

size_t cbx_lsp_offset(struct cbx_str text, struct cbx_lsp_position position,
                      enum cbx_lsp_encoding encoding)
{
    size_t at = start_of_line(text, position.line), end = end_of_line(text, at);
    uint32_t units = 0;
    while (at < end && units < position.character) {
        size_t bytes = character_bytes(text, at);
        units += units_of(bytes, encoding);
        at += bytes;
    }
    return at < end ? at : end;
}

struct cbx_str cbx_lsp_line(struct cbx_str text, uint32_t line)
{
    size_t at = start_of_line(text, line);
    return cbx_str_sub(text, at, end_of_line(text, at));
}

struct cbx_lsp_position cbx_lsp_position_of(struct cbx_str text, uint32_t line, uint32_t column,
                                            enum cbx_lsp_encoding encoding)
{
    struct cbx_lsp_position position = { line > 0 ? line - 1 : 0, 0 };
    struct cbx_str bytes = cbx_lsp_line(text, position.line);
    size_t at = 0;
    for (uint32_t i = 1; i < column && at < bytes.len; i++) {
        size_t n = character_bytes(bytes, at);
        position.character += units_of(n, encoding);
        at += n;
    }
    return position;
}

struct cbx_lsp_position cbx_lsp_position_at(struct cbx_str text, size_t offset,
                                            enum cbx_lsp_encoding encoding)
{
    struct cbx_lsp_position position = { 0, 0 };
    size_t start = 0;
    for (;;) {
        size_t end = end_of_line(text, start), next = skip_line_end(text, end);
        if (offset < next || next == end) {
            break;
        }
        start = next;
        position.line++;
    }
    while (start < offset && start < text.len) {
        size_t n = character_bytes(text, start);
        position.character += units_of(n, encoding);
        start += n;
    }
    return position;
}

bool cbx_lsp_position_read(const json_t *json, struct cbx_lsp_position *out)
{
    const json_t *line = json_object_get(json, "line");
    const json_t *character = json_object_get(json, "character");
    json_int_t l = json_integer_value(line), c = json_integer_value(character);
    bool valid = json_is_integer(line) && json_is_integer(character) && l >= 0 && c >= 0 &&
                 l <= INT32_MAX && c <= INT32_MAX;
    *out = valid ? (struct cbx_lsp_position){ (uint32_t)l, (uint32_t)c }
                 : (struct cbx_lsp_position){ 0, 0 };
    return valid;
}

static int set_text(struct cbx_buf *text, struct cbx_str before, struct cbx_str middle,
                    struct cbx_str after, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) next;
    cbx_buf_init(&next, CBX_LSP_TEXT_MAX);
    cbx_buf_add(&next, before);
    cbx_buf_add(&next, middle);
    cbx_buf_add(&next, after);
    if (next.overflow) {
        return cbx_fail(err, CBX_ETOOBIG, "a document of more than %d bytes", CBX_LSP_TEXT_MAX);
    }
    struct cbx_buf old = *text;
    *text = next;
    next = old;
    return 0;
}

int cbx_lsp_apply(struct cbx_buf *text, const json_t *change, enum cbx_lsp_encoding encoding,
                  struct cbx_err *err)
{
    const json_t *replacement = json_object_get(change, "text");
    const json_t *range = json_object_get(change, "range");
    struct cbx_str whole = cbx_buf_str(text), with = cbx_json_str(replacement);
    struct cbx_lsp_position start, end;
    if (!json_is_string(replacement)) {
        return cbx_fail(err, CBX_EINVAL, "a change without a text");
    }
    if (range == NULL) {
        return set_text(text, CBX_STR(""), with, CBX_STR(""), err);
    }
    if (!cbx_lsp_position_read(json_object_get(range, "start"), &start) ||
        !cbx_lsp_position_read(json_object_get(range, "end"), &end)) {
        return cbx_fail(err, CBX_EINVAL, "a change whose range is malformed");
    }
    size_t from = cbx_lsp_offset(whole, start, encoding), to = cbx_lsp_offset(whole, end, encoding);
    if (to < from) {
        return cbx_fail(err, CBX_EINVAL, "a change whose range ends before it begins");
    }
    return set_text(text, cbx_str_sub(whole, 0, from), with, cbx_str_sub(whole, to, whole.len),
                    err);
}

json_t *cbx_lsp_position_json(struct cbx_lsp_position position)
{
    return json_pack("{s:I,s:I}", "line", (json_int_t)position.line, "character",
                     (json_int_t)position.character);
}

json_t *cbx_lsp_range_json(struct cbx_lsp_position start, struct cbx_lsp_position end)
{
    return json_pack("{s:o,s:o}", "start", cbx_lsp_position_json(start), "end",
                     cbx_lsp_position_json(end));
}
