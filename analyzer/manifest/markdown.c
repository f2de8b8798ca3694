/* SPDX-License-Identifier: MIT
 * Reads documents in Markdown, and skills of agents (SKILL.md): code in fenced blocks. A skill
 * also has commands that run before an agent reads it: the commands of hooks in its front matter,
 * and the commands behind "!". */
#include "analyzer/manifest/documents/doc.h"
#include "analyzer/manifest/fences.h"
#include "analyzer/manifest/readers.h"

#include "analyzer/filetype.h"
#include "policies/base/array.h"

#include <ctype.h>

enum form { PLAIN, PROMPTS };

static const struct fence_row {
    const char *word, *language;
    enum form form;
} rows[] = {
#define CBX_FENCE(word, language, form) { word, language, form },
#include "analyzer/manifest/markdown.def"
#undef CBX_FENCE
};

struct reading {
    struct cbx_str text;
    struct cbx_arena *arena;
    struct cbx_manifest *out;
    struct cbx_err *err;
    bool skill;
    /* the block that is being read */
    const struct fence_row *row; /* NULL: a language that is not judged */
    struct cbx_range *lines;
    size_t count, size;
};

/* --- blocks ----------------------------------------------------------------------------------- */

/* Returns the first word: "python", "{python}", "js{1,3}", "py:name.py". */
static struct cbx_str language_of(struct cbx_str info, char *out, size_t size)
{
    size_t at = 0, n = 0;
    while (at < info.len && strchr(" \t{.", info.p[at]) != NULL) {
        at++;
    }
    for (; at < info.len && n < size; at++) {
        char c = info.p[at];
        if (!isalnum((unsigned char)c) && strchr("+-#_!", c) == NULL) {
            break;
        }
        out[n++] = (char)tolower((unsigned char)c);
    }
    return (struct cbx_str){ out, n };
}

static const struct fence_row *find_row(struct cbx_str word)
{
    static const struct fence_row command = { "!", "shell", PLAIN };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (cbx_str_is(word, rows[i].word)) {
            return &rows[i];
        }
    }
    return cbx_str_is(word, "!") ? &command : NULL;
}

static int begin_block(void *context, struct cbx_str info, struct cbx_range content)
{
    struct reading *r = context;
    char word[32];
    struct cbx_str language = language_of(info, word, sizeof(word));
    (void)content;
    r->row = find_row(language);
    r->count = 0;
    struct cbx_filetype type = cbx_filetype_of_word(language);
    if (r->row == NULL && r->skill && type.foreign.len > 0) {
        return cbx_manifest_add_skip(r->out, r->arena, CBX_SKIPPED_FOREIGN, type.foreign, r->err);
    }
    return 0;
}

static int keep_line(void *context, struct cbx_range content)
{
    struct reading *r = context;
    if (r->row == NULL) {
        return 0;
    }
    if (!CBX_ARRAY_RESERVE(r->arena, r->lines, r->count, &r->size, 1, CBX_MANIFEST_MAX_BYTES)) {
        return cbx_fail(r->err, CBX_ETOOBIG, "out of the analysis's memory");
    }
    r->lines[r->count++] = content;
    return 0;
}

/* Returns the bytes of the prompt at the beginning of the line; 0 if there is none. `more`: the
 * prompt continues the code of the line before. */
static uint32_t prompt_bytes(const struct reading *r, struct cbx_range line, bool more)
{
    static const struct {
        const char *first, *more;
    } python = { ">>>", "..." }, shell = { "$", ">" };
    struct cbx_str text = cbx_str_sub(r->text, line.start, line.end);
    bool is_shell = strcmp(r->row->language, "shell") == 0;
    const char *first = is_shell ? shell.first : python.first;
    const char *other = is_shell ? shell.more : python.more;
    struct cbx_str prompt = cbx_str_of(more ? other : first);
    if (!cbx_str_starts(text, prompt)) {
        return 0;
    }
    bool alone = text.len == prompt.len && !is_shell;
    bool blank = text.len > prompt.len && text.p[prompt.len] == ' ';
    if (!alone && !blank) {
        return 0;
    }
    return (uint32_t)prompt.len + blank;
}

static bool has_prompts(const struct reading *r)
{
    for (size_t i = 0; i < r->count; i++) {
        if (prompt_bytes(r, r->lines[i], false) > 0) {
            return true;
        }
    }
    return false;
}

static bool ends_in_backslash(const struct reading *r, struct cbx_range line)
{
    return line.end > line.start && r->text.p[line.end - 1] == '\\';
}

static void take_line(const struct reading *r, struct cbx_piece_maker *maker, struct cbx_range line)
{
    uint32_t feed = line.end < r->text.len ? line.end + 1 : line.end;
    cbx_piece_maker_take(maker, line.start, feed);
}

/* Keeps the lines behind prompts, and their continuations; the others are output. */
static void take_session(const struct reading *r, struct cbx_piece_maker *maker)
{
    bool inside = false, continued = false;
    for (size_t i = 0; i < r->count; i++) {
        struct cbx_range line = r->lines[i];
        uint32_t first = prompt_bytes(r, line, false);
        uint32_t more = inside && first == 0 ? prompt_bytes(r, line, true) : 0;
        inside = first > 0 || more > 0 || continued;
        if (!inside) {
            continue;
        }
        continued = ends_in_backslash(r, line);
        line.start += first > 0 ? first : more;
        take_line(r, maker, line);
    }
}

