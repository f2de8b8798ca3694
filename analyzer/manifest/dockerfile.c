/* SPDX-License-Identifier: MIT
 * Reads Dockerfile and Containerfile: the shell code of RUN, CMD, ENTRYPOINT and HEALTHCHECK, as
 * shell text, as a JSON array of words, or as a here-document; the downloads of ADD. */
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
    struct cbx_str file;
    uint32_t at;           /* start of the next line */
    struct cbx_str folder; /* the present WORKDIR */
    struct cbx_arena *arena;
    struct cbx_manifest *out;
    struct cbx_err *err;
};

/* Returns a line without its line feed. */
struct line {
    uint32_t start, end;
};

static struct line next_line(struct reading *r)
{
    const char *from = r->file.p + r->at;
    const char *newline = memchr(from, '\n', r->file.len - r->at);
    struct line line = { r->at, newline != NULL ? (uint32_t)(newline - r->file.p)
                                                : (uint32_t)r->file.len };
    r->at = newline != NULL ? line.end + 1 : line.end;
    return line;
}

static uint32_t skip_blanks(struct cbx_str file, uint32_t at, uint32_t end)
{
    while (at < end && (file.p[at] == ' ' || file.p[at] == '\t')) {
        at++;
    }
    return at;
}

static uint32_t skip_word(struct cbx_str file, uint32_t at, uint32_t end)
{
    while (at < end && file.p[at] != ' ' && file.p[at] != '\t') {
        at++;
    }
    return at;
}

static bool is_comment(struct cbx_str file, struct line line)
{
    uint32_t at = skip_blanks(file, line.start, line.end);
    return at < line.end && file.p[at] == '#';
}

static bool is_blank(struct cbx_str file, struct line line)
{
    return skip_blanks(file, line.start, line.end) == line.end;
}

/* Returns the place of the backslash that continues the line; the line's end if there is none. */
static uint32_t continuation(struct cbx_str file, struct line line)
{
    uint32_t end = line.end;
    while (end > line.start && (file.p[end - 1] == ' ' || file.p[end - 1] == '\t')) {
        end--;
    }
    return end > line.start && file.p[end - 1] == '\\' ? end - 1 : line.end;
}

static int fail_at(struct reading *r, uint32_t place, const char *what)
{
    return cbx_manifest_fail(r->file, place, what, r->err);
}

/* --- here-documents --------------------------------------------------------------------------- */

/* A word "<<NAME" or "<<-NAME"; `word` is empty if there is none. */
struct heredoc {
    struct cbx_str word;
    bool tabs; /* leading tabs are removed */
    bool odd;  /* a form of the name that is not supported */
    uint32_t start, behind;
};

/* Returns the end of the shell word that begins at `at`, as Docker splits them: at blanks
 * outside of quotes. */
static uint32_t end_of_word(struct cbx_str file, uint32_t at, uint32_t end)
{
    char quote = '\0';
    for (; at < end; at++) {
        char c = file.p[at];
        bool blank = c == ' ' || c == '\t' || c == '\n';
        if (quote == '\0' && blank) {
            return at;
        }
        if (c == '\\' && quote != '\'') {
            at++;
        } else if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
        } else if (c == quote) {
            quote = '\0';
        }
    }
    return end;
}

static struct heredoc read_word(struct cbx_str file, uint32_t at, uint32_t end)
{
    struct heredoc h = { .start = at, .behind = end };
    while (at < end && isdigit((unsigned char)file.p[at])) {
        at++;
    }
    if (at + 2 >= end || file.p[at] != '<' || file.p[at + 1] != '<' || file.p[at + 2] == '<') {
        return h;
    }
    at += 2;
    h.tabs = file.p[at] == '-';
    struct cbx_str name = cbx_str_sub(file, at + h.tabs, end);
    bool quoted = name.len > 2 && (name.p[0] == '"' || name.p[0] == '\'') &&
                  name.p[name.len - 1] == name.p[0];
    h.word = quoted ? cbx_str_sub(name, 1, name.len - 1) : name;
    h.odd = h.word.len == 0;
    for (size_t i = 0; i < h.word.len; i++) {
        h.odd |= !isalnum((unsigned char)h.word.p[i]) && h.word.p[i] != '_';
    }
    return h;
}

