/* SPDX-License-Identifier: MIT
 * Reads Dockerfile and Containerfile: the shell code of RUN, CMD, ENTRYPOINT and HEALTHCHECK, as
 * shell text, as a JSON array of words, or as a here-document; the downloads of ADD. */
#include "analyzer/manifest/dockerfile_text.h"
#include "analyzer/manifest/documents/json_text.h"
#include "analyzer/manifest/manifest_internal.h"
#include "analyzer/manifest/readers.h"

#include "analyzer/facts/places.h"
#include "analyzer/filetype.h"
#include "policies/base/text/json.h"

#include <ctype.h>
#include <strings.h>

/* A folder that is not known: the files in it are in no other one. */
#define UNKNOWN_FOLDER "/?"

struct reading {
    struct cbx_dockerfile in;
    struct cbx_str folder; /* the present WORKDIR */
    struct cbx_arena *arena;
    struct cbx_manifest *out;
    struct cbx_err *err;
};

static int fail_at(struct reading *r, uint32_t place, const char *what)
{
    return cbx_manifest_fail(r->in.file, place, what, r->err);
}

/* Returns true for an array of JSON, which may go on over several lines between its words. */
static bool is_array_text(struct cbx_str file, struct cbx_dockerfile_line text)
{
    CBX_AUTO_DONE(buf) joined;
    cbx_buf_init(&joined, CBX_MANIFEST_MAX_BYTES);
    for (uint32_t at = text.start; at < text.end;) {
        uint32_t end = at + 1;
        if (file.p[at] == '"') {
            end = cbx_dockerfile_string_end(file, at, text.end);
            end += end < text.end;
        }
        struct cbx_str part = cbx_str_sub(file, at, end);
        bool string = part.p[0] == '"';
        if (string && memchr(part.p, '\n', part.len) != NULL) {
            return false;
        }
        if (string || (part.p[0] != '\\' && part.p[0] != '\n')) {
            cbx_buf_add(&joined, part);
        }
        at = end;
    }
    CBX_AUTO_JSON words = json_loadb(joined.p, joined.len, 0, NULL);
    return json_is_array(words);
}

/* Converts ["word", ...] to a command line, each word in single quotes. False if it is no such
 * array: then it is shell text. */
static bool take_words(struct reading *r, struct cbx_dockerfile_line text,
                       struct cbx_piece_maker *maker)
{
    if (!is_array_text(r->in.file, text)) {
        return false;
    }
    for (uint32_t at = text.start; at < text.end; at++) {
        if (r->in.file.p[at] != '"') {
            continue;
        }
        uint32_t end = cbx_dockerfile_string_end(r->in.file, at, text.end);
        CBX_AUTO_DONE(piece_maker) word;
        cbx_piece_maker_init(&word, r->arena, r->in.file);
        cbx_json_text_take(&word, (struct cbx_json_place){ at, end + 1 });
        cbx_piece_maker_put(maker, CBX_STR("'"), at);
        for (size_t i = 0; i < word.text.len; i++) {
            bool quote = word.text.p[i] == '\'';
            cbx_piece_maker_put(
                maker, quote ? CBX_STR("'\\''") : cbx_str_sub(cbx_buf_str(&word.text), i, i + 1),
                at);
        }
        cbx_piece_maker_put(maker, CBX_STR("' "), at);
        at = end;
    }
    return true;
}

/* Adds a piece of code that runs in the present folder. */
static int end_piece(struct reading *r, struct cbx_piece_maker *maker, const char *language)
{
    size_t before = r->out->piece_count;
    int failed = cbx_piece_maker_end(maker, language, r->out, r->err);
    if (!failed && r->out->piece_count > before) {
        r->out->pieces[before].folder = r->folder;
    }
    return failed;
}

/* Returns the interpreter that the words behind a here-document's name are: RUN <<EOF bash -e.
 * Without a language if they are another command. */
static struct cbx_filetype interpreter_of(struct reading *r, struct cbx_str words)
{
    for (size_t i = 0; i < words.len; i++) {
        if (!isalnum((unsigned char)words.p[i]) && strchr("_/.- ", words.p[i]) == NULL) {
            return (struct cbx_filetype){ 0 };
        }
    }
    if (words.len == 0) {
        return (struct cbx_filetype){ 0 };
    }
    return cbx_filetype_of_head(CBX_JOIN(r->arena, CBX_STR("#!/usr/bin/env "), words));
}

/* The body of a here-document is the program: RUN <<EOF. The words behind the name, or its first
 * line, may name another interpreter than the shell. */