static int end_block(void *context)
{
    struct reading *r = context;
    if (r->row == NULL) {
        return 0;
    }
    CBX_AUTO_DONE(piece_maker) maker;
    cbx_piece_maker_init(&maker, r->arena, r->text);
    if (r->row->form == PROMPTS && has_prompts(r)) {
        take_session(r, &maker);
    } else {
        for (size_t i = 0; i < r->count; i++) {
            take_line(r, &maker, r->lines[i]);
        }
    }
    return cbx_piece_maker_end(&maker, r->row->language, r->out, r->err);
}

/* --- commands of skills ----------------------------------------------------------------------- */

/* !`command` runs before the agent reads the line. */
static int read_text(void *context, struct cbx_range line)
{
    struct reading *r = context;
    struct cbx_str text = cbx_str_sub(r->text, line.start, line.end);
    size_t at = 0;
    while (r->skill && at + 2 < text.len) {
        const char *mark = memmem(text.p + at, text.len - at, "!`", 2);
        size_t from = mark != NULL ? (size_t)(mark - text.p) + 2 : text.len;
        const char *end = memchr(text.p + from, '`', text.len - from);
        if (mark == NULL || end == NULL) {
            return 0;
        }
        at = (size_t)(end - text.p);
        CBX_AUTO_DONE(piece_maker) maker;
        cbx_piece_maker_init(&maker, r->arena, r->text);
        cbx_piece_maker_take(&maker, line.start + (uint32_t)from, line.start + (uint32_t)at);
        int failed = 0;
        if (at > from) {
            failed = cbx_piece_maker_end(&maker, "shell", r->out, r->err);
        }
        if (failed) {
            return failed;
        }
        at++;
    }
    return 0;
}

static int read_hook(void *context, const struct cbx_doc_node *command)
{
    struct reading *r = context;
    if (command->kind != CBX_DOC_TEXT) {
        return 0;
    }
    CBX_AUTO_DONE(piece_maker) maker;
    cbx_piece_maker_init(&maker, r->arena, r->text);
    cbx_doc_take(&maker, command);
    return cbx_piece_maker_end(&maker, "shell", r->out, r->err);
}

/* Returns the place behind the front matter: lines of YAML between two lines "---" at the
 * beginning. */
static uint32_t behind_front_matter(struct cbx_str text, struct cbx_range *yaml)
{
    static const char mark[] = "\n---";
    if (!cbx_str_starts(text, CBX_STR("---\n"))) {
        return 0;
    }
    for (size_t from = 3; from < text.len;) {
        const char *end = memmem(text.p + from, text.len - from, mark, sizeof(mark) - 1);
        if (end == NULL) {
            return 0;
        }
        size_t behind = (size_t)(end - text.p) + sizeof(mark) - 1;
        while (behind < text.len && (text.p[behind] == ' ' || text.p[behind] == '\t')) {
            behind++;
        }
        if (behind == text.len || text.p[behind] == '\n') {
            *yaml = (struct cbx_range){ 4, (uint32_t)(end - text.p) + 1 };
            return (uint32_t)behind;
        }
        from = (size_t)(end - text.p) + 1;
    }
    return 0;
}

/* People also write front matter that is no YAML, and agents read its lines. */
static int read_front_matter(struct reading *r, struct cbx_range yaml)
{
    struct cbx_doc doc;
    struct cbx_err ignored = { 0 };
    /* the first line of the file, a document mark, is read too, so that places stay places in
     * the file */
    struct cbx_str front = cbx_str_sub(r->text, 0, yaml.end);
    if (yaml.end <= yaml.start) {
        return 0;
    }
    if (cbx_doc_read_yaml(front, r->arena, &doc, &ignored) != 0) {
        return cbx_manifest_add_skip(r->out, r->arena, CBX_SKIPPED_FRAGMENT, CBX_STR("YAML"),
                                     r->err);
    }
    if (doc.root == NULL || doc.root->kind != CBX_DOC_MAP) {
        return 0;
    }
    const struct cbx_doc_node *hooks = cbx_doc_get(doc.root, "hooks");
    if (hooks != NULL && hooks->kind == CBX_DOC_MAP) {
        return cbx_doc_each(&doc, "hooks.*[].hooks[].command", read_hook, r, r->err);
    }
    return 0;
}

static int read_document(struct cbx_str text, struct cbx_arena *arena, bool skill,
                         struct cbx_manifest *out, struct cbx_err *err)
{
    struct reading r = { .text = text, .arena = arena, .out = out, .err = err, .skill = skill };
    struct cbx_range yaml = { 0 };
    *out = (struct cbx_manifest){ .text = text,
                                  .code = skill ? CBX_MANIFEST_SKILL : CBX_MANIFEST_DOCUMENT };
    uint32_t from = behind_front_matter(text, &yaml);
    int failed = skill ? read_front_matter(&r, yaml) : 0;
    if (failed) {
        return failed;
    }
    const struct cbx_fence_sink sink = { begin_block, keep_line, end_block, read_text, &r };
    return cbx_fences_read(text, from, &sink);
}

int cbx_manifest_read_markdown(struct cbx_str text, struct cbx_arena *arena,
                               struct cbx_manifest *out, struct cbx_err *err)
{
    return read_document(text, arena, false, out, err);
}

int cbx_manifest_read_skill(struct cbx_str text, struct cbx_arena *arena, struct cbx_manifest *out,
                            struct cbx_err *err)
{
    return read_document(text, arena, true, out, err);
}
