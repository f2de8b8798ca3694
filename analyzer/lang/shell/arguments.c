/* SPDX-License-Identifier: MIT
 * Arguments that make a command run code or write files. */
#include "analyzer/lang/shell/command.h"

struct pair {
    const char *word, *text;
};

static const struct pair hand_outs[] = {
#define CBX_HANDS_OUT(word, glob) { word, glob },
#include "analyzer/lang/shell/commands.def"
};
static const struct pair verbs[] = {
#define CBX_VERB(word, verb) { word, verb },
#include "analyzer/lang/shell/commands.def"
};
static const struct pair dumps[] = {
#define CBX_DUMPS(word, option) { word, option },
#include "analyzer/lang/shell/commands.def"
};
static const struct pair writers[] = {
#define CBX_WRITES(word, option) { word, option },
#include "analyzer/lang/shell/commands.def"
};

/* Returns the word with the value of an option: joined to it (-oX, --out=X), also in a cluster
 * (-uoX), or the next word; NULL if the word is not this option. */
static const struct cbx_word *option_value(const struct cbx_shell_command *c, size_t w,
                                           const char *option, struct cbx_str *value)
{
    struct cbx_str word = c->words[w].text, name = cbx_str_of(option);
    bool is_long = name.len > 2;
    if (!cbx_shell_is_option(&c->words[w]) || (word.p[1] == '-') != is_long) {
        return NULL;
    }
    const char *letter = memchr(word.p, is_long ? '=' : name.p[1], word.len);
    size_t used = letter == NULL ? word.len : (size_t)(letter - word.p) + !is_long;
    /* any beginning of the name of a long option is enough */
    if (is_long ? used < 3 || !cbx_str_starts(name, cbx_str_sub(word, 0, used)) : letter == NULL) {
        return NULL;
    }
    struct cbx_str rest = cbx_str_sub(word, used, word.len);
    if (rest.len == 0) {
        *value = w + 1 < c->count ? c->words[w + 1].text : rest;
        return w + 1 < c->count ? &c->words[w + 1] : NULL;
    }
    *value = cbx_str_sub(rest, is_long, rest.len);
    return &c->words[w];
}

static void check_writes(const struct cbx_shell_command *c, struct cbx_str name)
{
    for (size_t i = 0; i < CBX_SHELL_COUNT(writers); i++) {
        for (size_t w = 1; cbx_str_is(name, writers[i].word) && w < c->count; w++) {
            struct cbx_str value = c->words[w].text;
            const struct cbx_word *word = &c->words[w];
            if (writers[i].text[0] != '\0') {
                word = option_value(c, w, writers[i].text, &value);
            } else if (word->known && value.len > 0 && value.p[0] == '-') {
                continue;
            }
            if (word != NULL) {
                cbx_shell_check_target(c->s, value, word->known, true, word->start, word->end);
            }
        }
    }
}

/* Returns true for words that begin a listed verb of npm but are another verb (install: install-
 * test). */
static bool is_install(struct cbx_str word)
{
    static const char *const verbs_of_npm[] = { "ins",    "inst", "insta", "instal",   "install",
                                                "add",    "out",  "outd",  "outdated", "sea",
                                                "search", "doc",  "doctor" };
    for (size_t i = 0; i < CBX_SHELL_COUNT(verbs_of_npm); i++) {
        if (cbx_str_is(word, verbs_of_npm[i])) {
            return true;
        }
    }
    return false;
}

static bool is_verb(struct cbx_str name, const struct cbx_word *word)
{
    for (size_t i = 0; word->known && i < CBX_SHELL_COUNT(verbs); i++) {
        /* npm accepts the beginning of a verb */
        bool begins = cbx_str_is(name, "npm") && word->text.len >= 3 &&
                      cbx_str_starts(cbx_str_of(verbs[i].text), word->text) &&
                      !is_install(word->text);
        if ((begins || cbx_str_is(word->text, verbs[i].text)) && cbx_str_is(name, verbs[i].word)) {
            return true;
        }
    }
    return false;
}

static void check_verbs(const struct cbx_shell_command *c, struct cbx_str name)
{
    size_t w = 1;
    while (w < c->count && cbx_shell_is_option(&c->words[w])) {
        w++;
    }
    bool options = w > 1;
    for (size_t first = w; w < c->count && (w == first || options); w++) {
        if (is_verb(name, &c->words[w])) {
            cbx_shell_unresolved(c->s, "code", &c->words[w]);
        }
    }
}

static void check_hand_outs(const struct cbx_shell_command *c, struct cbx_str name)
{
    for (size_t i = 0; i < CBX_SHELL_COUNT(hand_outs); i++) {
        for (size_t w = 1; cbx_str_is(name, hand_outs[i].word) && w < c->count; w++) {
            if (c->words[w].known &&
                cbx_str_glob(cbx_str_of(hand_outs[i].text), c->words[w].text)) {
                cbx_shell_unresolved(c->s, "code", &c->words[w]);
            }
        }
    }
}

/* Adds a fact for export -p, declare -x, set: they print all variables with their values. */
static void check_dumps(const struct cbx_shell_command *c, struct cbx_str name)
{
    for (size_t i = 0; i < CBX_SHELL_COUNT(dumps); i++) {
        bool only = cbx_str_is(name, dumps[i].word) && (c->count > 1) == (dumps[i].text[0] != '\0');
        for (size_t w = 1; only && w < c->count; w++) {
            only = c->words[w].known && cbx_str_glob(cbx_str_of(dumps[i].text), c->words[w].text);
        }
        if (only) {
            cbx_shell_unresolved(c->s, "environment", &c->words[0]);
            return;
        }
    }
}

void cbx_shell_check_arguments(const struct cbx_shell_command *c, struct cbx_str name)
{
    check_verbs(c, name);
    check_dumps(c, name);
    check_hand_outs(c, name);
    check_writes(c, name);
}