static int take_script(struct reading *r, struct cbx_dockerfile_line body, struct cbx_filetype type)
{
    CBX_AUTO_DONE(piece_maker) maker;
    cbx_piece_maker_init(&maker, r->arena, r->in.file);
    if (type.lang == NULL && type.foreign.len == 0) {
        type = cbx_filetype_of_head(cbx_str_sub(r->in.file, body.start, body.end));
    }
    if (type.lang == NULL && type.foreign.len > 0) {
        return fail_at(r, body.start, "a program in a language without an analyzer");
    }
    if (body.end > body.start) {
        cbx_piece_maker_take(&maker, body.start, body.end);
    }
    return end_piece(r, &maker, type.lang != NULL ? type.lang->name : "shell");
}

/* Adds the lines of a command, from `at` in `line` on, to a piece; comments between them are
 * left out. */
static void take_lines(struct reading *r, uint32_t at, struct cbx_dockerfile_line line,
                       struct cbx_piece_maker *maker)
{
    for (;;) {
        bool more = cbx_dockerfile_continuation(r->in.file, line) < line.end;
        bool counts = !cbx_dockerfile_is_comment(r->in.file, line) &&
                      !cbx_dockerfile_is_blank(r->in.file, line);
        uint32_t feed = r->in.at > line.end ? r->in.at : line.end;
        if (at < feed && (counts || at > line.start)) {
            cbx_piece_maker_take(maker, at, feed);
        }
        if ((counts && !more) || r->in.at >= r->in.file.len) {
            return;
        }
        line = cbx_dockerfile_next_line(&r->in);
        at = line.start;
    }
}

/* Here-documents of a command belong to its shell text. */
static int take_heredocs(struct reading *r, uint32_t from, struct cbx_piece_maker *maker)
{
    uint32_t end = r->in.at;
    for (struct cbx_dockerfile_heredoc h = cbx_dockerfile_find_heredoc(r->in.file, from, end);
         h.word.len > 0 || h.odd; h = cbx_dockerfile_find_heredoc(r->in.file, h.behind, end)) {
        struct cbx_dockerfile_line body;
        uint32_t start = r->in.at;
        int failed = cbx_dockerfile_read_heredoc(&r->in, &h, &body, r->err);
        if (failed) {
            return failed;
        }
        if (maker != NULL) {
            cbx_piece_maker_take(maker, start, r->in.at);
        }
    }
    return 0;
}

/* Returns true if the text is an array of JSON after its lines are joined. */
static bool is_array(const struct cbx_buf *text)
{
    CBX_AUTO_DONE(buf) joined;
    cbx_buf_init(&joined, CBX_MANIFEST_MAX_BYTES);
    for (size_t i = 0; i < text->len; i++) {
        if (text->p[i] != '\\' && text->p[i] != '\n') {
            cbx_buf_add_char(&joined, text->p[i]);
        }
    }
    CBX_AUTO_JSON words = json_loadb(joined.p, joined.len, 0, NULL);
    return json_is_array(words);
}

/* `heredocs`: the instruction is RUN, the only one that has them. */
static int read_command(struct reading *r, uint32_t at, struct cbx_dockerfile_line line,
                        bool heredocs)
{
    CBX_AUTO_DONE(piece_maker) maker;
    cbx_piece_maker_init(&maker, r->arena, r->in.file);
    uint32_t behind;
    cbx_dockerfile_skip_flag_lines(&r->in, &at, &line);
    struct cbx_dockerfile_heredoc h = cbx_dockerfile_find_heredoc(r->in.file, at, line.end);
    struct cbx_filetype interpreter = { 0 };
    bool script = heredocs && h.word.len > 0 && h.start == at;
    if (script) {
        uint32_t rest = cbx_dockerfile_skip_blanks(r->in.file, h.behind, line.end);
        interpreter = interpreter_of(r, cbx_str_sub(r->in.file, rest, line.end));
        script = rest == line.end || interpreter.lang != NULL || interpreter.foreign.len > 0;
    }
    if (script) {
        struct cbx_dockerfile_line body;
        int failed = cbx_dockerfile_read_heredoc(&r->in, &h, &body, r->err);
        if (failed) {
            return failed;
        }
        return take_script(r, body, interpreter);
    }
    bool array = at < line.end && r->in.file.p[at] == '[';
    if (array && take_words(r, cbx_dockerfile_continued(&r->in, at, line, &behind), &maker)) {
        r->in.at = behind;
        return end_piece(r, &maker, "shell");
    }
    take_lines(r, at, line, &maker);
    if (array && is_array(&maker.text)) {
        return fail_at(r, at, "an array of words with comments between its lines is not read");
    }
    int failed = heredocs ? take_heredocs(r, at, &maker) : 0;
    if (failed) {
        return failed;
    }
    return end_piece(r, &maker, "shell");
}

