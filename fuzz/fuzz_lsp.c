/* SPDX-License-Identifier: MIT
 * Messages of an editor: a stream is read frame by frame; bodies with "changes" are applied to a text, in both
 * encodings, and a "hint" becomes edits whose places lie in the text and do not overlap. */
#include "analyzer/lint/lsp/document.h"
#include "analyzer/lint/lsp/fixes.h"
#include "analyzer/lint/lsp/lsp_frame.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void check_places(struct cbx_str text, enum cbx_lsp_encoding encoding)
{
    for (uint32_t line = 0; line < 4; line++) {
        for (uint32_t character = 0; character < 4; character++) {
            struct cbx_lsp_position p = { line, character };
            size_t offset = cbx_lsp_offset(text, p, encoding);
            check(offset <= text.len);
            struct cbx_lsp_position back = cbx_lsp_position_at(text, offset, encoding);
            check(cbx_lsp_offset(text, back, encoding) == offset);
        }
    }
}

static void check_fixes(struct cbx_str text, const json_t *message)
{
    struct cbx_lsp_edit edits[CBX_LSP_EDITS_MAX];
    struct cbx_lsp_lines lines = { (uint32_t)json_integer_value(json_object_get(message, "first")),
                                   (uint32_t)json_integer_value(json_object_get(message, "last")) };
    bool whole;
    size_t count =
        cbx_lsp_fixes(text, lines, cbx_json_str(json_object_get(message, "hint")), edits, &whole);
    for (size_t i = 0; i < count; i++) {
        check(edits[i].start <= edits[i].end && edits[i].end <= text.len);
        for (size_t j = 0; j < i; j++) {
            check(edits[i].end <= edits[j].start || edits[j].end <= edits[i].start);
        }
    }
}

static void take_message(struct cbx_str body)
{
    CBX_AUTO_JSON message = NULL;
    struct cbx_err err;
    if (cbx_json_parse(body, CBX_LSP_BODY_MAX, &message, &err) != 0) {
        return;
    }
    for (int encoding = CBX_LSP_UTF16; encoding <= CBX_LSP_UTF8; encoding++) {
        CBX_AUTO_DONE(buf) text;
        size_t i;
        const json_t *change;
        cbx_buf_init(&text, CBX_LSP_TEXT_MAX);
        json_array_foreach(json_object_get(message, "changes"), i, change)
        {
            (void)cbx_lsp_apply(&text, change, (enum cbx_lsp_encoding)encoding, &err);
        }
        check_places(cbx_buf_str(&text), (enum cbx_lsp_encoding)encoding);
        check_fixes(cbx_buf_str(&text), message);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cbx_str in = { .p = (const char *)data, .len = size };
    struct cbx_str body;
    size_t used;
    struct cbx_err err;
    while (cbx_lsp_frame_next(in, &body, &used, &err) == 1) {
        check(used <= in.len && body.len <= used);
        take_message(body);
        in = cbx_str_sub(in, used, in.len);
    }
    return 0;
}