static struct heredoc find_heredoc(struct cbx_str file, uint32_t at, uint32_t end)
{
    struct heredoc none = { 0 };
    while (at < end) {
        uint32_t behind = end_of_word(file, at, end);
        struct heredoc h = read_word(file, at, behind);
        if (h.word.len > 0 || h.odd) {
            return h;
        }
        at = behind > at ? behind : at + 1;
    }
    return none;
}

/* Moves behind the line that ends a here-document; *body is the text before it. */
static int read_heredoc(struct reading *r, const struct heredoc *h, struct line *body)
{
    *body = (struct line){ r->at, r->at };
    if (h->odd) {
        return fail_at(r, h->start, "a here-document whose name is not of letters and digits");
    }
    while (r->at < r->file.len) {
        struct line line = next_line(r);
        uint32_t start = line.start;
        while (h->tabs && start < line.end && r->file.p[start] == '\t') {
            start++;
        }
        if (cbx_str_equal(cbx_str_sub(r->file, start, line.end), h->word)) {
            body->end = line.start;
            return 0;
        }
    }
    return fail_at(r, h->start, "a here-document without an end");
}

/* --- instructions ----------------------------------------------------------------------------- */

/* Returns the end of the string of JSON that begins at `at`: its closing quote, or `end`. */
static uint32_t string_end(struct cbx_str file, uint32_t at, uint32_t end)
{
    uint32_t i = at + 1;
    while (i < end && file.p[i] != '"') {
        i += file.p[i] == '\\' ? 2 : 1;
    }
    return i < end ? i : end;
}

