/* SPDX-License-Identifier: MIT
 * Determines the language of a file. */
#include "analyzer/filetype.h"

#include <ctype.h>
#include <string.h>

#define CBX_WORDS(...)                                                                             \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static const char *const launchers[] = {
#define CBX_LAUNCHER(name) name,
#include "analyzer/filetype.def"
};

static const struct interpreter {
    const char *name, *language;
} interpreters[] = {
#define CBX_INTERPRETER(name, language) { name, language },
#include "analyzer/filetype.def"
};

static const struct foreign {
    const char *display;
    const char *const *programs, *const *names;
} foreigns[] = {
#define CBX_FOREIGN(display, programs, names) { display, programs, names },
#include "analyzer/filetype.def"
};

static const struct magic {
    struct cbx_str bytes;
    const char *display;
} magics[] = {
#define CBX_MAGIC(bytes, display) { { bytes, sizeof(bytes) - 1 }, display },
#include "analyzer/filetype.def"
};

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static struct cbx_filetype foreign_type(const char *display)
{
    return (struct cbx_filetype){ .foreign = cbx_str_of(display) };
}

static bool is_code(const struct cbx_filetype *type)
{
    return type->lang != NULL || type->foreign.len > 0;
}

/* --- names ------------------------------------------------------------------------------------ */

static struct cbx_filetype find_name(const char *name)
{
    struct cbx_filetype type = { .lang = cbx_lang_of_file(name) };
    for (size_t i = 0; i < COUNT(foreigns) && !is_code(&type); i++) {
        for (const char *const *glob = foreigns[i].names; *glob != NULL; glob++) {
            if (cbx_str_glob(cbx_str_of(*glob), cbx_str_of(name))) {
                type = foreign_type(foreigns[i].display);
            }
        }
    }
    return type;
}

struct cbx_filetype cbx_filetype_of_name(struct cbx_str path)
{
    enum { NAME_BYTES = 255 }; /* NAME_MAX of Linux; of a longer name the end counts */
    char name[NAME_BYTES + 1];
    const char *slash = path.len > 0 ? memrchr(path.p, '/', path.len) : NULL;
    size_t from = slash != NULL ? (size_t)(slash - path.p) + 1 : 0;
    from = path.len - from > NAME_BYTES ? path.len - NAME_BYTES : from;
    size_t len = path.len - from;
    memcpy(name, cbx_str_bytes(path) + from, len);
    name[len] = '\0';
    struct cbx_filetype type = find_name(name);
    if (is_code(&type)) {
        return type;
    }
    for (size_t i = 0; i < len; i++) {
        name[i] = (char)tolower((unsigned char)name[i]);
    }
    return find_name(name);
}

/* --- words ------------------------------------------------------------------------------------ */

static bool is_word(const char *text, struct cbx_str word)
{
    size_t i = 0;
    while (text[i] != '\0' && i < word.len && tolower((unsigned char)text[i]) == word.p[i]) {
        i++;
    }
    return i == word.len && text[i] == '\0';
}

/* A language: its name, an interpreter, or an ending of its files. */
static bool is_called(const struct foreign *foreign, struct cbx_str word)
{
    bool found = is_word(foreign->display, word);
    for (const char *const *name = foreign->programs; *name != NULL; name++) {
        found |= is_word(*name, word);
    }
    for (const char *const *glob = foreign->names; *glob != NULL; glob++) {
        found |= cbx_str_starts(cbx_str_of(*glob), CBX_STR("*.")) && is_word(*glob + 2, word);
    }
    return found;
}

struct cbx_filetype cbx_filetype_of_word(struct cbx_str word)
{
    struct cbx_filetype type = { .lang = cbx_lang_find(word) };
    for (size_t i = 0; i < COUNT(interpreters) && type.lang == NULL; i++) {
        if (cbx_str_is(word, interpreters[i].name)) {
            type.lang = cbx_lang_find(cbx_str_of(interpreters[i].language));
        }
    }
    for (size_t i = 0; i < COUNT(foreigns) && type.lang == NULL && type.foreign.len == 0; i++) {
        if (is_called(&foreigns[i], word)) {
            type = foreign_type(foreigns[i].display);
        }
    }
    return type;
}

/* --- first lines ------------------------------------------------------------------------------ */

