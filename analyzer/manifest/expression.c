/* SPDX-License-Identifier: MIT
 * Expressions of GitHub Actions and GitLab CI in code. */
#include "analyzer/manifest/workflow.h"

#include <ctype.h>

static const struct cbx_str strangers[] = {
#define CBX_STRANGERS_TEXT(glob) { glob, sizeof(glob) - 1 },
#include "analyzer/manifest/workflow.def"
#undef CBX_STRANGERS_TEXT
};

static bool is_of_context(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.' || c == '*' || c == '[' ||
           c == ']';
}

static bool is_strangers(struct cbx_str context)
{
    for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++) {
        if (cbx_str_glob(strangers[i], context)) {
            return true;
        }
    }
    return false;
}

/* Writes a context in small letters and with dots alone: github.event.commits[0].message as
 * github.event.commits.0.message, and github['event'] as github.event. */
static struct cbx_str take_context(struct cbx_str text, size_t *at, char *out, size_t size)
{
    size_t n = 0;
    for (; *at < text.len; ++*at) {
        char c = text.p[*at];
        bool bracket = c == '[' || c == ']' || c == '\'';
        bool inside =
            *at > 0 && text.p[*at] == '\'' &&
            (text.p[*at - 1] == '[' || (*at + 1 < text.len && text.p[*at + 1] == ']' && n > 0));
        if (!is_of_context(c) && !inside) {
            break;
        }
        char put = c == '[' ? '.' : (char)tolower((unsigned char)c);
        bool skip = bracket && c != '[';
        if (!skip && n + 1 < size) {
            out[n++] = put;
        }
    }
    return (struct cbx_str){ out, n };
}

/* Returns true if a context in the expression is text of others. Texts in quotes are no
 * contexts, except names in brackets. */
static bool has_strangers_text(struct cbx_str expression)
{
    char name[256];
    for (size_t at = 0; at < expression.len;) {
        char c = expression.p[at];
        if (c == '\'') {
            const char *end = memchr(expression.p + at + 1, '\'', expression.len - at - 1);
            at = end != NULL ? (size_t)(end - expression.p) + 1 : expression.len;
            continue;
        }
        if (!isalpha((unsigned char)c)) {
            at++;
            continue;
        }
        if (is_strangers(take_context(expression, &at, name, sizeof(name)))) {
            return true;
        }
    }
    return false;
}

/* Returns the end of the expression that begins at `at`, behind its mark; 0 if it has none.
 * Marks within quotes do not count. */
static size_t end_of(struct cbx_str text, size_t at, const struct cbx_expressions *e)
{
    size_t mark = strlen(e->end);
    bool quoted = false;
    for (size_t i = at; i + mark <= text.len; i++) {
        quoted ^= text.p[i] == '\'';
        if (!quoted && memcmp(text.p + i, e->end, mark) == 0) {
            return i + mark;
        }
    }
    return 0;
}

static int note_strangers(struct cbx_piece_maker *maker, size_t start, size_t end,
                          struct cbx_manifest *manifest, struct cbx_err *err)
{
    struct cbx_str text = cbx_str_sub(cbx_buf_str(&maker->text), start, end);
    struct cbx_manifest_word word = {
        .role = CBX_WORD_CODE,
        .text = cbx_arena_copy(maker->arena, text),
        .start = cbx_piece_maker_place(maker, (uint32_t)start),
        .end = cbx_piece_maker_place(maker, (uint32_t)end - 1) + 1,
    };
    if (word.text.p == NULL) {
        return cbx_fail(err, CBX_ETOOBIG, "out of the analysis's memory");
    }
    return cbx_manifest_add_word(manifest, maker->arena, &word, err);
}

int cbx_workflow_end_piece(struct cbx_piece_maker *maker, const char *language,
                           const struct cbx_expressions *e, struct cbx_manifest *manifest,
                           struct cbx_err *err)
{
    struct cbx_str text = cbx_buf_str(&maker->text);
    size_t mark = strlen(e->begin);
    CBX_AUTO_DONE(piece_maker) out;
    cbx_piece_maker_init(&out, maker->arena, maker->file);
    bool ended = true; /* no expression follows one without an end: the service refuses the text */
    for (size_t at = 0; at < text.len;) {
        uint32_t place = cbx_piece_maker_place(maker, (uint32_t)at);
        bool begins = ended && at + mark <= text.len && memcmp(text.p + at, e->begin, mark) == 0;
        size_t end = begins ? end_of(text, at + mark, e) : 0;
        ended = ended && (!begins || end > 0);
        if (end == 0) {
            cbx_piece_maker_put(&out, cbx_str_sub(text, at, at + 1), place);
            at++;
            continue;
        }
        cbx_piece_maker_put(&out, cbx_str_of(e->stands_for), place);
        struct cbx_str expression = cbx_str_sub(text, at + mark, end - strlen(e->end));
        int failed = 0;
        if (e->strangers && has_strangers_text(expression)) {
            failed = note_strangers(maker, at, end, manifest, err);
        }
        if (failed) {
            return failed;
        }
        at = end;
    }
    size_t before = manifest->piece_count;
    int failed = cbx_piece_maker_end(&out, language, manifest, err);
    if (!failed && manifest->piece_count > before) {
        manifest->pieces[before].completed = true;
    }
    return failed;
}