/* Returns true for an array of JSON, which may go on over several lines between its words. */
static bool is_array_text(struct cbx_str file, struct line text)
{
    CBX_AUTO_DONE(buf) joined;
    cbx_buf_init(&joined, CBX_MANIFEST_MAX_BYTES);
    for (uint32_t at = text.start; at < text.end;) {
        uint32_t end = at + 1;
        if (file.p[at] == '"') {
            end = string_end(file, at, text.end);
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
static bool take_words(struct reading *r, struct line text, struct cbx_piece_maker *maker)
{
    if (!is_array_text(r->file, text)) {
        return false;
    }
    for (uint32_t at = text.start; at < text.end; at++) {
        if (r->file.p[at] != '"') {
            continue;
        }
        uint32_t end = string_end(r->file, at, text.end);
        CBX_AUTO_DONE(piece_maker) word;
        cbx_piece_maker_init(&word, r->arena, r->file);
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

/* --name=value words before the command. */
static uint32_t skip_flags(struct cbx_str file, uint32_t at, uint32_t end)
{
    at = skip_blanks(file, at, end);
    while (at + 1 < end && file.p[at] == '-' && file.p[at + 1] == '-') {
        at = skip_blanks(file, skip_word(file, at, end), end);
    }
    return at;
}

/* Skips --name=value words, and the lines that end behind them: the command may begin in a further
 * line. *line is the line that has *at. */
static void skip_flag_lines(struct reading *r, uint32_t *at, struct line *line)
{
    for (;;) {
        uint32_t behind = continuation(r->file, *line);
        *at = skip_flags(r->file, *at, line->end);
        bool ends = behind < line->end && (*at == behind || *at == line->end);
        if (!ends || r->at >= r->file.len) {
            return;
        }
        do { /* comments and empty lines count for nothing */
            *line = next_line(r);
        } while (r->at < r->file.len && (is_comment(r->file, *line) || is_blank(r->file, *line)));
        *at = line->start;
    }
}

/* Returns the text from `at` in `line` to the end of its last continued line; *behind is the start
 * of the line after it. */
static struct line continued(const struct reading *r, uint32_t at, struct line line,
                             uint32_t *behind)
{
    struct reading ahead = *r;
    while (continuation(r->file, line) < line.end && ahead.at < r->file.len) {
        line = next_line(&ahead);
    }
    *behind = ahead.at;
    return (struct line){ at, line.end };
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
static int take_script(struct reading *r, struct line body, struct cbx_filetype type)
{
    CBX_AUTO_DONE(piece_maker) maker;
    cbx_piece_maker_init(&maker, r->arena, r->file);
    if (type.lang == NULL && type.foreign.len == 0) {
        type = cbx_filetype_of_head(cbx_str_sub(r->file, body.start, body.end));
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
static void take_lines(struct reading *r, uint32_t at, struct line line,
                       struct cbx_piece_maker *maker)
{
    for (;;) {
        bool more = continuation(r->file, line) < line.end;
        bool counts = !is_comment(r->file, line) && !is_blank(r->file, line);
        uint32_t feed = r->at > line.end ? r->at : line.end;
        if (at < feed && (counts || at > line.start)) {
            cbx_piece_maker_take(maker, at, feed);
        }
        if ((counts && !more) || r->at >= r->file.len) {
            return;
        }
        line = next_line(r);
        at = line.start;
    }
}

/* Here-documents of a command belong to its shell text. */
static int take_heredocs(struct reading *r, uint32_t from, struct cbx_piece_maker *maker)
{
    uint32_t end = r->at;
    for (struct heredoc h = find_heredoc(r->file, from, end); h.word.len > 0 || h.odd;
         h = find_heredoc(r->file, h.behind, end)) {
        struct line body;
        uint32_t start = r->at;
        int failed = read_heredoc(r, &h, &body);
        if (failed) {
            return failed;
        }
        if (maker != NULL) {
            cbx_piece_maker_take(maker, start, r->at);
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
static int read_command(struct reading *r, uint32_t at, struct line line, bool heredocs)
{
    CBX_AUTO_DONE(piece_maker) maker;
    cbx_piece_maker_init(&maker, r->arena, r->file);
    uint32_t behind;
    skip_flag_lines(r, &at, &line);
    struct heredoc h = find_heredoc(r->file, at, line.end);
    struct cbx_filetype interpreter = { 0 };
    bool script = heredocs && h.word.len > 0 && h.start == at;
    if (script) {
        uint32_t rest = skip_blanks(r->file, h.behind, line.end);
        interpreter = interpreter_of(r, cbx_str_sub(r->file, rest, line.end));
        script = rest == line.end || interpreter.lang != NULL || interpreter.foreign.len > 0;
    }
    if (script) {
        struct line body;
        int failed = read_heredoc(r, &h, &body);
        if (failed) {
            return failed;
        }
        return take_script(r, body, interpreter);
    }
    bool array = at < line.end && r->file.p[at] == '[';
    if (array && take_words(r, continued(r, at, line, &behind), &maker)) {
        r->at = behind;
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
static int read_shell(struct reading *r, uint32_t at, struct line line)
{
    at = skip_blanks(r->file, at, line.end);
    struct cbx_str json = cbx_str_sub(r->file, at, line.end);
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
static int skip_instruction(struct reading *r, struct line line, bool heredocs)
{
    uint32_t start = line.start;
    CBX_AUTO_DONE(piece_maker) none;
    cbx_piece_maker_init(&none, r->arena, r->file);
    take_lines(r, start, line, &none);
    return heredocs ? take_heredocs(r, start, NULL) : 0;
}

/* --- instructions that change the image without code ------------------------------------------ */

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

static void read_workdir(struct reading *r, uint32_t at, struct line line)
{
    struct cbx_str word = plain_word(r->file, skip_blanks(r->file, at, line.end), line.end);
    r->folder =
        word.len > 0 ? cbx_places_resolve(r->arena, r->folder, word) : CBX_STR(UNKNOWN_FOLDER);
}

/* Reads the words of ADD in [at, end), as words or as an array. Returns their number; 0 if there are
 * more than fit, or one that the shell would read as something else. */
static size_t read_add_words(struct cbx_str file, uint32_t at, uint32_t end, struct line *words)
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
        uint32_t behind = array ? string_end(file, at, end) : end_of_word(file, at, end);
        struct line word = { at + array, behind };
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

static void put_quoted(struct cbx_piece_maker *maker, struct line word)
{
    cbx_piece_maker_put(maker, CBX_STR(" \""), word.start);
    cbx_piece_maker_take(maker, word.start, word.end);
    cbx_piece_maker_put(maker, CBX_STR("\""), word.end - 1);
}

/* Handles ADD https://HOST/FILE TARGET: it is the download that a command of the shell would be.
 * Docker itself compares a checksum that is given. */
static int read_add(struct reading *r, uint32_t at, struct line line)
{
    struct reading ahead = *r;
    struct line words[ADD_WORDS_MAX];
    uint32_t from = at, behind;
    CBX_AUTO_DONE(piece_maker) maker;
    cbx_piece_maker_init(&maker, r->arena, r->file);
    skip_flag_lines(&ahead, &at, &line);
    struct line text = continued(&ahead, at, line, &behind);
    struct cbx_str flags = cbx_str_sub(r->file, from, at);
    bool checked = flags.len > 0 && memmem(flags.p, flags.len, "--checksum", 10) != NULL;
    size_t count = checked ? 0 : read_add_words(r->file, text.start, text.end, words);
    for (size_t i = 0; i + 1 < count; i++) {
        struct cbx_str source = cbx_str_sub(r->file, words[i].start, words[i].end);
        struct line target = words[count - 1];
        bool folder = r->file.p[target.end - 1] == '/';
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
static int read_other(struct reading *r, struct cbx_str word, uint32_t at, struct line line)
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

/* --- the file --------------------------------------------------------------------------------- */

static int read_instruction(struct reading *r, uint32_t at, struct line line)
{
    static const char *const commands[] = { "RUN", "CMD", "ENTRYPOINT" };
    uint32_t behind = skip_word(r->file, at, line.end);
    struct cbx_str word = cbx_str_sub(r->file, at, behind);
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
        skip_flag_lines(r, &next, &line);
        struct heredoc h = find_heredoc(r->file, next, line.end);
        if (h.word.len > 0 || h.odd) {
            return fail_at(r, h.start, "a here-document of this instruction is not read");
        }
        if (next < line.end && continuation(r->file, line) != next) {
            return read_instruction(r, skip_blanks(r->file, next, line.end), line);
        }
        return fail_at(r, at, "an instruction without its command");
    }
    line.start = at;
    return read_other(r, word, behind, line);
}

/* Before anything else, `# escape=` chooses another character to continue lines. */
static int check_directives(struct reading *r)
{
    struct reading ahead = *r;
    while (ahead.at < ahead.file.len) {
        struct line line = next_line(&ahead);
        if (!is_comment(ahead.file, line)) {
            return 0;
        }
        uint32_t at = skip_blanks(ahead.file, line.start, line.end) + 1;
        at = skip_blanks(ahead.file, at, line.end);
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
        .file = text, .folder = CBX_STR("/"), .arena = arena, .out = out, .err = err
    };
    *out = (struct cbx_manifest){ .text = text, .image = true };
    int failed = check_directives(&r);
    while (!failed && r.at < text.len) {
        struct line line = next_line(&r);
        if (!is_blank(text, line) && !is_comment(text, line)) {
            failed = read_instruction(&r, skip_blanks(text, line.start, line.end), line);
        }
    }
    return failed;
}