/* Takes the next word; empty at the end of the line. */
static struct cbx_str take_word(struct cbx_str *line)
{
    size_t from = 0;
    while (from < line->len && (line->p[from] == ' ' || line->p[from] == '\t')) {
        from++;
    }
    size_t to = from;
    while (to < line->len && line->p[to] != ' ' && line->p[to] != '\t') {
        to++;
    }
    struct cbx_str word = cbx_str_sub(*line, from, to);
    *line = cbx_str_sub(*line, to, line->len);
    return word;
}

/* Returns the program's name: without folders and without a version. */
static struct cbx_str program_of(struct cbx_str word)
{
    const char *slash = word.len > 0 ? memrchr(word.p, '/', word.len) : NULL;
    size_t from = slash != NULL ? (size_t)(slash - word.p) + 1 : 0;
    struct cbx_str name = cbx_str_sub(word, from, word.len), bare = name;
    while (bare.len > 0 && (isdigit((unsigned char)bare.p[bare.len - 1]) ||
                            strchr(".-", bare.p[bare.len - 1]) != NULL)) {
        bare.len--;
    }
    return bare.len > 0 ? bare : name;
}

static bool is_launcher(struct cbx_str program)
{
    for (size_t i = 0; i < COUNT(launchers); i++) {
        if (cbx_str_is(program, launchers[i])) {
            return true;
        }
    }
    return false;
}

/* Returns the program that a launcher starts: the first word that is neither an option, nor the
 * value of one, nor a variable. env -S splits the rest of its word; take_word splits it anyway. */
static struct cbx_str launched(struct cbx_str *rest)
{
    for (;;) {
        struct cbx_str word = take_word(rest);
        if (cbx_str_starts(word, CBX_STR("-S")) && word.len > 2) {
            word = cbx_str_sub(word, 2, word.len);
        } else if (cbx_str_starts(word, CBX_STR("--split-string="))) {
            word = cbx_str_sub(word, sizeof("--split-string=") - 1, word.len);
        }
        if (cbx_str_is(word, "-u") || cbx_str_is(word, "-C")) {
            take_word(rest);
        } else if (word.len == 0 || (word.p[0] != '-' && memchr(word.p, '=', word.len) == NULL)) {
            return word;
        }
    }
}

static bool has_program(const struct foreign *foreign, struct cbx_str program)
{
    for (const char *const *name = foreign->programs; *name != NULL; name++) {
        if (cbx_str_is(program, *name)) {
            return true;
        }
    }
    return false;
}

static struct cbx_filetype find_program(struct cbx_str program)
{
    for (size_t i = 0; i < COUNT(interpreters); i++) {
        if (cbx_str_is(program, interpreters[i].name)) {
            return (struct cbx_filetype){ .lang =
                                              cbx_lang_find(cbx_str_of(interpreters[i].language)) };
        }
    }
    for (size_t i = 0; i < COUNT(foreigns); i++) {
        if (has_program(&foreigns[i], program)) {
            return foreign_type(foreigns[i].display);
        }
    }
    return (struct cbx_filetype){ .foreign = program.len > 0 ? program : CBX_STR("#!") };
}

static struct cbx_str first_line(struct cbx_str head)
{
    size_t n = 0;
    while (n < head.len && head.p[n] != '\n' && head.p[n] != '\r' && head.p[n] != '\0') {
        n++;
    }
    return cbx_str_sub(head, 0, n);
}

struct cbx_filetype cbx_filetype_of_head(struct cbx_str head)
{
    head = cbx_str_sub(head, 0, CBX_FILETYPE_HEAD_BYTES);
    for (size_t i = 0; i < COUNT(magics); i++) {
        if (cbx_str_starts(head, magics[i].bytes) && cbx_filetype_is_binary(head)) {
            return foreign_type(magics[i].display);
        }
    }
    if (!cbx_str_starts(head, CBX_STR("#!"))) {
        return (struct cbx_filetype){ 0 };
    }
    struct cbx_str rest = first_line(cbx_str_sub(head, 2, head.len));
    struct cbx_str program = program_of(take_word(&rest));
    while (is_launcher(program)) {
        program = program_of(launched(&rest));
    }
    return find_program(program);
}

bool cbx_filetype_is_binary(struct cbx_str head)
{
    return head.len > 0 && memchr(head.p, '\0', head.len) != NULL;
}