/* Shells whose text the analyzer reads. */
static int read_shell(struct reading *r, uint32_t at, struct cbx_dockerfile_line line)
{
    at = cbx_dockerfile_skip_blanks(r->in.file, at, line.end);
    struct cbx_str json = cbx_str_sub(r->in.file, at, line.end);
    CBX_AUTO_JSON words = json_loadb(cbx_str_bytes(json), json.len, 0, NULL);
    struct cbx_str program = cbx_json_str(json_array_get(words, 0));
    struct cbx_str head = CBX_JOIN(r->arena, CBX_STR("#!"), program);
    struct cbx_filetype type = cbx_filetype_of_head(head);
    if (type.lang == NULL || type.lang->policy != CBX_SHELL) {
        return fail_at(r, line.start, "SHELL is none that is analyzed, allowed are sh and bash");
    }
    return 0;
}

/* Skips an instruction without code, with its continued lines and here-documents. */
static int skip_instruction(struct reading *r, struct cbx_dockerfile_line line, bool heredocs)
{
    uint32_t start = line.start;
    CBX_AUTO_DONE(piece_maker) none;
    cbx_piece_maker_init(&none, r->arena, r->in.file);
    take_lines(r, start, line, &none);
    return heredocs ? take_heredocs(r, start, NULL) : 0;
}

enum { ADD_WORDS_MAX = 16 };

/* Returns the text of a line as one word; empty if it has blanks, quotes or variables. */
static struct cbx_str plain_word(struct cbx_str file, uint32_t at, uint32_t end)
{
    while (end > at && isspace((unsigned char)file.p[end - 1])) {
        end--;
    }
    struct cbx_str word = cbx_str_sub(file, at, end);
    for (size_t i = 0; i < word.len; i++) {
        if (strchr(" \t$\"'\\", word.p[i]) != NULL) {
            return CBX_STR("");
        }
    }
    return word;
}

static void read_workdir(struct reading *r, uint32_t at, struct cbx_dockerfile_line line)
{
    struct cbx_str word =
        plain_word(r->in.file, cbx_dockerfile_skip_blanks(r->in.file, at, line.end), line.end);
    r->folder =
        word.len > 0 ? cbx_places_resolve(r->arena, r->folder, word) : CBX_STR(UNKNOWN_FOLDER);
}

/* Reads the words of ADD in [at, end), as words or as an array. Returns their number; 0 if there are
 * more than fit, or one that the shell would read as something else. */
static size_t read_add_words(struct cbx_str file, uint32_t at, uint32_t end,
                             struct cbx_dockerfile_line *words)
{
    size_t count = 0;
    bool array = at < end && file.p[at] == '[';
    while (at < end) {
        bool joins = file.p[at] == '\\' && (at + 1 == end || file.p[at + 1] == '\n');
        bool begins = array ? file.p[at] == '"' : !joins && !isspace((unsigned char)file.p[at]);
        if (!begins) {
            at += joins ? 2 : 1;
            continue;
        }
        uint32_t behind = array ? cbx_dockerfile_string_end(file, at, end)
                                : cbx_dockerfile_end_of_word(file, at, end);
        struct cbx_dockerfile_line word = { at + array, behind };
        struct cbx_str text = cbx_str_sub(file, word.start, word.end);
        bool odd = text.len == 0 || count == ADD_WORDS_MAX;
        for (size_t i = 0; i < text.len; i++) {
            odd |= memchr("\"'`\\(", text.p[i], 5) != NULL;
        }
        if (odd) {
            return 0;
        }
        words[count++] = word;
        at = behind + array;
    }
    return count;
}

static void put_quoted(struct cbx_piece_maker *maker, struct cbx_dockerfile_line word)
{
    cbx_piece_maker_put(maker, CBX_STR(" \""), word.start);
    cbx_piece_maker_take(maker, word.start, word.end);
    cbx_piece_maker_put(maker, CBX_STR("\""), word.end - 1);
}

/* Handles ADD https://HOST/FILE TARGET: it is the download that a command of the shell would be.
 * Docker itself compares a checksum that is given. */
static int read_add(struct reading *r, uint32_t at, struct cbx_dockerfile_line line)
{
    struct cbx_dockerfile ahead = r->in;
    struct cbx_dockerfile_line words[ADD_WORDS_MAX];
    uint32_t from = at, behind;
    CBX_AUTO_DONE(piece_maker) maker;
    cbx_piece_maker_init(&maker, r->arena, r->in.file);
    cbx_dockerfile_skip_flag_lines(&ahead, &at, &line);
    struct cbx_dockerfile_line text = cbx_dockerfile_continued(&ahead, at, line, &behind);
    struct cbx_str flags = cbx_str_sub(r->in.file, from, at);
    bool checked = flags.len > 0 && memmem(flags.p, flags.len, "--checksum", 10) != NULL;
    size_t count = checked ? 0 : read_add_words(r->in.file, text.start, text.end, words);
    for (size_t i = 0; i + 1 < count; i++) {
        struct cbx_str source = cbx_str_sub(r->in.file, words[i].start, words[i].end);
        struct cbx_dockerfile_line target = words[count - 1];
        bool folder = r->in.file.p[target.end - 1] == '/';
        bool remote = cbx_str_starts(source, CBX_STR("http://")) ||
                      cbx_str_starts(source, CBX_STR("https://"));
        if (remote) {
            cbx_piece_maker_put(&maker, folder ? CBX_STR("wget -P") : CBX_STR("curl -o"),
                                words[i].start);
            put_quoted(&maker, target);
            put_quoted(&maker, words[i]);
            cbx_piece_maker_put(&maker, CBX_STR("\n"), words[i].end - 1);
        }
    }
    return end_piece(r, &maker, "shell");
}

/* Reads an instruction that is no command; `at` is behind its word. */
static int read_other(struct reading *r, struct cbx_str word, uint32_t at,
                      struct cbx_dockerfile_line line)
{
    bool add = cbx_str_is_nocase(word, "ADD");
    if (cbx_str_is_nocase(word, "FROM")) {
        r->folder = CBX_STR("/");
    } else if (cbx_str_is_nocase(word, "WORKDIR")) {
        read_workdir(r, at, line);
    } else if (add) {
        int failed = read_add(r, at, line);
        if (failed) {
            return failed;
        }
    }
    return skip_instruction(r, line, add || cbx_str_is_nocase(word, "COPY"));
}

static int read_instruction(struct reading *r, uint32_t at, struct cbx_dockerfile_line line)
{
    static const char *const commands[] = { "RUN", "CMD", "ENTRYPOINT" };
    uint32_t behind = cbx_dockerfile_skip_word(r->in.file, at, line.end);
    struct cbx_str word = cbx_str_sub(r->in.file, at, behind);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (cbx_str_is_nocase(word, commands[i])) {
            bool run = i == 0;
            return read_command(r, behind, line, run);
        }
    }
    if (cbx_str_is_nocase(word, "SHELL")) {
        return read_shell(r, behind, line);
    }
    bool prefix = cbx_str_is_nocase(word, "ONBUILD") || cbx_str_is_nocase(word, "HEALTHCHECK");
    if (prefix) {
        uint32_t next = behind;
        cbx_dockerfile_skip_flag_lines(&r->in, &next, &line);
        struct cbx_dockerfile_heredoc h = cbx_dockerfile_find_heredoc(r->in.file, next, line.end);
        if (h.word.len > 0 || h.odd) {
            return fail_at(r, h.start, "a here-document of this instruction is not read");
        }
        if (next < line.end && cbx_dockerfile_continuation(r->in.file, line) != next) {
            return read_instruction(r, cbx_dockerfile_skip_blanks(r->in.file, next, line.end),
                                    line);
        }
        return fail_at(r, at, "an instruction without its command");
    }
    line.start = at;
    return read_other(r, word, behind, line);
}

/* Before anything else, `# escape=` chooses another character to continue lines. */
static int check_directives(struct reading *r)
{
    struct cbx_dockerfile ahead = r->in;
    while (ahead.at < ahead.file.len) {
        struct cbx_dockerfile_line line = cbx_dockerfile_next_line(&ahead);
        if (!cbx_dockerfile_is_comment(ahead.file, line)) {
            return 0;
        }
        uint32_t at = cbx_dockerfile_skip_blanks(ahead.file, line.start, line.end) + 1;
        at = cbx_dockerfile_skip_blanks(ahead.file, at, line.end);
        struct cbx_str text = cbx_str_sub(ahead.file, at, line.end);
        if (text.len > 6 && strncasecmp(text.p, "escape", 6) == 0 &&
            memchr(text.p, '`', text.len) != NULL) {
            return fail_at(r, line.start, "another escape character is not read");
        }
    }
    return 0;
}

int cbx_manifest_read_dockerfile(struct cbx_str text, struct cbx_arena *arena,
                                 struct cbx_manifest *out, struct cbx_err *err)
{
    struct reading r = {
        .in.file = text, .folder = CBX_STR("/"), .arena = arena, .out = out, .err = err
    };
    *out = (struct cbx_manifest){ .text = text, .image = true };
    int failed = check_directives(&r);
    while (!failed && r.in.at < text.len) {
        struct cbx_dockerfile_line line = cbx_dockerfile_next_line(&r.in);
        if (!cbx_dockerfile_is_blank(text, line) && !cbx_dockerfile_is_comment(text, line)) {
            failed =
                read_instruction(&r, cbx_dockerfile_skip_blanks(text, line.start, line.end), line);
        }
    }
    return failed;
}
